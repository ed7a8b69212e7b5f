# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Plots of the trace `cc`: window, rate and round-trip time of the largest flows, for one run or several runs.

`plot_control` shows a congestion control in several situations, with the longest queue below the flows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sfc_testbed.analysis.metrics.buffers import hottest_queue, queue_series
from sfc_testbed.analysis.plots.canvas import (
    WIDTH_INCHES,
    Drawing,
    PlottedRun,
    byte_scale,
    new_figure,
    say,
    share_legend,
    styled,
)
from sfc_testbed.analysis.plots.palette import BACKDROP, numbered_looks
from sfc_testbed.analysis.plots.series import Points, Steps, high_water
from sfc_testbed.telemetry.reader import Rows, answer

MAXIMUM_FLOWS = 6
MAXIMUM_POINTS = 500
"""The most points of a line, which is more than the width of a panel in pixels."""
_PANELS_IN_A_ROW = 4
_PANEL_INCHES = 3.6
_ROW_INCHES = 2.2


@dataclass(frozen=True)
class _Quantity:
    """A column of the trace and how a plot shows it."""

    name: str
    title: str
    value: pl.Expr
    empty: str


def _quantities(traces: Sequence[pl.DataFrame]) -> tuple[_Quantity, _Quantity, _Quantity]:
    """Return the quantities window, rate and round trip. The unit of the window depends on the largest window."""
    highest = max((float(traced["cwnd_bytes"].drop_nulls().to_numpy().max(initial=0)) for traced in traces), default=0)
    scale, unit = byte_scale(highest)
    return (
        _Quantity("window", f"Window ({unit})", pl.col("cwnd_bytes") / scale, "no flow had a limit"),
        _Quantity("rate", "Rate (Gb/s)", pl.col("rate_bps") / 1e9, "no rate was traced"),
        _Quantity("round_trip", "Round trip (model µs)", pl.col("rtt_us"), "no round trip was measured"),
    )


@styled
def plot_congestion(congestion: Rows, flows: pl.DataFrame) -> Figure:
    """Plot window, rate and round trip of a run: one panel per quantity, one line for each of the largest flows."""
    figure, panels = new_figure(3, height_inches=_PANEL_INCHES)
    flow_ids = _largest([congestion], flows)
    traced = _rows_of(congestion, flow_ids)
    for axes, quantity in zip(panels, _quantities([traced]), strict=True):
        axes.set_title(quantity.title)
        _panel(axes, traced, flow_ids, quantity)
    share_legend(figure)
    return figure


@styled
def plot_congestion_compared(runs: Sequence[PlottedRun]) -> dict[str, Figure]:
    """Plot window, rate and round trip, one figure per quantity: one panel per run, with equal scales and flows."""
    flows = pl.concat([run.flows for run in runs]).unique("flow_id")
    flow_ids = _largest([run.congestion for run in runs], flows)
    traces = [_rows_of(run.congestion, flow_ids) for run in runs]
    return {quantity.name: _side_by_side(runs, traces, flow_ids, quantity) for quantity in _quantities(traces)}


@styled
def plot_control(runs: Sequence[PlottedRun]) -> Figure:
    """Plot a congestion control: a column for each run, with rows for window, rate and the longest queue.

    A row whose values never change in any run is left out, such as the rate of flows that are not paced.
    """
    ids = [_largest([run.congestion], run.flows) for run in runs]
    traces = [_rows_of(run.congestion, flow_ids) for run, flow_ids in zip(runs, ids, strict=True)]
    changes = [pl.concat([rows.select(value=of.value) for rows in traces]).n_unique() > 1 for of in _quantities(traces)]
    rows = [of for of, is_shown in zip(_quantities(traces)[:2], changes, strict=False) if is_shown]
    queues = [_longest_queue(run.queues) for run in runs]
    figure = Drawing(figsize=(WIDTH_INCHES, _ROW_INCHES * (len(rows) + 1)))
    FigureCanvasAgg(figure)
    for column, (run, traced, flow_ids, steps) in enumerate(zip(runs, traces, ids, queues, strict=True), 1):
        cells = [figure.add_subplot(len(rows) + 1, len(runs), row * len(runs) + column) for row in range(len(rows) + 1)]
        cells[0].set_title(run.label)
        for axes, of in zip(cells, rows, strict=False):
            _panel(axes, traced, flow_ids, of)
            axes.set_ylabel(of.title)
            axes.set_xlabel("")
        queue, (scale, unit) = cells[-1], byte_scale(float(steps.values.max(initial=0)))
        queue.fill_between(steps.times_us, steps.values / scale, step="pre", color=BACKDROP, linewidth=0)
        queue.set_ylabel(f"Longest queue ({unit})")
        queue.set_xlabel("Time (model µs)")
        queue.set_ylim(bottom=0)
        for axes in cells:
            axes.set_xlim(0, float(steps.times_us[-1]))
    share_legend(figure)
    return figure


