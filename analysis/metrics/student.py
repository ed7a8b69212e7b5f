# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The confidence interval of the mean of a few independent values, by Student's t distribution.

SciPy has this function, too, but would be the largest dependency of the testbed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

CONFIDENCE = 0.95
_HIGHEST = 1e6
_STEPS = 80


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % confidence interval of the mean of independent values; None for fewer than two values."""
    count = len(values)
    if count < 2:
        return None
    mean = math.fsum(values) / count
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    half = quantile(count - 1) * math.sqrt(variance / count)
    return mean - half, mean + half


def quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """Return the limit that |t| exceeds with probability 1 - confidence, for Student's t."""
    low, high = 0.0, _HIGHEST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < confidence else (low, middle)
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
