# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Plots of lateness: over the time of one run, and the errors that it causes over many runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from sfc_testbed.analysis.plots.canvas import draw_faults, draw_level, log_y, new_figure, say, share_legend, styled
from sfc_testbed.analysis.plots.palette import DASH_CYCLE, OTHER_COLORS
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


@styled
def plot_lateness(lateness: pl.DataFrame, *, base_rtt_us: float, faults: Sequence[FaultSpan] = ()) -> Figure:
    """Plot the highest lateness of hosts and of switches in each interval, and the verdict's limits for the P99."""
    figure, (axes,) = new_figure(1, height_inches=3.6)
    axes.set_title("Lateness over time")
    axes.set_xlabel("Time (model µs)")
    axes.set_ylabel("Latest departure (% of base RTT)")
    latest = lateness.group_by("part", "time_us").agg(pl.col("max_us").max()).sort("time_us")
    if latest.is_empty():
        say(axes, "no data")
        return figure
    highest = 100 * INVALID_ABOVE
    for part, name in PART_NAMES.items():
        rows = latest.filter(pl.col("part") == part)
        shares = np.maximum(100 * rows["max_us"].to_numpy() / base_rtt_us, _LEAST_PERCENT)
        if rows.height:
            steps = thin(Steps(rows["time_us"].to_numpy(), shares))
            color, dashes = PART_COLORS[part], DASH_CYCLE[0 if part == "host" else 1]
            marker = "." if rows.height <= _MOST_MARKERS else None
            axes.plot(
                steps.times_us, steps.values, color=color, linestyle=dashes, marker=marker, markersize=4, label=name
            )
            highest = max(highest, float(shares.max()))
    log_y(axes, _LEAST_PERCENT / 1.1, 1.5 * highest)
    axes.set_xlim(0, float(latest["time_us"].to_numpy().max()))
    draw_level(axes, "P99 of a faithful run", 100 * DEGRADED_ABOVE)
    draw_level(axes, "P99 of an invalid run", 100 * INVALID_ABOVE)
    draw_faults(axes, faults)
    share_legend(figure)
    return figure
