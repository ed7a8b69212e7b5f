# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that frames enter ingress in order of time, then of port, in whatever order they are handed over."""

from hypothesis import given, settings
from hypothesis import strategies as st

from softswitch.engine import SwitchEngine
from tests.softswitch.programs.steered import library, steer

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
