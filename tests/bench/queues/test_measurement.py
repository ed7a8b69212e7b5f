# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of what is read from recorded frames: losses, throughput, depths, marks and utilisation."""

from __future__ import annotations

import struct

import pytest

from bench.queues import frames
from bench.queues.exercises import EXERCISES
from bench.queues.measurement import Measurement, Recording, measure
from bench.queues.theory import Load, fluid_queue

RATE_BPS = 1_000_000
LOAD = Load("1.5", (1_000,), offered_share=1.5, duration_s=0.5)
"""A load of 94 frames: one arrives each 5.33 ms, and one leaves each 8 ms."""
WIRE_S = 0.008


def measured(exercise: str, arrivals: list[tuple[float, bytes]], load: Load = LOAD) -> Measurement:
    theory = fluid_queue(load, RATE_BPS, 64)
    recording = Recording(arrivals, sent=len(load.schedule(RATE_BPS)), most_late_s=0.0)
    return measure(EXERCISES[exercise], load, RATE_BPS, theory, recording, WIRE_S)


def with_depth(number: int, depth: int) -> bytes:
    frame = bytearray(frames.data(number, 1_000, records_hops=True))
    frame[14] += 2
    frame[37] = 1
    frame[38:38] = struct.pack(">II", 1, depth)
    return bytes(frame)


def test_depths_of_an_ideal_queue_have_almost_no_error() -> None:
    """Frame n leaves after n * 8 ms, while 1.5 frames arrive for each that leaves.

    Whole packets lag behind the fluid by 0 and 0.5 packets in turn while the queue of 62 frames grows, and by 0.75
    packets while the last 31 leave.
    """
    last = len(LOAD.schedule(RATE_BPS)) - 1
    arrivals = [(WIRE_S * (n + 1), with_depth(n, min(last, 3 * n // 2) - n)) for n in range(last + 1)]
    result = measured("mri", arrivals)
    assert result.received == 94
    assert result.throughput_bps == pytest.approx(RATE_BPS)
    assert result.figures["peak"] == 31
    assert result.figures["mean_error"] == pytest.approx((62 * 0.25 + 31 * 0.75) / 93)


def test_error_of_a_queue_that_stays_empty_is_that_of_the_whole_queue() -> None:
    result = measured("mri", [(WIRE_S * (n + 1), with_depth(n, 0)) for n in range(60)])
    assert result.figures["peak"] == 0
    assert result.figures["mean_error"] == pytest.approx(15, abs=1)


def test_marks_are_read_by_the_time_of_sending() -> None:
    arrivals = [(1.0 + n, frames.data(n, 1_000, ecn=frames.CE if n >= 30 else frames.ECT)) for n in (0, 30, 31)]
    result = measured("ecn", arrivals)
    assert result.figures == {"first_mark_s": pytest.approx(0.16), "marked": 2}
    assert result.times_s == pytest.approx([0, 0.16, 0.1653], abs=1e-4)
    assert result.values == [0, 1, 1]


def probe_of(sent_bytes: int, last_us: int, time_us: int) -> bytes:
    hop = struct.pack(">BBI6s6s", 0x81, 2, sent_bytes, last_us.to_bytes(6, "big"), time_us.to_bytes(6, "big"))
    return frames.probe((2, 1))[:14] + b"\x01" + hop + bytes(32)


def test_utilisation_is_that_of_the_second_half_without_the_first_probe() -> None:
    arrivals = [
        (0.0, probe_of(99_999, 1, 1_000_000)),
        (0.1, probe_of(5_000, 1_000_000, 1_100_000)),
        (0.3, probe_of(25_000, 1_100_000, 1_300_000)),
        (0.4, probe_of(6_250, 1_300_000, 1_400_000)),
        (0.6, probe_of(0, 1_400_000, 1_600_000)),
    ]
    result = measured("link_monitor", arrivals)
    assert result.values == pytest.approx([400_000, 1_000_000, 500_000, 0])
    assert result.figures["utilisation_bps"] == pytest.approx(8 * 31_250 / 0.3)


def test_utilisation_of_a_burst_is_that_of_the_probe_behind_it() -> None:
    arrivals = [(0.0, probe_of(9, 1, 500_000)), (0.4, probe_of(50_000, 500_000, 900_000)), (0.41, probe_of(60, 9, 99))]
    result = measured("link_monitor", arrivals, Load("burst", (1_000,), burst_frames=50))
    assert result.figures["utilisation_bps"] == pytest.approx(RATE_BPS)


def test_lost_frames_and_silence_are_no_errors() -> None:
    for exercise in EXERCISES:
        result = measured(exercise, [])
        assert (result.received, result.throughput_bps) == (0, None)
