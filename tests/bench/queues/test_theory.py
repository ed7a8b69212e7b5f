# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the fluid queue with cases that were calculated by hand: 1 Mb/s and frames of 1,000 B are 125 packets/s."""

from __future__ import annotations

import pytest

from bench.queues.theory import Load, fluid_queue

RATE_BPS = 1_000_000
BUFFER = 64
OVERLOAD = fluid_queue(Load("1.5", (1_000,), offered_share=1.5, duration_s=3.0), RATE_BPS, BUFFER)
"""187.5 packets/s for 3 s: the queue grows by 62.5 packets/s."""
BURST = fluid_queue(Load("burst", (1_000,), burst_frames=50), RATE_BPS, BUFFER)


@pytest.mark.parametrize(
    ("time_s", "depth"),
    [(0.0, 0.0), (0.16, 10.0), (1.024, 64.0), (2.9, 64.0), (3.0, 64.0), (3.256, 32.0), (3.512, 0.0), (9.0, 0.0)],
)
def test_overloaded_queue_grows_to_the_buffer_and_drains(time_s: float, depth: float) -> None:
    assert OVERLOAD.depth(time_s) == pytest.approx(depth)


def test_overloaded_queue_loses_what_exceeds_the_rate_once_it_is_full() -> None:
    assert OVERLOAD.full_s == pytest.approx(1.024)
    assert OVERLOAD.lost == pytest.approx(62.5 * (3 - 1.024))
    assert OVERLOAD.empty_s == pytest.approx(3.512)
    assert OVERLOAD.peak_behind == 63
    assert [OVERLOAD.leaving_pps(time_s) for time_s in (1.0, 3.4, 3.6)] == [125.0, 125.0, 0.0]


def test_marks_begin_at_the_threshold_and_count_only_packets_that_are_not_lost() -> None:
    assert OVERLOAD.first_time_of(10) == pytest.approx(0.16)
    assert OVERLOAD.marked(10) == pytest.approx(187.5 * 2.84 - 123.5)
    assert OVERLOAD.first_time_of(65) is None
    assert OVERLOAD.marked(65) == 0


def test_burst_waits_except_for_the_packet_on_the_wire() -> None:
    assert [BURST.depth(time_s) for time_s in (0.0, 0.008, 0.392)] == pytest.approx([49, 48, 0])
    assert (BURST.peak_behind, BURST.lost, BURST.marked(10)) == (48, 0, 39)
    assert BURST.first_time_of(10) == 0
    assert BURST.leaving_pps(0.1) == 125


def test_long_burst_loses_what_the_buffer_cannot_hold() -> None:
    queue = fluid_queue(Load("burst", (1_000,), burst_frames=100), RATE_BPS, BUFFER)
    assert (queue.depth(0.0), queue.lost, queue.peak_behind) == (64, 35, 63)


@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
def test_queue_stays_empty_up_to_the_rate(share: float) -> None:
    queue = fluid_queue(Load("", (1_000, 200), offered_share=share, duration_s=3.0), RATE_BPS, BUFFER)
    assert (queue.depth(2.0), queue.lost, queue.first_time_of(10), queue.empty_s) == (0, 0, None, 3.0)
    assert queue.leaving_pps(2.0) == pytest.approx(share * RATE_BPS / 4_800)


def test_schedule_spaces_frames_by_their_bits() -> None:
    """A frame of 1,000 B takes 16 ms at half of 1 Mb/s, and a frame of 200 B takes 3.2 ms."""
    load = Load("", (1_000, 200), offered_share=0.5, duration_s=0.0384)
    assert load.schedule(RATE_BPS) == [(0, 1_000), (16_000_000, 200), (19_200_000, 1_000), (35_200_000, 200)]
    assert Load("", (1_000,), burst_frames=2).schedule(RATE_BPS) == [(0, 1_000), (0, 1_000)]
