# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Summaries of histograms, which agents send in messages.

They are separate from the histograms because pydantic reads these classes, so they cannot be compiled.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LatenessSummary:
    """A summary of lateness in wall ns; all values are 0 if nothing was recorded."""

    count: int
    p50_ns: float
    p99_ns: float
    max_ns: float


@dataclass(frozen=True, slots=True)
class SpacingSummary:
    """A summary of spacing errors in wall ns; all values are 0 if no pair of frames was recorded."""

    count: int
    """Number of pairs of back-to-back frames."""
    p50_ns: float
    p99_ns: float
    max_ns: float
    ideal_ns: float
    """Mean ideal spacing of the pairs."""
