# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the order of arrivals, and of transmission times that the model in test_telemetry does not cover."""

from hypothesis import given, settings
from hypothesis import strategies as st

from softswitch.engine import SwitchEngine
from softswitch_tests.programs.steered import Op, library, report, steer, steer_small

NS_PER_S = 1_000_000_000


def test_packet_dropped_in_egress_takes_no_wire_time(engine: SwitchEngine) -> None:
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


ROUNDS = st.lists(
    st.lists(st.tuples(st.integers(0, 50), st.sampled_from([0, 2, 9])), max_size=400), min_size=1, max_size=4
)
"""Rounds of frames, each frame as (time offset in ns, port)."""


@settings(max_examples=40, deadline=None)
@given(ROUNDS)
def test_arrivals_are_sorted_by_time_then_port_then_reception(rounds: list[list[tuple[int, int]]]) -> None:
    """Part of each round runs before the next is handed over, so that waiting frames are both sorted and unsorted."""
    with SwitchEngine(library()) as engine:
        waiting: list[tuple[int, int, int]] = []
        count = 0
        for number, frames in enumerate(rounds):
            for offset, port in frames:
                tag = count % 256
                count += 1
                engine.receive(port, steer(1, tag=tag), 100 * number + offset)
                waiting.append((100 * number + offset, port, tag))
            until_ns = 100 * number + 25
            waiting.sort(key=lambda frame: frame[:2])
            due = [(at, tag) for at, _, tag in waiting if at <= until_ns]
            waiting = waiting[len(due) :]
            assert [(at, frame[-1]) for _, at, frame in engine.advance(until_ns)] == due
        assert [(at, frame[-1]) for _, at, frame in engine.advance(10_000)] == [(at, tag) for at, _, tag in waiting]
