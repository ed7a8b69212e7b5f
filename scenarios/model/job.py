# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Jobs: ranks that repeat a collective. The messages of a job have its number, their iteration, step and rank."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """What a job repeats, for its figures. A job's number is its position in the list of jobs, from 1."""

    collective: str
    algorithm: str
    ranks: int
    size_bytes: int
    """The size by which the algorithm bandwidth is defined (docs/sources.md#collectives)."""
    bus_factor: float
    """The bus bandwidth divided by the algorithm bandwidth."""
