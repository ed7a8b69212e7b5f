# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the timer heap, in which every target has at most one entry, and of the queues of frames."""

from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.hosts.transport.scheduling.timed_frames import TimedFrames
from sfc_testbed.hosts.transport.scheduling.timers import Timers, Wakeable
from sfc_testbed.hosts.transport.scheduling.wire_schedule import Fifo

_STEPS = st.lists(st.one_of(st.none(), st.tuples(st.integers(0, 8), st.integers(0, 9))), max_size=80)
"""Steps of a test: (target, time) sets a timer, None takes the first timer."""


@given(_STEPS)
def test_timers_are_taken_by_time_and_then_by_order_of_setting(steps: list[tuple[int, int] | None]) -> None:
    """Setting a timer again replaces its time."""
    timers = Timers()
    targets = [Wakeable() for _ in range(9)]
    expected: dict[int, tuple[int, int]] = {}
    for step, timer in enumerate(steps):
        if timer is not None:
            number, time_ns = timer
            timers.set(time_ns, targets[number])
            expected[number] = time_ns, step
        elif expected:
            number = min(expected, key=lambda target_number: expected[target_number])
            assert timers.first() is targets[number]
            assert timers.take() is targets[number]
            del expected[number]
        assert timers.count == len(expected)
        assert timers.first_ns == (min(expected.values())[0] if expected else NEVER)


def test_a_released_target_is_not_kept_but_its_time_is() -> None:
    timers, target, other = Timers(), Wakeable(), Wakeable()
    timers.set(5, target)
    timers.set(7, other)
    timers.release(target)
    assert timers.first_ns == 5
    assert timers.take() is not target
    assert timers.take() is other
    timers.set(9, target)
    assert timers.take() is target


_ITEMS = st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=60)
"""Steps of a test: a number adds a frame with that time, None takes the first frame."""


@given(_ITEMS)
def test_frames_are_taken_by_time_and_then_by_order_of_addition(steps: list[int | None]) -> None:
    frames = TimedFrames()
    expected: list[tuple[int, bytes]] = []
    for number, time_ns in enumerate(steps):
        if time_ns is not None:
            frames.add(time_ns, b"%d" % number)
            expected.append((time_ns, b"%d" % number))
            expected.sort(key=lambda item: item[0])
        elif expected:
            assert frames.take() == expected.pop(0)[1]
        assert frames.count == len(expected)
        assert frames.first_ns == (expected[0][0] if expected else NEVER)


@given(_ITEMS)
def test_items_are_taken_in_order_of_addition(steps: list[int | None]) -> None:
    queue: Fifo[int] = Fifo()
    expected: list[int] = []
    for item in steps:
        if item is not None:
            queue.append(item)
            expected.append(item)
        elif expected:
            assert queue.first() == expected[0]
            assert queue.take() == expected.pop(0)
        assert queue.count == len(expected)
