# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Plots of lateness: over the time of one run, and the errors that it causes over many runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sfc_testbed.analysis.plots.description import TIME, Axis, Level, Line, Marker, Plot, PlotPanel, fault_items
from sfc_testbed.analysis.plots.palette import DASH_CYCLE, OTHER_COLORS, LineLook
from sfc_testbed.analysis.plots.series import Steps, thin
from sfc_testbed.analysis.results.limits import DEGRADED_ABOVE, INVALID_ABOVE
from sfc_testbed.request.spec import FaultSpan

_LEAST_PERCENT = 0.1
"""The lowest value of the logarithmic axes. Smaller values are drawn there."""

_MOST_MARKERS = 60
"""The most points that get markers. With more points a line is clear without them, and a marker takes as many bytes
as ten points."""

PART_COLORS = {"host": OTHER_COLORS[0], "switch": OTHER_COLORS[1]}
PART_NAMES = {"host": "hosts", "switch": "switches"}


def plot_lateness(lateness: pl.DataFrame, *, base_rtt_us: float, faults: Sequence[FaultSpan] = ()) -> Plot:
    """Plot the highest lateness of hosts and of switches in each interval, and the verdict's limits for the P99."""
    title, y = "Lateness over time", "Latest departure (% of base RTT)"
    latest = lateness.group_by("part", "time_us").agg(pl.col("max_us").max()).sort("time_us")
    if latest.is_empty():
        return Plot((PlotPanel(title, Axis(TIME), Axis(y), text="no data"),), height_inches=3.6)
    highest = 100 * INVALID_ABOVE
    lines = []
    for part, name in PART_NAMES.items():
        rows = latest.filter(pl.col("part") == part)
        shares = np.maximum(100 * rows["max_us"].to_numpy() / base_rtt_us, _LEAST_PERCENT)
        if rows.height:
            steps = thin(Steps(rows["time_us"].to_numpy(), shares))
            look = LineLook(PART_COLORS[part], DASH_CYCLE[0 if part == "host" else 1])
            marker = Marker(".", 4) if rows.height <= _MOST_MARKERS else None
            lines.append(Line(name, look, steps.times_us, steps.values, marker=marker))
            highest = max(highest, float(shares.max()))
    end_us = float(latest["time_us"].to_numpy().max())
    levels = (
        Level("P99 of a faithful run", 100 * DEGRADED_ABOVE),
        Level("P99 of an invalid run", 100 * INVALID_ABOVE),
    )
    panel = PlotPanel(
        title,
        Axis(TIME, 0, end_us),
        Axis(y, _LEAST_PERCENT / 1.1, 1.5 * highest, is_log=True),
        (*lines, *levels, *fault_items(faults, end_us)),
    )
    return Plot((panel,), height_inches=3.6)
