# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Link rates of BMv2 in slots of one packet each, because BMv2 limits queues by packets and not by bytes.

Every priority queue of a port has a slot rate. A data slot lasts as long as a full data packet takes on the link. ACKs
and BTS have separate queues with shorter slots for their frame sizes.
"""

from __future__ import annotations

from sfc_testbed.topologies.model import Topology
from sfc_testbed.wire.constants import BTS_FRAME_BYTES, CLASS_BTS, CLASS_CONTROL, CLASS_COUNT
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.roce.packets import ACK_FRAME_BYTES, data_frame_bytes

_LEAST_FRAME_BYTES = 34
LEAST_QUEUE_PACKETS = (1 << 32) // _LEAST_FRAME_BYTES + 1
"""The smallest queue depth, in packets, at which BMv2 never drops.

The P4 program counts queued bytes in 32 bits and drops frames itself when the buffer is full. A queue of this depth
cannot fill earlier, whatever the buffer's size. The program would not notice a drop by BMv2, because it has counted the
frame before."""
_UNBOUNDED_PACKETS = 1_000_000_000
"""Depth of every queue. The P4 program alone limits the queues."""


def slot_bytes(traffic_class: int, payload_bytes: int) -> int:
    """Return the frame length that the slots of a traffic class are made for."""
    sizes = {CLASS_CONTROL: ACK_FRAME_BYTES, CLASS_BTS: BTS_FRAME_BYTES}
    return sizes.get(traffic_class, data_frame_bytes(payload_bytes, is_last=False))


def slot_rate(wall_bps: int, frame_bytes: int) -> int:
    """Return the slots per second, rounded to a whole number as BMv2 requires, and at least 1."""
    bits = 8 * frame_bytes
    return max(1, (wall_bps + bits // 2) // bits)


def slot_commands(topology: Topology, switch: str, payload_bytes: int, dilation: Dilation) -> list[str]:
    """Return the commands that set queue depths and rates of all ports of a switch."""
    lines = [f"set_queue_depth {_UNBOUNDED_PACKETS}"]
    for port in topology.ports[switch]:
        lines += port_slots(port.number, dilation.wall_bps(port.rate_bps), payload_bytes)
    return lines


def port_slots(port: int, wall_bps: int, payload_bytes: int) -> list[str]:
    """Return the commands that set the rates of one port's queues."""
    return [
        f"set_queue_rate {slot_rate(wall_bps, slot_bytes(traffic_class, payload_bytes))} {port} {traffic_class}"
        for traffic_class in range(CLASS_COUNT)
    ]


def worst_rate_error(topology: Topology, payload_bytes: int, dilation: Dilation) -> float:
    """Return the largest relative error of a link's data slot rate, caused by rounding to whole packets per second."""
    frame_bytes = data_frame_bytes(payload_bytes, is_last=False)
    errors = []
    for rate_bps in {link.rate_bps for link in topology.links}:
        exact = rate_bps / dilation.factor / (8 * frame_bytes)
        errors.append(abs(slot_rate(dilation.wall_bps(rate_bps), frame_bytes) / exact - 1))
    return max(errors)
