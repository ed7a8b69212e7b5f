# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the metrics of the queues trace, with values computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.analysis.metrics.buffers import (
    QueueName,
    buffer_by_switch,
    hottest_queue,
    hottest_switch,
    natural_key,
    queue_series,
    switches,
    time_weighted_mean,
)
from sfc_testbed.telemetry.schema import QUEUES
from tests.analysis.conftest import frame_of

TRACE = frame_of(
    QUEUES,
    [
        (10.0, "tor10", -1, -1, 100, 400),
        (10.0, "tor10", 1, 3, 100, 400),
        (20.0, "tor10", -1, -1, 300, 350),
        (20.0, "tor10", 2, 3, 300, 350),
        (50.0, "tor10", -1, -1, 0, 300),
        (10.0, "tor2", -1, -1, 400, 400),
    ],
)


def test_buffer_figures_by_hand() -> None:
    """Mean: 100 for 10 us, 300 for 30 us. Three samples are too few for a P99."""
    summary = buffer_by_switch(TRACE)["tor10"]
    assert (summary.max, summary.p99) == (400, None)
    assert summary.mean == pytest.approx((100 * 10 + 300 * 30) / 40)


def test_a_single_sample_is_its_own_mean() -> None:
    assert buffer_by_switch(TRACE)["tor2"].mean == 400.0


def test_a_hundred_intervals_have_a_p99() -> None:
    """High-water marks 1..100: P99 at rank 99.01."""
    trace = frame_of(QUEUES, [(float(n), "s1", -1, -1, 0, n) for n in range(1, 101)])
    assert buffer_by_switch(trace)["s1"].p99 == pytest.approx(99.01)


def test_switches_are_in_natural_order_and_the_first_of_equals_is_the_fullest() -> None:
    """tor2 comes before tor10, and both have a peak of 400 B."""
    assert switches(TRACE) == ["tor2", "tor10"]
    assert hottest_switch(TRACE) == "tor2"
    assert natural_key("tor2") < natural_key("tor10")


def test_the_hottest_queue_is_found_and_filled_with_zeros() -> None:
    """The queue with the highest peak has a zero for each interval in which it was empty."""
    assert hottest_queue(TRACE) == QueueName("tor10", 1, 3)
    assert hottest_queue(TRACE, "tor2") is None
    series = queue_series(TRACE, QueueName("tor10", 1, 3))
    assert series["time_us"].to_list() == [10.0, 20.0, 50.0]
    assert series["high_water_bytes"].to_list() == [400, 0, 0]


def test_an_empty_trace_has_no_figures() -> None:
    assert buffer_by_switch(QUEUES.empty()) == {}
    assert hottest_switch(QUEUES.empty()) is None
    assert hottest_queue(QUEUES.empty()) is None
    assert time_weighted_mean(np.empty(0), np.empty(0)) is None


@given(st.lists(st.tuples(st.floats(0.1, 100), st.integers(0, 10**7)), min_size=1, max_size=50))
def test_the_mean_is_between_the_lowest_and_the_highest_depth(steps: list[tuple[float, int]]) -> None:
    times = np.cumsum([span for span, _ in steps])
    depths = np.array([depth for _, depth in steps], dtype=np.float64)
    mean = time_weighted_mean(times, depths)
    assert mean is not None
    assert depths.min() - 1e-6 <= mean <= depths.max() + 1e-6
