# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for Student's confidence interval of a mean."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.metrics.student import mean_interval, quantile


@pytest.mark.parametrize(("freedom", "expected"), [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042)])
def test_quantiles_equal_published_tables(freedom: int, expected: float) -> None:
    """Odd and even degrees of freedom have different formulas."""
    assert quantile(freedom) == pytest.approx(expected, abs=5e-4)


def test_intervals_contain_the_mean_with_the_stated_probability() -> None:
    random = np.random.default_rng(1)
    intervals = [mean_interval(list(row)) for row in random.normal(3.0, 2.0, (4000, 5))]
    hits = sum(low <= 3.0 <= high for low, high in (interval for interval in intervals if interval))
    assert 0.94 < hits / len(intervals) < 0.96


def test_one_value_has_no_interval() -> None:
    assert mean_interval([2.0]) is None
    assert mean_interval([2.0, 2.0, 2.0]) == (2.0, 2.0)
