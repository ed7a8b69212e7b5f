# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of exact transmission times on the virtual clock."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softswitch.engine import SwitchEngine
from tests.softswitch.programs import steered
from tests.softswitch.programs.steered import Op, report, steer, steer_small

NS_PER_S = 1_000_000_000


@pytest.mark.parametrize("rate_bps", [10_000_000, 100_000_000, 99_999_989, 7_000_000_003])
def test_back_to_back_mix_never_drifts(engine: SwitchEngine, rate_bps: int) -> None:
    """The n-th end is the sum of all bits divided by the rate, rounded once, for both classes and all sizes."""
    engine.command(f"port_rate 1 {rate_bps}")
    sizes = [64 + (i * 389) % 1437 for i in range(2_000)]
    for i, size in enumerate(sizes):
        engine.receive(0, steer_small(1, size, class_=7 * (i % 2)), 0)
    out = engine.advance(10 * NS_PER_S)
    assert len(out) == len(sizes)
    bits = 0
    for _, due_ns, frame in out:
        bits += 8 * len(frame)
        assert due_ns == bits * NS_PER_S // rate_bps


def test_packet_starts_at_arrival_when_the_wire_is_idle(engine: SwitchEngine) -> None:
    """Later packets do not use idle time of the past."""
    engine.command("port_rate 1 8000000000")
    engine.command("port_delay 1 5000")
    assert [d for _, d, _ in engine.step(0, steer_small(1, 100), 1_000)] == [1_000 + 100 + 5_000]
    assert [d for _, d, _ in engine.step(0, steer_small(1, 100), 9_000)] == [9_000 + 100 + 5_000]


def test_departure_is_known_when_the_packet_starts(engine: SwitchEngine) -> None:
    """The due time is in the future: the second departure appears when the first packet has ended."""
    engine.command("port_rate 1 8000000000")
    for _ in range(2):
        engine.receive(0, steer_small(1, 1000), 0)
    assert [d for _, d, _ in engine.advance(0)] == [1_000]
    assert engine.next_timer_ns() == 1_000
    assert engine.advance(999) == []
    assert [d for _, d, _ in engine.advance(1_000)] == [2_000]


def test_higher_class_goes_first_but_does_not_preempt(engine: SwitchEngine) -> None:
    """Strict priority at each start; the packet on the wire is finished."""
    engine.command("port_rate 1 8000000000")
    for class_, tag in ((0, 1), (0, 2), (3, 3), (7, 4)):
        engine.receive(0, steer(1, 1000, class_=class_, tag=tag), 0)
    assert [(frame[-1], due) for _, due, frame in engine.advance(10_000)] == [
        (1, 1_000),
        (4, 2_000),
        (3, 3_000),
        (2, 4_000),
    ]


def test_wire_end_comes_before_an_arrival_of_the_same_instant(engine: SwitchEngine) -> None:
    """A waiting packet starts before a frame that arrives at the same time is queued, as documented."""
    engine.command("port_rate 1 8000000000")
    engine.receive(0, steer(1, 1000, tag=1), 0)
    engine.receive(0, steer(1, 1000, tag=2), 0)
    engine.receive(0, steer(1, 1000, class_=7, tag=3), 1_000)
    assert [frame[-1] for _, _, frame in engine.advance(10_000)] == [1, 2, 3]


def test_ingress_delay_orders_by_time_then_by_arrival(engine: SwitchEngine) -> None:
    """A frame enters ingress one ingress delay after it was received."""
    engine.command("port_ingress_delay 4 500")
    engine.receive(4, steer(1, tag=1), 0)
    engine.receive(5, steer(1, tag=2), 500)
    engine.receive(5, steer(1, tag=3), 499)
    out = engine.advance(500)
    assert [(frame[-1], due) for _, due, frame in out] == [(3, 499), (1, 500), (2, 500)]


def test_unlimited_port_takes_no_time(engine: SwitchEngine) -> None:
    for _ in range(5):
        engine.receive(0, steer_small(1, 1500), 7)
    assert [due for _, due, _ in engine.advance(7)] == [7] * 5


def test_packet_dropped_in_egress_takes_no_wire_time(engine: SwitchEngine) -> None:
    """The next packet starts at the same time instead."""
    engine.command("port_rate 1 8000000000")
    engine.receive(0, steer(1, 1000, ops=Op.DROP_EGRESS), 0)
    engine.receive(0, steer(1, 1000), 0)
    assert [due for _, due, _ in engine.advance(0)] == [1_000]


def test_queue_depths_count_packets_of_the_class(engine: SwitchEngine) -> None:
    """enq_qdepth: packets before it; deq_qdepth: packets behind it; deq_timedelta: waiting time in microseconds."""
    engine.command("port_rate 1 8000000")
    for class_ in (0, 0, 0, 5):
        engine.receive(0, steer(1, 1000, class_=class_), 0)
    seen = [report(frame) for _, _, frame in engine.advance(NS_PER_S)]
    assert [(r.qid, r.enq_qdepth, r.deq_qdepth, r.deq_timedelta) for r in seen] == [
        (0, 0, 0, 0),
        (5, 0, 0, 1_000),
        (0, 0, 1, 2_000),
        (0, 1, 0, 3_000),
    ]


def test_rate_changes_for_the_next_packet(engine: SwitchEngine) -> None:
    engine.command("port_rate 1 8000000000")
    engine.receive(0, steer_small(1, 1000), 0)
    engine.receive(0, steer_small(1, 1000), 0)
    engine.advance(0)
    engine.command("port_rate 1 800000000")
    assert [due for _, due, _ in engine.advance(NS_PER_S)] == [11_000]


@settings(max_examples=30, deadline=None)
@given(
    rate_bps=st.integers(1_000_000, 400_000_000_000),
    packets=st.lists(st.tuples(st.integers(0, 5_000), st.integers(14, 1500), st.integers(0, 7)), max_size=60),
)
def test_classes_together_never_exceed_the_rate(rate_bps: int, packets: list[tuple[int, int, int]]) -> None:
    """The time between two ends is at least the transmission time of the later packet."""
    with SwitchEngine(steered.library()) as engine:
        engine.command(f"port_rate 1 {rate_bps}")
        for gap_ns, size, class_ in sorted(packets):
            engine.receive(0, steer_small(1, size, class_=class_), gap_ns)
        out = engine.advance(60 * NS_PER_S)
    assert len(out) == len(packets)
    for (_, before_ns, _), (_, due_ns, frame) in pairwise(out):
        assert (due_ns - before_ns + 1) * rate_bps > 8 * len(frame) * NS_PER_S
