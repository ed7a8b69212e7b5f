# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The plot of goodput over time: one panel per run, one line per traffic class (Fig. 15 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfc_testbed.analysis.metrics.buffers import natural_key
from sfc_testbed.analysis.metrics.goodput import rates_without_gaps, tag_rates
from sfc_testbed.analysis.plots.description import TIME, Axis, Line, Plot, PlotPanel, fault_items, highest_fitted
from sfc_testbed.analysis.plots.palette import LineLook, numbered_looks
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
from sfc_testbed.analysis.plots.series import thin_rates

MAXIMUM_PANELS = 4


def plot_goodput(runs: Sequence[PlottedRun]) -> Plot:
    """Plot the goodput of every traffic class, summed over its receivers. All panels have the same y axis."""
    plotted = list(runs)[:MAXIMUM_PANELS]
    rates = [tag_rates(run.goodput, run.flows) for run in plotted]
    tags = sorted({tag for of_run in rates for tag in of_run["tag"].unique()}, key=natural_key)
    highest = max((float(of_run["gbps"].to_numpy().max()) for of_run in rates if of_run.height), default=1.0)
    looks = list(zip(tags, numbered_looks(len(tags)), strict=True))
    return Plot(
        [_panel(run, of_run, looks, 1.08 * highest) for run, of_run in zip(plotted, rates, strict=True)],
        height_inches=3.6,
    )


def _panel(run: PlottedRun, rates: pl.DataFrame, looks: Sequence[tuple[str, LineLook]], highest: float) -> PlotPanel:
    y = Axis("Goodput (Gb/s)", 0, highest)
    if rates.is_empty():
        return PlotPanel(run.label, Axis(TIME), y, text="nothing was delivered")
    by_tag = ((tag, look, rates.filter(pl.col("tag") == tag)) for tag, look in looks)
    lines = [
        Line(tag, look, *thin_rates(*rates_without_gaps(rows)), "after") for tag, look, rows in by_tag if rows.height
    ]
    end_us = highest_fitted(line.x for line in lines)
    return PlotPanel(run.label, Axis(TIME, 0, end_us), y, (*lines, *fault_items(run.faults, end_us)))
