# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Percentiles and their confidence intervals, if there are enough samples.

A percentile p needs ceil(100 / (100 - p)) samples, so that at least one sample is expected above it: 2 for P50, 20 for
P95, 100 for P99 and 1000 for P99.9. With fewer samples it is None.
"""

from __future__ import annotations

import math

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


def percentile(values: Values, percent: float) -> float | None:
    """Return the percentile, interpolated linearly between order statistics; None with too few samples."""
    if values.size < minimum_count(percent):
        return None
    return float(np.percentile(values, percent))


def confidence_interval(values: Values, percent: float) -> tuple[float, float] | None:
    """Return the 95 % bootstrap interval of a percentile, for independent samples; None with too few samples.

    The k-th order statistic of a resample of n values is the original value of rank ceil(n u) with
    u ~ Beta(k, n - k + 1). So ranks are drawn instead of whole resamples, with a fixed seed. The result is also None if
    an end of the interval would be the lowest or highest sample, because the true value may be outside it.
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
