# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Computes the points of plots from traces, without matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfc_testbed.analysis.formatting import format_bytes
from sfc_testbed.analysis.metrics.buffers import hottest_switch, whole_buffer, whole_buffers
from sfc_testbed.analysis.metrics.flows import SizeBinFigures, slowdowns
from sfc_testbed.telemetry.reader import Rows

Points = NDArray[np.float64]

MAXIMUM_STEPS = 800
"""The most points of a plotted series, about the width of a plot in pixels. Thinning keeps the peaks."""


@dataclass(frozen=True)
class Steps:
    """Values of consecutive intervals. Each time is the end of the value's interval, in model µs."""

    times_us: Points
    values: Points


def thin(steps: Steps, limit: int = MAXIMUM_STEPS) -> Steps:
    """Reduce the series to at most `limit` steps. Adjacent intervals are merged and keep their highest value."""
    count = steps.values.size
    if count <= limit:
        return steps
    starts = np.linspace(0, count, limit, endpoint=False).astype(np.int64)
    ends = np.append(starts[1:], count) - 1
    return Steps(steps.times_us[ends], np.maximum.reduceat(steps.values, starts))


def thin_rates(
    times_us: Points, gbps: Points, limit: int = MAXIMUM_STEPS, *, are_ends: bool = False
) -> tuple[Points, Points]:
    """Reduce rates in intervals that begin, or end, at these times to at most `limit` intervals.

    Adjacent intervals are merged and get their mean rate.
    """
    if gbps.size <= limit:
        return times_us, gbps
    starts = np.linspace(0, gbps.size, limit, endpoint=False).astype(np.int64)
    counts = np.diff(starts, append=gbps.size)
    return times_us[starts + counts - 1 if are_ends else starts], np.add.reduceat(gbps, starts) / counts


def high_water(rows: pl.DataFrame) -> Steps:
    """Return the high-water marks of rows that are in time order."""
    return Steps(
        rows["time_us"].to_numpy().astype(np.float64),
        rows["high_water_bytes"].to_numpy().astype(np.float64),
    )


def buffer_steps(queues: Rows, switch: str) -> Steps:
    """Return the high-water marks of a switch's whole buffer."""
    return high_water(whole_buffer(queues, switch))


def hottest_buffer_steps(queues: Rows) -> tuple[str, Steps] | None:
    """Return the switch with the highest peak and its high-water marks; None without samples."""
    whole = whole_buffers(queues)
    switch = hottest_switch(whole)
    return None if switch is None else (switch, buffer_steps(whole, switch))


def cumulative_slowdown(flows: pl.DataFrame, limit: int = MAXIMUM_STEPS) -> tuple[Points, Points]:
    """Return the points of the CDF of slowdowns. If some flows did not complete, the last share is below 1."""
    return cumulative_shares(slowdowns(flows), flows.height, limit)


def cumulative_shares(values: Points, count: int, limit: int = MAXIMUM_STEPS) -> tuple[Points, Points]:
    """Return the points of a CDF: ascending values, and for each the share of `count` with at most this value.

    The curve begins with share 0 at the lowest value. Long series are thinned, but keep their first and last point.
    """
    selected = np.unique(np.linspace(0, values.size - 1, min(values.size, limit)).astype(np.int64))
    shares = (selected + 1) / count
    return np.concatenate([values[:1], values[selected]]), np.concatenate([np.zeros(min(1, values.size)), shares])


def bin_labels(bins: Sequence[SizeBinFigures]) -> list[str]:
    """Return the upper edge of each bin as an axis label."""
    return [format_bytes(size_bin.high_bytes) for size_bin in bins]


def bin_percentiles(bins: Sequence[SizeBinFigures], percent: int) -> Points:
    """Return P50, P95 or P99 of each bin; NaN if the bin has too few flows."""
    figures = {50: "p50", 95: "p95", 99: "p99"}
    values = [getattr(size_bin, figures[percent]) for size_bin in bins]
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
