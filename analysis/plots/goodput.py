# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Goodput over time, one panel a run, one line a traffic class (Fig. 15 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.metrics.buffers import natural_key
from analysis.metrics.goodput import rates_without_gaps, tag_rates
from analysis.plots.canvas import new_figure, say, share_legend, styled
from analysis.plots.faults import FaultMark, draw_faults
from analysis.plots.palette import OTHER_COLORS
from telemetry.reader import Rows

MAXIMUM_PANELS = 4


@dataclass(frozen=True)
class GoodputRun:
    """What this plot needs of one run."""

    label: str
    flows: pl.DataFrame
    goodput: Rows
    faults: Sequence[FaultMark] = ()


@styled
def plot_goodput(runs: Sequence[GoodputRun]) -> Figure:
    """Gb/s of every class, all its receivers together, in every interval; one scale for all panels."""
    shown = list(runs)[:MAXIMUM_PANELS]
    figure, panels = new_figure(max(1, len(shown)), height_inches=3.6)
    rates = [tag_rates(run.goodput, run.flows) for run in shown]
    tags = sorted({tag for each in rates for tag in each["tag"].unique()}, key=natural_key)
    highest = max((float(each["gbps"].to_numpy().max()) for each in rates if each.height), default=1.0)
    for axes, run, each in zip(panels, shown, rates, strict=True):
        axes.set_title(run.label)
        axes.set_xlabel("Time (model µs)")
        axes.set_ylabel("Goodput (Gb/s)")
        if each.is_empty():
            say(axes, "nothing was delivered")
            continue
        axes.set_ylim(0, 1.08 * highest)
        for number, tag in enumerate(tags):
            _draw(axes, each.filter(pl.col("tag") == tag), str(tag), OTHER_COLORS[number % len(OTHER_COLORS)])
        axes.set_xlim(left=0)
        draw_faults(axes, run.faults)
    share_legend(figure)
    return figure


def _draw(axes: Axes, rates: pl.DataFrame, tag: str, color: str) -> None:
    """A step line from time 0, where intervals begin, that is zero where one has no row."""
    if rates.is_empty():
        return
    axes.step(*rates_without_gaps(rates), where="post", color=color, label=tag)
