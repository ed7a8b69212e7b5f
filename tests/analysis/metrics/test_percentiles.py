# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for percentiles, means and their confidence intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.analysis.metrics.percentiles import (
    confidence_interval,
    largest,
    mean,
    mean_interval,
    minimum_count,
    percentile,
    t_quantile,
)

samples = st.lists(st.floats(0, 1e9), max_size=300).map(lambda values: np.sort(np.array(values, dtype=np.float64)))


@pytest.mark.parametrize(("percent", "count"), [(50, 2), (90, 10), (95, 20), (99, 100), (99.9, 1000), (1, 2)])
def test_minimum_count_is_one_expected_sample_above(percent: float, count: int) -> None:
    """The count is ceil(100 / (100 - p)), without the rounding error of 1 / (1 - 0.95)."""
    assert minimum_count(percent) == count
    assert percentile(np.zeros(count - 1), percent) is None
    assert percentile(np.zeros(count), percent) == 0.0


@pytest.mark.parametrize("percent", [0, 100, -1])
def test_a_percentile_outside_its_range_is_refused(percent: int) -> None:
    """0 and 100 are the minimum and the maximum."""
    with pytest.raises(ValueError, match="between 0 and 100"):
        minimum_count(percent)


def test_values_computed_by_hand() -> None:
    values = np.arange(1.0, 101.0)
    assert (mean(values), percentile(values, 50), largest(values)) == (50.5, 50.5, 100.0)
    assert percentile(values, 95) == pytest.approx(95.05)
    assert percentile(values, 99) == pytest.approx(99.01)


def test_an_empty_sample_has_no_figures() -> None:
    """A single value has no percentile."""
    assert (mean(np.empty(0)), largest(np.empty(0)), percentile(np.empty(0), 50)) == (None, None, None)
    assert (mean(np.ones(1)), largest(np.ones(1)), percentile(np.ones(1), 50)) == (1.0, 1.0, None)


@pytest.mark.parametrize("percent", [50, 90])
def test_confidence_interval_is_that_of_whole_resamples(percent: int) -> None:
    """Drawing ranks gives the same interval as 4000 resamples of 1..100, within a sampling error of two ranks."""
    random = np.random.default_rng(9)
    values = np.arange(1.0, 101.0)
    rank = percent - 1
    resamples = np.sort(random.choice(values, (4_000, 100)), axis=1)[:, rank]
    expected = np.percentile(resamples, [2.5, 97.5])
    assert confidence_interval(values, percent) == pytest.approx(expected, abs=1.5)
    assert confidence_interval(values, percent) == confidence_interval(values, percent)


def test_a_small_sample_has_no_interval() -> None:
    """100 samples are enough for a P99, but not for its upper bound."""
    assert confidence_interval(np.arange(100.0), 99) is None
    assert confidence_interval(np.empty(0), 50) is None


@given(samples)
def test_figures_are_ordered_and_inside_the_sample(values: np.ndarray) -> None:
    """P50 <= P95 <= P99 <= max, and every figure is between the lowest and the highest sample."""
    known_or_none = [*(percentile(values, percent) for percent in (50, 95, 99)), largest(values)]
    figures = [figure for figure in known_or_none if figure is not None]
    assert figures == sorted(figures)
    assert all(values.min() <= figure <= values.max() for figure in figures)


@given(samples, st.sampled_from([1, 50, 90, 95, 99]), st.integers(0, 5))
def test_percentiles_are_those_of_numpy_to_the_last_bit(values: np.ndarray, percent: float, above: int) -> None:
    figure = percentile(values, percent, above)
    if figure is not None:
        assert figure == np.percentile(np.append(values, np.full(above, values.max())), percent)


@given(samples, st.sampled_from([50, 95, 99]))
def test_an_interval_contains_its_percentile(values: np.ndarray, percent: int) -> None:
    interval = confidence_interval(values, percent)
    if interval is not None:
        value = percentile(values, percent)
        assert value is not None
        assert interval[0] <= value <= interval[1]


@pytest.mark.parametrize(("freedom", "expected"), [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042)])
def test_quantiles_equal_published_tables(freedom: int, expected: float) -> None:
    """Odd and even degrees of freedom have different formulas."""
    assert t_quantile(freedom) == pytest.approx(expected, abs=5e-4)


def test_intervals_contain_the_mean_with_the_stated_probability() -> None:
    random = np.random.default_rng(1)
    intervals = [mean_interval(list(row)) for row in random.normal(3.0, 2.0, (4000, 5))]
    hits = sum(low <= 3.0 <= high for low, high in (interval for interval in intervals if interval))
    assert 0.94 < hits / len(intervals) < 0.96


def test_one_value_has_no_interval() -> None:
    assert mean_interval([2.0]) is None
    assert mean_interval([2.0, 2.0, 2.0]) == (2.0, 2.0)
