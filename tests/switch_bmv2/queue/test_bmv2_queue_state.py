# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The queue state on BMv2, whose queues count packets and drop by themselves: no byte is left in it or taken twice."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from softswitch.stf.program import ProgramNames
from softswitch.stf.runner import run
from softswitch.stf.statements import parse
from testbed.targets.bmv2.slots import slot_commands
from tests.softswitch.stf.bmv2 import Bmv2Target, missing
from tests.softswitch.stf.vectors import SFC
from topologies.shapes import shape
from wire.counters import QueueEvent
from wire.dilation import Dilation

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

ROUTE = """
add ipv4_lpm dst_addr:0x0a000200/24 next_hop(port:2, src_addr:0x020000000a02, dst_addr:0x020000000002)
add dscp_to_class dscp:26 set_class(traffic_class:3)
"""
FRAME = bytes.fromhex(
    "020000000101020000000201080045680028000700004011634d0a0001050a000205c001138900140000000102030405060708090a0b"
)
BURST = 200
"""More than the 64 packets that a BMv2 queue holds unless told otherwise."""
PATIENCE_S = 20.0


@pytest.fixture
def switch() -> Iterator[Bmv2Target]:
    """A switch as the testbed sets it up, whose queue for FRAME serves 100 packets a second."""
    with Bmv2Target(SFC) as target:
        run(parse(ROUTE), ProgramNames.load(SFC), target)
        topology = shape("star", {"hosts": 2}).build()
        target.command(slot_commands(topology, "s1", 1000, Dilation(1000))[0])
        target.command("set_queue_rate 100 2 3")
        yield target


def _held(switch: Bmv2Target) -> list[int]:
    cells = ("queue_bytes 19", "port_bytes 2", "buffer_bytes 0")
    return [int(switch.command(f"register_read {cell}").rpartition("=")[2]) for cell in cells]


def _drain(switch: Bmv2Target, seen: int, sent: int = BURST) -> int:
    """Waits for the rest of what was sent; how many packets of it came out."""
    deadline = time.monotonic() + PATIENCE_S
    while seen < sent and time.monotonic() < deadline:
        time.sleep(0.05)
        seen += len(switch.put(1, []))
    return seen


def test_a_deep_queue_loses_nothing_and_leaves_no_bytes_behind(switch: Bmv2Target) -> None:
    """BMv2 holds what the P4 program lets in: the state counts all of it, and ends at 0."""
    seen = len(switch.put(1, [FRAME] * BURST))
    assert _held(switch)[0] > 64 * len(FRAME)
    assert _drain(switch, seen) == BURST
    assert _held(switch) == [0, 0, 0]


def test_a_reset_under_queued_packets_leaves_no_ghost_bytes(switch: Bmv2Target) -> None:
    """Each packet that the state has forgotten is counted as it leaves, and takes nothing below 0."""
    seen = len(switch.put(1, [FRAME] * BURST))
    for register in ("queue_bytes", "port_bytes", "buffer_bytes"):
        switch.command(f"register_reset {register}")
    assert _drain(switch, seen) == BURST
    assert _held(switch) == [0, 0, 0]
    assert "packets=0" not in switch.command(f"counter_read queue_events {int(QueueEvent.QUEUE_UNDERFLOW)}")
    assert _drain(switch, len(switch.put(1, [FRAME])), 1) == 1
