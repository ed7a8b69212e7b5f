# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Percentiles that a sample can carry, and how sure they are. Knows numbers only.

The rule: the p-th percentile is given where at least one sample in expectation lies beyond it, that is where the count
is at least ceil(100 / (100 - p)): 2 for P50, 20 for P95, 100 for P99, 1000 for P99.9. Below that it is None, never a
guess; the count always stands beside it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_RESAMPLES = 4_000
_BOOTSTRAP_SEED = 1


def minimum_count(percent: float) -> int:
    """The least sample that carries the `percent`-th percentile. Raises ValueError unless 0 < percent < 100."""
    if not 0 < percent < 100:
        raise ValueError(f"a percentile lies between 0 and 100, not at {percent}")
    return math.ceil(round(100 / (100 - percent), 6))


def percentile(values: Values, percent: float) -> float | None:
    """The percentile, interpolated linearly between order statistics, or None where the sample cannot carry it."""
    if values.size < minimum_count(percent):
        return None
    return float(np.percentile(values, percent))


def confidence_interval(values: Values, percent: float) -> tuple[float, float] | None:
    """The 95 % bootstrap interval of a percentile, or None where the sample cannot carry one. Deterministic.

    The k-th order statistic of a resample of n values is the original of rank ceil(n u) with u ~ Beta(k, n - k + 1),
    so ranks are drawn instead of whole resamples. None too where an end of the interval would be the sample's own
    extreme: the truth may lie beyond it. It assumes independent samples.
    """
    count = values.size
    if count < minimum_count(percent):
        return None
    rank = max(1, math.ceil(round(count * percent / 100, 6)))
    draws = np.random.default_rng(_BOOTSTRAP_SEED).beta(rank, count - rank + 1, _RESAMPLES)
    ranks = np.ceil(count * draws)
    low, high = (int(np.percentile(ranks, tail, method="nearest")) for tail in (2.5, 97.5))
    if low <= 1 or high >= count:
        return None
    ordered = np.sort(values)
    return float(ordered[low - 1]), float(ordered[high - 1])


def mean(values: Values) -> float | None:
    """Return the mean, or None without values. Summing in ascending order makes it independent of their order."""
    return float(np.sort(values).mean()) if values.size else None


def largest(values: Values) -> float | None:
    """Return the largest value, or None without values."""
    return float(values.max()) if values.size else None
