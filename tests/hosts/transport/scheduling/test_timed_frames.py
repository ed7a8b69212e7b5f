# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the queue of frames ordered by time, and of the ring buffer."""

from hypothesis import given
from hypothesis import strategies as st

from hosts.transport.loss_recovery.base import NEVER
from hosts.transport.scheduling.timed_frames import TimedFrames
from hosts.transport.scheduling.wire_schedule import Fifo

_STEPS = st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=60)
"""Steps of a test: a number adds a frame with that time, None takes the first frame."""


@given(_STEPS)
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


@given(_STEPS)
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
