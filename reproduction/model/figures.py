# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The figures that experiments ask for: the paper's, panel by panel, and others beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from analysis.plots.distributions import DistributedRun, plot_distributions
from analysis.plots.panels import plot_panels
from analysis.plots.run import PlottedRun, plot_buffers_compared
from analysis.plots.sweep import SweepLine, plot_sweep
from reproduction.model.experiment import FigureSpec, Measurement, NotMeasured, Results
from reproduction.model.panels import PanelMaker
from reproduction.model.quantities import Quantity, measured_flows


def paper_figure(caption: str, *panels: PanelMaker, columns: int | None = None) -> FigureSpec:
    """A figure of the paper: its panels in its order, in rows of `columns`."""

    def draw(results: Results) -> Figure:
        return plot_panels([panel(results) for panel in panels], columns=columns)

    return FigureSpec("figure", caption, draw)


def buffer_over_time(where: Mapping[str, Any] | None = None, name: str = "buffer") -> FigureSpec:
    """Buffer of each run's hottest switch over time."""

    def draw(results: Results) -> Figure:
        return plot_buffers_compared([_plotted(each) for each in _at(results, where)])

    return FigureSpec(name, f"Shared buffer of the hottest switch over time{_said(where)}.", draw)


def distributions(where: Mapping[str, Any] | None = None, name: str = "distributions") -> FigureSpec:
    """Cumulative distributions of buffers, receiver throughput and feedback delay."""

    def draw(results: Results) -> Figure:
        return plot_distributions([_distributed(each) for each in _at(results, where)])

    return FigureSpec(name, f"Per-switch buffer, receiver throughput and BTS feedback delay{_said(where)}.", draw)


def against(axis: str, of: Quantity, where: Mapping[str, Any] | None = None, name: str = "") -> FigureSpec:
    """A quantity over an axis, one line a scheme."""

    def draw(results: Results) -> Figure:
        chosen = _at(results, where)
        places = list(dict.fromkeys(each.point.place[axis] for each in chosen))
        schemes = list(dict.fromkeys(each.point.scheme for each in chosen))
        lines = [
            SweepLine(scheme, scheme, [_value(chosen, scheme, axis, place, of) for place in places])
            for scheme in schemes
        ]
        return plot_sweep(places, lines, x_label=axis[:1].upper() + axis[1:], y_label=of.axis_label)

    file_name = name or re.sub(r"\W+", "-", f"{of.name} by {axis}".lower()).strip("-")
    return FigureSpec(file_name, f"{of.axis_label} over {axis}{_said(where)}.", draw)


def _value(chosen: list[Measurement], scheme: str, axis: str, place: Any, of: Quantity) -> float | None:
    for each in chosen:
        if each.point.scheme == scheme and each.point.place[axis] == place:
            try:
                return of.measure(each.run) / of.per_unit
            except NotMeasured:
                return None
    return None


def _at(results: Results, where: Mapping[str, Any] | None) -> list[Measurement]:
    return [each for each in results.measurements if (where or {}).items() <= each.point.place.items()]


def _said(where: Mapping[str, Any] | None) -> str:
    return f" at {', '.join(f'{name} {value}' for name, value in where.items())}" if where else ""


def _plotted(each: Measurement) -> PlottedRun:
    return PlottedRun(each.point.label, each.point.scheme, measured_flows(each.run), each.run.queues)


def _distributed(each: Measurement) -> DistributedRun:
    run = each.run
    window = run.result.measured_window_us
    return DistributedRun(each.point.label, each.point.scheme, run.flows, run.queues, run.signals, run.goodput, window)
