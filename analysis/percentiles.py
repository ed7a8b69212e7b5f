# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Percentiles that a sample can carry, and how sure they are. Knows numbers only.

The rule: the p-th percentile is given where at least one sample in expectation lies beyond it, that is where the count
is at least ceil(100 / (100 - p)): 2 for P50, 20 for P95, 100 for P99. Below that it is None, never a guess; the count
always stands beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_NORMAL_97_5 = 1.959964


def minimum_count(percent: int) -> int:
    """The least sample that carries the `percent`-th percentile. Raises ValueError unless 0 < percent < 100."""
    if not 0 < percent < 100:
        raise ValueError(f"a percentile lies between 0 and 100, not at {percent}")
    return -(-100 // (100 - percent))


def percentile(values: Values, percent: int) -> float | None:
    """The percentile, interpolated linearly between order statistics, or None where the sample cannot carry it."""
    if values.size < minimum_count(percent):
        return None
    return float(np.percentile(values, percent))


def confidence_interval(values: Values, percent: int) -> tuple[float, float] | None:
    """The 95 % interval of a percentile, or None where the sample cannot carry one.

    Distribution-free: the two order statistics that enclose the percentile with probability 0.95, by the normal
    approximation of the binomial count of samples below it. It assumes independent samples.
    """
    count = values.size
    share = percent / 100
    reach = _NORMAL_97_5 * math.sqrt(count * share * (1 - share))
    low, high = math.floor(count * share - reach), math.ceil(count * share + reach) + 1
    if count < minimum_count(percent) or low < 1 or high > count:
        return None
    ordered = np.sort(values)
    return float(ordered[low - 1]), float(ordered[high - 1])


@dataclass(frozen=True)
class Summary:
    """Count, mean and percentiles of one sample, in the sample's unit; None where the sample cannot carry a figure."""

    count: int
    mean: float | None
    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None


def summarize(values: Values) -> Summary:
    """Summary of a sample of any size."""
    if values.size == 0:
        return Summary(0, None, None, None, None, None)
    ordered = np.sort(values)
    p50, p95, p99 = (percentile(ordered, percent) for percent in (50, 95, 99))
    return Summary(int(ordered.size), float(ordered.mean()), p50, p95, p99, float(ordered[-1]))
