# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Plots of the trace `cc`: window, rate and round-trip time of the largest flows, for one run or several runs.

`plot_control` shows a congestion control in several situations, with the longest queue below the flows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from sfc_testbed.analysis.metrics.buffers import hottest_queue, queue_series
from sfc_testbed.analysis.plots.description import (
    TIME,
    Axis,
    Band,
    Line,
    Plot,
    PlotPanel,
    byte_scale,
    highest_fitted,
)
from sfc_testbed.analysis.plots.palette import BACKDROP, numbered_looks
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
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


def plot_congestion(congestion: Rows, flows: pl.DataFrame) -> Plot:
    """Plot window, rate and round trip of a run: one panel per quantity, one line for each of the largest flows."""
    flow_ids = _largest([congestion], flows)
    traced = _rows_of(congestion, flow_ids)
    panels = [_panel(of.title, "", traced, flow_ids, of) for of in _quantities([traced])]
    return Plot(panels, height_inches=_PANEL_INCHES)


def plot_congestion_compared(runs: Sequence[PlottedRun]) -> dict[str, Plot]:
    """Plot window, rate and round trip, one plot per quantity: one panel per run, with equal scales and flows."""
    flows = pl.concat([run.flows for run in runs]).unique("flow_id")
    flow_ids = _largest([run.congestion for run in runs], flows)
    traces = [_rows_of(run.congestion, flow_ids) for run in runs]
    return {of.name: _side_by_side(runs, traces, flow_ids, of) for of in _quantities(traces)}


def plot_control(runs: Sequence[PlottedRun]) -> Plot:
    """Plot a congestion control: a column for each run, with rows for window, rate and the longest queue.

    A row whose values never change in any run is left out, such as the rate of flows that are not paced.
    """
    ids = [_largest([run.congestion], run.flows) for run in runs]
    traces = [_rows_of(run.congestion, flow_ids) for run, flow_ids in zip(runs, ids, strict=True)]
    changes = [pl.concat([rows.select(value=of.value) for rows in traces]).n_unique() > 1 for of in _quantities(traces)]
    rows = [of for of, is_shown in zip(_quantities(traces)[:2], changes, strict=False) if is_shown]
    queues = [_longest_queue(run.queues) for run in runs]
    panels = [
        _panel("", of.title, traced, flow_ids, of) for of in rows for traced, flow_ids in zip(traces, ids, strict=True)
    ]
    panels += [_queue_panel(steps) for steps in queues]
    ends_us = [float(steps.times_us[-1]) for steps in queues]
    for number, panel in enumerate(panels):
        title = runs[number].label if number < len(runs) else ""
        label = TIME if number >= len(panels) - len(runs) else ""
        panels[number] = replace(panel, title=title, x=Axis(label, 0, ends_us[number % len(runs)]))
    return Plot(panels, columns=len(runs), height_inches=_ROW_INCHES * (len(rows) + 1))


def _longest_queue(queues: Rows) -> Steps:
    longest = hottest_queue(queues)
    return high_water(queue_series(queues, longest)) if longest else Steps(np.zeros(1), np.zeros(1))


def _queue_panel(steps: Steps) -> PlotPanel:
    scale, unit = byte_scale(float(steps.values.max(initial=0)))
    values = steps.values / scale
    high = highest_fitted([values, np.zeros(1)])
    label = "Longest queue"
    y = Axis(f"{label} ({unit})", 0, high)
    return PlotPanel("", Axis(TIME), y, [Band(label, BACKDROP, steps.times_us, values)])


def _side_by_side(
    runs: Sequence[PlottedRun], traces: Sequence[pl.DataFrame], flow_ids: list[int], quantity: _Quantity
) -> Plot:
    panels = [
        _panel(run.label, quantity.title, traced, flow_ids, quantity) for run, traced in zip(runs, traces, strict=True)
    ]
    drawn = [panel for panel in panels if panel.items]
    right, top = (
        max((axis.high for axis in axes), default=1.0) for axes in ([p.x for p in drawn], [p.y for p in drawn])
    )
    panels = [replace(panel, x=replace(panel.x, high=right), y=replace(panel.y, high=top)) for panel in panels]
    columns = min(len(runs), _PANELS_IN_A_ROW)
    return Plot(panels, columns, _PANEL_INCHES * -(-len(runs) // columns))


def _rows_of(congestion: Rows, flow_ids: list[int]) -> pl.DataFrame:
    return answer(congestion.lazy().filter(pl.col("flow_id").is_in(flow_ids)))


def _largest(traces: Sequence[Rows], flows: pl.DataFrame) -> list[int]:
    """Return the IDs of the largest traced flows. Equal sizes are ordered by ID, and unknown sizes come last."""
    ids = pl.concat([answer(rows.lazy().select(pl.col("flow_id").unique())) for rows in traces]).unique()
    sized = ids.join(flows.select("flow_id", "size_bytes"), on="flow_id", how="left")
    ordered = sized.sort("size_bytes", "flow_id", descending=[True, False], nulls_last=True)
    return ordered["flow_id"].head(MAXIMUM_FLOWS).to_list()


def _panel(title: str, label: str, traced: pl.DataFrame, flow_ids: list[int], quantity: _Quantity) -> PlotPanel:
    """Return a line for each flow that has values."""
    lines = []
    for flow_id, look in zip(flow_ids, numbered_looks(len(flow_ids)), strict=True):
        rows = traced.filter(pl.col("flow_id") == flow_id).select("time_us", value=quantity.value).drop_nulls()
        times_us, values = (_thinned(rows[name].to_numpy()) for name in ("time_us", "value"))
        if values.size:
            lines.append(Line(f"flow {flow_id}", look, times_us, values, "after", 1.4))
    text = "" if lines else quantity.empty if traced.height else "nothing was traced"
    x, y = (highest_fitted(points) for points in ((line.x for line in lines), (line.y for line in lines)))
    return PlotPanel(title, Axis(TIME, 0, x), Axis(label, 0, y), lines, text)


def _thinned(values: Points) -> Points:
    """Return at most MAXIMUM_POINTS of the values, at equal distances, including the last value."""
    if values.size <= MAXIMUM_POINTS:
        return values
    return values[np.linspace(0, values.size - 1, MAXIMUM_POINTS).astype(np.int64)]
