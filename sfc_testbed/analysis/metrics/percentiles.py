# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Percentiles, means and their confidence intervals, if there are enough samples.

A percentile p needs ceil(100 / (100 - p)) samples, so that at least one sample is expected above it: 2 for P50, 20 for
P95, 100 for P99 and 1000 for P99.9. With fewer samples it is None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import fmean, stdev

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_RESAMPLES = 4_000
_BOOTSTRAP_SEED = 1


def minimum_count(percent: float) -> int:
    """Return the fewest samples for the `percent`-th percentile. Raises ValueError unless 0 < percent < 100."""
    if not 0 < percent < 100:
        raise ValueError(f"percentile {percent} is not between 0 and 100")
    return math.ceil(round(100 / (100 - percent), 6))


def percentile(values: Values, percent: float, above: int = 0) -> float | None:
    """Return the percentile of ascending values, interpolated linearly; None with too few samples.

    `above` further samples are known only to be larger than all values, such as the times of flows that did not finish.
    The result is also None if the percentile depends on them.
    """
    count = values.size + above
    if count < minimum_count(percent) or math.ceil(round((count - 1) * percent / 100, 6)) >= values.size:
        return None
    place = (count - 1) * (percent / 100)
    share, below = math.modf(place)
    low, high = values[int(below)], values[min(int(below) + 1, values.size - 1)]
    # Two formulas, as in NumPy: each is exact at its end.
    return float(low + (high - low) * share if share < 0.5 else high - (high - low) * (1 - share))


def confidence_interval(values: Values, percent: float, above: int = 0) -> tuple[float, float] | None:
    """Return the 95 % bootstrap interval of a percentile of ascending values, for independent samples.

    `above` as for `percentile`. The result is None with too few samples, or if an end of the interval would be the
    lowest or highest sample, because the true value may be outside it.
    """
    count = values.size + above
    if count < minimum_count(percent):
        return None
    low, high = _interval_ranks(count, max(1, math.ceil(round(count * percent / 100, 6))))
    if low <= 1 or high >= count or high > values.size:
        return None
    return float(values[low - 1]), float(values[high - 1])


@cache
def _interval_ranks(count: int, rank: int) -> tuple[int, int]:
    """Return the ranks of the ends of the bootstrap interval of the order statistic `rank`.

    The k-th order statistic of a resample of n values is the original value of rank ceil(n u) with
    u ~ Beta(k, n - k + 1). So ranks are drawn instead of whole resamples, with a fixed seed.
    """
    draws = np.random.default_rng(_BOOTSTRAP_SEED).beta(rank, count - rank + 1, _RESAMPLES)
    ranks = np.ceil(count * draws)
    low, high = (int(np.percentile(ranks, tail, method="nearest")) for tail in (2.5, 97.5))
    return low, high


def mean(values: Values) -> float | None:
    """Return the mean of ascending values, or None without values. The sum of floats depends on their order."""
    return float(values.mean()) if values.size else None


def largest(values: Values) -> float | None:
    """Return the largest value, or None without values."""
    return float(values.max()) if values.size else None


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % confidence interval of the mean of independent values; None for fewer than two values."""
    if len(values) < 2:
        return None
    center, half = fmean(values), t_quantile(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return center - half, center + half


def t_quantile(freedom: int) -> float:
    """Return the two-sided 95 % limit of Student's t distribution with some degrees of freedom.

    SciPy has this function, too, but would be the largest dependency of the testbed.
    """
    low, high = 0.0, 1e6
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < 0.95 else (low, middle)
    return high


def _within(limit: float, freedom: int) -> float:
    """Return the probability that |t| <= limit, for integer degrees of freedom.

    The formulas are 26.7.3 and 26.7.4 of Abramowitz and Stegun.
    """
    angle = math.atan(limit / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    is_odd = freedom % 2 == 1
    term = cosine if is_odd else 1.0
    total = term if freedom > 1 else 0.0
    for power in range(3 if is_odd else 2, freedom - 1, 2):
        term *= cosine**2 * (power - 1) / power
        total += term
    return 2 / math.pi * (angle + sine * total) if is_odd else sine * total
