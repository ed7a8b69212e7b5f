# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The plot of goodput over time: one panel per run, one line per traffic class (Fig. 15 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sfc_testbed.analysis.metrics.buffers import natural_key
from sfc_testbed.analysis.metrics.goodput import rates_without_gaps, tag_rates
from sfc_testbed.analysis.plots.canvas import (
    PlottedRun,
    draw_faults,
    legend_name,
    new_figure,
    say,
    share_legend,
    styled,
)
from sfc_testbed.analysis.plots.palette import LineLook, numbered_looks

MAXIMUM_PANELS = 4


@styled
def plot_goodput(runs: Sequence[PlottedRun]) -> Figure:
    """Plot the goodput of every traffic class, summed over its receivers. All panels have the same y axis."""
    plotted = list(runs)[:MAXIMUM_PANELS]
    figure, panels = new_figure(max(1, len(plotted)), height_inches=3.6)
    rates = [tag_rates(run.goodput, run.flows) for run in plotted]
    tags = sorted({tag for of_run in rates for tag in of_run["tag"].unique()}, key=natural_key)
    highest = max((float(of_run["gbps"].to_numpy().max()) for of_run in rates if of_run.height), default=1.0)
    for axes, run, of_run in zip(panels, plotted, rates, strict=True):
        axes.set_title(run.label)
        axes.set_xlabel("Time (model µs)")
        axes.set_ylabel("Goodput (Gb/s)")
        if of_run.is_empty():
            say(axes, "nothing was delivered")
            continue
        axes.set_ylim(0, 1.08 * highest)
        for tag, look in zip(tags, numbered_looks(len(tags)), strict=True):
            _draw(axes, of_run.filter(pl.col("tag") == tag), legend_name(str(tag)), look)
        axes.set_xlim(left=0)
        draw_faults(axes, run.faults)
    share_legend(figure)
    return figure


def _draw(axes: Axes, rates: pl.DataFrame, tag: str, look: LineLook) -> None:
    """Draw a step line from time 0 that is zero in the intervals without a row."""
    if rates.is_empty():
        return
    axes.step(*rates_without_gaps(rates), where="post", color=look.color, linestyle=look.dashes, label=tag)
