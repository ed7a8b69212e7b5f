# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Who is woken next, where everyone stands once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hosts.transport.loss_recovery.base import NEVER
from hosts.transport.scheduling.timers import Timers, Wakeable

_STEPS = st.lists(st.one_of(st.none(), st.tuples(st.integers(0, 8), st.integers(0, 9))), max_size=80)
"""Who is to be woken when; None takes the first."""


@given(_STEPS)
def test_the_earliest_goes_first_and_equals_as_they_were_set(steps: list[tuple[int, int] | None]) -> None:
    """Whatever was set anew meanwhile, earlier or later; the last time counts."""
    timers = Timers()
    targets = [Wakeable() for _ in range(9)]
    expected: dict[int, tuple[int, int]] = {}
    for step, each in enumerate(steps):
        if each is not None:
            number, time_ns = each
            timers.set(time_ns, targets[number])
            expected[number] = time_ns, step
        elif expected:
            number = min(expected, key=lambda waiting: expected[waiting])
            assert timers.first() is targets[number]
            assert timers.take() is targets[number]
            del expected[number]
        assert timers.count == len(expected)
        assert timers.first_ns == (min(expected.values())[0] if expected else NEVER)


def test_who_is_paced_a_thousand_times_stands_there_once() -> None:
    """A timeout far off, and a pace that is set again and again: nothing of it stays behind."""
    timers, target, other = Timers(), Wakeable(), Wakeable()
    timers.set(500_000, other)
    for now_ns in range(1000):
        timers.set(1_000_000 + now_ns, target)
        timers.set(now_ns, target)
        assert timers.take() is target
        timers.set(1_000_000 + now_ns, target)
    assert timers.count == 2
    assert [timers.take(), timers.take()] == [other, target]
