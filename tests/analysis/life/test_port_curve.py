# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of waiting times from samples, against queues whose waits are known."""

from __future__ import annotations

import numpy as np
import pytest

from sfc_testbed.analysis.life.port_curve import PortCurve, saturated

RATE_BPS = 8_000_000_000
"""1,000 bytes per us."""
TIMES = np.arange(10.0, 110.0, 10.0)


def curve(sent_per_us: list[float], depth_bytes: list[float]) -> PortCurve:
    """Return the curve of a port that sent so many bytes per us in each interval of 10 us."""
    depths = np.array(depth_bytes)
    return PortCurve.of_samples(TIMES, np.cumsum(sent_per_us) * 10.0, depths, depths, RATE_BPS)


def test_a_steady_queue_delays_packets_by_its_depth_over_the_rate() -> None:
    steady = curve([1000] * 10, [20_000] * 10)
    assert steady.entered_us(np.array([50.0, 95.0])) == pytest.approx([30.0, 75.0])


def test_packets_wait_while_a_port_stands_still() -> None:
    """5,000 bytes enter from 10 to 20 us. The port sends nothing until 60 us."""
    stopped = curve([0, 0, 0, 0, 0, 0, 500, 0, 0, 0], [0, 5000, 5000, 5000, 5000, 5000, 0, 0, 0, 0])
    assert stopped.entered_us(np.array([65.0])) == pytest.approx([15.0])
    assert stopped.idle_share(20.0, 60.0) == 1.0


def test_an_empty_queue_delays_nothing() -> None:
    """Also between two samples and after the last sample."""
    empty = curve([1000, 0, 700, 0, 0, 0, 0, 0, 0, 0], [0] * 10)
    times = np.array([5.0, 24.0, 60.0, 400.0])
    assert empty.entered_us(times) == pytest.approx(times)
    assert empty.idle_share(0.0, 100.0) == 0.0


def test_the_longest_queue_between_two_times_is_that_of_their_intervals() -> None:
    peaks = curve([1000] * 10, [0, 30_000, 0, 0, 0, 80_000, 0, 0, 0, 0])
    assert peaks.most_us(12.0, 25.0) == 30.0
    assert peaks.most_us(51.0, 52.0) == 80.0


def test_saturated_intervals_are_those_without_gaps() -> None:
    begins, ends = saturated(curve([1000, 950, 500, 0, 0, 0, 0, 0, 0, 1000], [0] * 10), 0.9)
    assert list(zip(begins, ends, strict=True)) == [(0.0, 10.0), (10.0, 20.0), (90.0, 100.0)]
