# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The figures of experiments: the paper's figures, made of panels, and additional ones."""

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
    """Return a figure of the paper, with the paper's panels in its order, in rows of `columns`."""

    def draw(results: Results) -> Figure:
        return plot_panels([panel(results) for panel in panels], columns=columns)

    return FigureSpec("figure", caption, draw)


def buffer_over_time(where: Mapping[str, Any] | None = None, name: str = "buffer") -> FigureSpec:
    """Return a figure of the buffer of each run's fullest switch over time."""

    def draw(results: Results) -> Figure:
        return plot_buffers_compared([_plotted_run(measurement) for measurement in _at(results, where)])

    return FigureSpec(name, f"Shared buffer of the fullest switch over time{_place(where)}.", draw)


def distributions(where: Mapping[str, Any] | None = None, name: str = "distributions") -> FigureSpec:
    """Return a figure of the distributions of buffers, receiver throughput and feedback delay."""

    def draw(results: Results) -> Figure:
        return plot_distributions([_distributed_run(measurement) for measurement in _at(results, where)])

    return FigureSpec(name, f"Per-switch buffer, receiver throughput and BTS feedback delay{_place(where)}.", draw)


def figure_over_axis(axis: str, of: Quantity, where: Mapping[str, Any] | None = None, name: str = "") -> FigureSpec:
    """Return a figure of a quantity over an axis, one line per scheme."""

    def draw(results: Results) -> Figure:
        chosen = _at(results, where)
        places = list(dict.fromkeys(measurement.point.place[axis] for measurement in chosen))
        schemes = list(dict.fromkeys(measurement.point.scheme for measurement in chosen))
        lines = [
            SweepLine(scheme, scheme, [_value(chosen, scheme, axis, place, of) for place in places])
            for scheme in schemes
        ]
        return plot_sweep(places, lines, x_label=axis[:1].upper() + axis[1:], y_label=of.axis_label)

    file_name = name or re.sub(r"\W+", "-", f"{of.name} by {axis}".lower()).strip("-")
    return FigureSpec(file_name, f"{of.axis_label} over {axis}{_place(where)}.", draw)


def _value(chosen: list[Measurement], scheme: str, axis: str, place: Any, of: Quantity) -> float | None:
    for measurement in chosen:
        if measurement.point.scheme == scheme and measurement.point.place[axis] == place:
            try:
                return of.measure(measurement.run) / of.per_unit
            except NotMeasured:
                return None
    return None


def _at(results: Results, where: Mapping[str, Any] | None) -> list[Measurement]:
    place = (where or {}).items()
    return [measurement for measurement in results.measurements if place <= measurement.point.place.items()]


def _place(where: Mapping[str, Any] | None) -> str:
    return f" at {', '.join(f'{name} {value}' for name, value in where.items())}" if where else ""


def _plotted_run(measurement: Measurement) -> PlottedRun:
    point, run = measurement.point, measurement.run
    return PlottedRun(point.label, point.scheme, measured_flows(run), run.queues)


def _distributed_run(measurement: Measurement) -> DistributedRun:
    point, run = measurement.point, measurement.run
    window = run.result.measured_window_us
    return DistributedRun(point.label, point.scheme, run.flows, run.queues, run.signals, run.goodput, window)
