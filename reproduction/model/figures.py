# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The figures that experiments ask for, by the paper's axes. Bridges from results to the plots of `analysis`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from analysis.plots.distributions import DistributedRun, plot_distributions
from analysis.plots.goodput import GoodputRun, plot_goodput
from analysis.plots.run import PlottedRun, plot_buffers_compared, plot_fct_by_size_compared
from analysis.plots.sweep import SweepLine, plot_sweep
from analysis.results.comparison import headline_class
from reproduction.model.experiment import FigureSpec, Measurement, NotMeasured, Results
from reproduction.model.quantities import Quantity, measured_flows


def buffer_over_time(where: Mapping[str, Any] | None = None, name: str = "buffer") -> FigureSpec:
    """Buffer of each run's hottest switch over time."""

    def draw(results: Results) -> Figure:
        return plot_buffers_compared([_plotted(each) for each in _at(results, where)])

    return FigureSpec(name, f"Shared buffer of the hottest switch over time{_said(where)}.", draw)


def fct_by_size(where: Mapping[str, Any] | None = None, name: str = "fct-by-size") -> FigureSpec:
    """P95 and P99 slowdown of the traffic that is not incast, over ten message size bins."""

    def draw(results: Results) -> Figure:
        chosen = _at(results, where)
        tag = headline_class(chosen[0].run.result) if chosen else "all"
        return plot_fct_by_size_compared([_plotted(each) for each in chosen], tag)

    return FigureSpec(name, f"Tail FCT slowdown by message size{_said(where)}.", draw)


def distributions(where: Mapping[str, Any] | None = None, name: str = "distributions") -> FigureSpec:
    """Cumulative distributions of buffers, receiver throughput and feedback delay."""

    def draw(results: Results) -> Figure:
        return plot_distributions([_distributed(each) for each in _at(results, where)])

    return FigureSpec(name, f"Per-switch buffer, receiver throughput and BTS feedback delay{_said(where)}.", draw)


def goodput_over_time(where: Mapping[str, Any] | None = None, name: str = "goodput") -> FigureSpec:
    """What the receivers of each traffic class got over time, a panel a run."""

    def draw(results: Results) -> Figure:
        return plot_goodput(
            [GoodputRun(each.point.label, each.run.flows, each.run.goodput) for each in _at(results, where)]
        )

    return FigureSpec(name, f"Goodput of every traffic class over time{_said(where)}.", draw)


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
