# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What histograms are summed up to, and agents tell in messages. Apart from them: pydantic reads these, so they are not
compiled."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LatenessSummary:
    """How late things were done, in wall ns; without a record all are 0."""

    count: int
    p50_ns: float
    p99_ns: float
    max_ns: float


@dataclass(frozen=True, slots=True)
class SpacingSummary:
    """How far off, in wall ns; without a pair of frames all are 0."""

    count: int
    """Pairs of frames."""
    p50_ns: float
    p99_ns: float
    max_ns: float
    ideal_ns: float
    """Mean of what the spacing should have been."""
