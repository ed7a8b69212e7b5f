# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""BMv2's links: a wire cut into slots of one packet each, since BMv2 counts packets and not bytes.

Every priority queue of a port has its own slots. One of data is as long as a full data packet takes on the wire; ACKs
and BTS, which have sizes of their own and queues of their own, have shorter ones.
"""

from __future__ import annotations

from topologies.model import Topology
from wire.constants import BTS_FRAME_BYTES, CLASS_BTS, CLASS_CONTROL, CLASS_COUNT
from wire.dilation import Dilation
from wire.roce.packets import ACK_FRAME_BYTES, data_frame_bytes

_LEAST_FRAME_BYTES = 34
LEAST_QUEUE_PACKETS = (1 << 32) // _LEAST_FRAME_BYTES + 1
"""A queue this deep never drops: before it is full, the bytes that the P4 program counts into it (32 bits) are the
whole buffer, whatever its size, and the program itself drops. It could not know of a drop after it has counted."""
_UNBOUNDED_PACKETS = 1_000_000_000
"""Depth of every queue: what may wait, the P4 program decides."""


def slot_bytes(traffic_class: int, payload_bytes: int) -> int:
    """The frame that a slot of a class is as long as."""
    sizes = {CLASS_CONTROL: ACK_FRAME_BYTES, CLASS_BTS: BTS_FRAME_BYTES}
    return sizes.get(traffic_class, data_frame_bytes(payload_bytes, is_last=False))


def slot_rate(wall_bps: int, frame_bytes: int) -> int:
    """Slots per second, a whole number as BMv2 wants it; at least one."""
    bits = 8 * frame_bytes
    return max(1, (wall_bps + bits // 2) // bits)


def slot_commands(topology: Topology, switch: str, payload_bytes: int, dilation: Dilation) -> list[str]:
    """Queue depths and rates of all ports of a switch."""
    lines = [f"set_queue_depth {_UNBOUNDED_PACKETS}"]
    for port in topology.ports[switch]:
        lines += port_slots(port.number, dilation.wall_bps(port.rate_bps), payload_bytes)
    return lines


def port_slots(port: int, wall_bps: int, payload_bytes: int) -> list[str]:
    """The rates of one port's queues."""
    return [
        f"set_queue_rate {slot_rate(wall_bps, slot_bytes(traffic_class, payload_bytes))} {port} {traffic_class}"
        for traffic_class in range(CLASS_COUNT)
    ]


def worst_rate_error(topology: Topology, payload_bytes: int, dilation: Dilation) -> float:
    """By which share the rate of some link's data slots differs from the link's, since rates are whole numbers."""
    frame_bytes = data_frame_bytes(payload_bytes, is_last=False)
    errors = []
    for rate_bps in {link.rate_bps for link in topology.links}:
        exact = rate_bps / dilation.factor / (8 * frame_bytes)
        errors.append(abs(slot_rate(dilation.wall_bps(rate_bps), frame_bytes) / exact - 1))
    return max(errors)
