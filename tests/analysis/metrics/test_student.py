# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Student's interval of a mean."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.metrics.student import mean_interval, quantile


@pytest.mark.parametrize(("freedom", "expected"), [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042)])
def test_quantiles_are_those_of_the_printed_tables(freedom: int, expected: float) -> None:
    """Odd and even degrees of freedom have formulas of their own."""
    assert quantile(freedom) == pytest.approx(expected, abs=5e-4)


def test_an_interval_holds_the_mean_as_often_as_it_says() -> None:
    random = np.random.default_rng(1)
    intervals = [mean_interval(list(row)) for row in random.normal(3.0, 2.0, (4000, 5))]
    held = sum(low <= 3.0 <= high for low, high in (each for each in intervals if each))
    assert 0.94 < held / len(intervals) < 0.96


def test_one_value_has_no_interval() -> None:
    assert mean_interval([2.0]) is None
    assert mean_interval([2.0, 2.0, 2.0]) == (2.0, 2.0)
