# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the queue state on BMv2: after all packets have left, no byte remains and none was subtracted twice.

BMv2's own queues count packets and drop them without informing the program.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from sfc_testbed.testbed.targets.bmv2.slots import slot_commands
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.counters import QueueEvent
from sfc_testbed.wire.dilation import Dilation
from softswitch.stf.program import ProgramNames
from softswitch.stf.runner import run
from softswitch.stf.statements import parse
from tests.softswitch.stf.bmv2 import needs_bmv2
from tests.softswitch.stf.vectors import SFC
from tools.bmv2_target import Bmv2Target

pytestmark = needs_bmv2

ROUTE = """
add ipv4_lpm dst_addr:0x0a000200/24 next_hop(port:2, src_addr:0x020000000a02, dst_addr:0x020000000002)
add dscp_to_class dscp:26 set_class(traffic_class:3)
"""
FRAME = bytes.fromhex(
    "020000000101020000000201080045680028000700004011634d0a0001050a000205c001138900140000000102030405060708090a0b"
)
BURST = 200
"""Packets of a burst: more than the 64 that a BMv2 queue holds by default."""
PATIENCE_S = 20.0


@pytest.fixture
def switch() -> Iterator[Bmv2Target]:
    """Provide a switch with the testbed's settings, whose queue for FRAME sends 100 packets per second."""
    with Bmv2Target(SFC) as target:
        run(parse(ROUTE), ProgramNames.load(SFC), target)
        topology = shape("star", {"hosts": 2}).build()
        target.command(slot_commands(topology, "s1", 1000, Dilation(1000))[0])
        target.command("set_queue_rate 100 2 3")
        yield target


def _queue_state(switch: Bmv2Target) -> list[int]:
    cells = ("queue_bytes 19", "port_bytes 2", "buffer_bytes 0")
    return [int(switch.command(f"register_read {cell}").rpartition("=")[2]) for cell in cells]


def _drain(switch: Bmv2Target, received: int, sent: int = BURST) -> int:
    """Wait for the rest of the sent packets and return how many of them were received."""
    deadline = time.monotonic() + PATIENCE_S
    while received < sent and time.monotonic() < deadline:
        time.sleep(0.05)
        received += len(switch.put(1, []))
    return received


def test_a_deep_queue_loses_nothing_and_leaves_no_bytes_behind(switch: Bmv2Target) -> None:
    """BMv2 keeps all packets that the P4 program admits. The state counts them and ends at 0."""
    received = len(switch.put(1, [FRAME] * BURST))
    assert _queue_state(switch)[0] > 64 * len(FRAME)
    assert _drain(switch, received) == BURST
    assert _queue_state(switch) == [0, 0, 0]


def test_a_reset_under_queued_packets_leaves_no_ghost_bytes(switch: Bmv2Target) -> None:
    """A packet that the state no longer contains is counted when it leaves, and the state does not fall below 0."""
    received = len(switch.put(1, [FRAME] * BURST))
    for register in ("queue_bytes", "port_bytes", "buffer_bytes"):
        switch.command(f"register_reset {register}")
    assert _drain(switch, received) == BURST
    assert _queue_state(switch) == [0, 0, 0]
    assert "packets=0" not in switch.command(f"counter_read queue_events {int(QueueEvent.QUEUE_UNDERFLOW)}")
    assert _drain(switch, len(switch.put(1, [FRAME])), 1) == 1