def _longest_queue(queues: Rows) -> Steps:
    longest = hottest_queue(queues)
    return high_water(queue_series(queues, longest)) if longest else Steps(np.zeros(1), np.zeros(1))


def _side_by_side(
    runs: Sequence[PlottedRun], traces: Sequence[pl.DataFrame], flow_ids: list[int], quantity: _Quantity
) -> Figure:
    rows = ceil(len(runs) / _PANELS_IN_A_ROW)
    figure = Drawing(figsize=(WIDTH_INCHES, _PANEL_INCHES * rows))
    FigureCanvasAgg(figure)
    drawn = []
    for number, (run, traced) in enumerate(zip(runs, traces, strict=True), 1):
        axes = figure.add_subplot(rows, min(len(runs), _PANELS_IN_A_ROW), number)
        axes.set_title(run.label)
        axes.set_ylabel(quantity.title)
        if _panel(axes, traced, flow_ids, quantity):
            drawn.append(axes)
    for axes in drawn:
        axes.set_xlim(0, max(other.get_xlim()[1] for other in drawn))
        axes.set_ylim(0, max(other.get_ylim()[1] for other in drawn))
    share_legend(figure)
    return figure


def _rows_of(congestion: Rows, flow_ids: list[int]) -> pl.DataFrame:
    return answer(congestion.lazy().filter(pl.col("flow_id").is_in(flow_ids)))


def _largest(traces: Sequence[Rows], flows: pl.DataFrame) -> list[int]:
    """Return the IDs of the largest traced flows. Equal sizes are ordered by ID, and unknown sizes come last."""
    ids = pl.concat([answer(rows.lazy().select(pl.col("flow_id").unique())) for rows in traces]).unique()
    sized = ids.join(flows.select("flow_id", "size_bytes"), on="flow_id", how="left")
    ordered = sized.sort("size_bytes", "flow_id", descending=[True, False], nulls_last=True)
    return ordered["flow_id"].head(MAXIMUM_FLOWS).to_list()


def _panel(axes: Axes, traced: pl.DataFrame, flow_ids: list[int], quantity: _Quantity) -> bool:
    """Draw a line for each flow that has values, and return whether any flow has values."""
    axes.set_xlabel("Time (model µs)")
    drawn = False
    for flow_id, look in zip(flow_ids, numbered_looks(len(flow_ids)), strict=True):
        rows = traced.filter(pl.col("flow_id") == flow_id).select("time_us", value=quantity.value).drop_nulls()
        times_us, values = (_thinned(rows[name].to_numpy()) for name in ("time_us", "value"))
        if values.size:
            style: dict[str, Any] = {"color": look.color, "linestyle": look.dashes, "label": f"flow {flow_id}"}
            axes.step(times_us, values, where="post", linewidth=1.4, **style)
            drawn = True
    if drawn:
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
    else:
        say(axes, quantity.empty if traced.height else "nothing was traced")
    return drawn


def _thinned(values: Points) -> Points:
    """Return at most MAXIMUM_POINTS of the values, at equal distances, including the last value."""
    if values.size <= MAXIMUM_POINTS:
        return values
    return values[np.linspace(0, values.size - 1, MAXIMUM_POINTS).astype(np.int64)]
