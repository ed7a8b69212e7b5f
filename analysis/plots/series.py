# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""From traces to the points that a plot draws. Knows no colour and no library that draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.formatting import format_bytes
from analysis.metrics.buffers import QueueName, hottest_switch, queue_series, whole_buffer, whole_buffers
from analysis.metrics.flows import SizeBinFigures, slowdowns
from telemetry.reader import Rows

Points = NDArray[np.float64]

MAXIMUM_STEPS = 800
"""About the pixels that a plot is wide; a longer series is thinned to this without losing a peak."""


@dataclass(frozen=True)
class Steps:
    """Values that each hold for the interval that ends at their time (model µs)."""

    times_us: Points
    values: Points


def thin(steps: Steps, limit: int = MAXIMUM_STEPS) -> Steps:
    """At most `limit` steps over the same span: neighbours are joined into one interval with their highest value."""
    count = steps.values.size
    if count <= limit:
        return steps
    starts = np.linspace(0, count, limit, endpoint=False).astype(np.int64)
    ends = np.append(starts[1:], count) - 1
    return Steps(steps.times_us[ends], np.maximum.reduceat(steps.values, starts))


def high_water(rows: pl.DataFrame) -> Steps:
    """High-water marks of rows in time order."""
    return Steps(
        rows["time_us"].to_numpy().astype(np.float64),
        rows["high_water_bytes"].to_numpy().astype(np.float64),
    )


def buffer_steps(queues: Rows, switch: str) -> Steps:
    """High-water marks of a switch's whole buffer."""
    return high_water(whole_buffer(queues, switch))


def hottest_buffer_steps(queues: Rows) -> tuple[str, Steps] | None:
    """The switch with the highest peak and its high-water marks; None without a sample."""
    whole = whole_buffers(queues)
    switch = hottest_switch(whole)
    return None if switch is None else (switch, buffer_steps(whole, switch))


def queue_steps(queues: Rows, queue: QueueName) -> Steps:
    """High-water marks of one queue, zero where it was empty."""
    return high_water(queue_series(queues, queue))


def cumulative_slowdown(flows: pl.DataFrame, limit: int = MAXIMUM_STEPS) -> tuple[Points, Points]:
    """Slowdowns, ascending, and the share of all flows that did at least as well.

    Flows that did not complete keep the last share below 1. Long series are thinned; first and last point stay.
    """
    values = slowdowns(flows)
    if values.size == 0:
        return values, values
    shares = np.arange(1, values.size + 1) / flows.height
    if values.size > limit:
        kept = np.unique(np.linspace(0, values.size - 1, limit).astype(np.int64))
        values, shares = values[kept], shares[kept]
    return values, shares


def bin_labels(bins: Sequence[SizeBinFigures]) -> list[str]:
    """The upper edge of each bin, as axis labels."""
    return [format_bytes(size_bin.high_bytes) for size_bin in bins]


def bin_percentiles(bins: Sequence[SizeBinFigures], percent: int) -> Points:
    """P50, P95 or P99 of each bin; NaN where the bin cannot carry it."""
    figures = {50: "p50", 95: "p95", 99: "p99"}
    values = [getattr(size_bin, figures[percent]) for size_bin in bins]
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
