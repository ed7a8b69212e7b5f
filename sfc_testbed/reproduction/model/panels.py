# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Panels of the paper's figures: the runs of each panel, with the paper's curve names and axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from sfc_testbed.analysis.metrics.buffers import natural_key
from sfc_testbed.analysis.metrics.flows import ALL_CLASSES, SIZE_BIN_COUNT, of_class, size_bin_edges, slowdown_by_size
from sfc_testbed.analysis.metrics.goodput import rates_without_gaps, tag_rates
from sfc_testbed.analysis.metrics.percentiles import Values, minimum_count
from sfc_testbed.analysis.plots.description import Plot
from sfc_testbed.analysis.plots.panels import (
    Curve,
    CurveLook,
    Kind,
    Panel,
    numbered_looks,
    plot_panels,
    scheme_looks,
    with_hollow_markers,
)
from sfc_testbed.analysis.plots.series import bin_labels, bin_percentiles, buffer_steps, hottest_buffer_steps
from sfc_testbed.analysis.results.result import headline_class
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.reproduction.model.experiment import FigureSpec, Measurement, NotMeasured, Results
from sfc_testbed.reproduction.model.quantities import Quantity, measured_flows

PanelMaker = Callable[[Results], Panel]
Level = Callable[[Results], tuple[str, float]]
"""A function that returns the label and the value of a horizontal line, computed from the runs."""


@dataclass(frozen=True)
class CurveSelection:
    """The runs of a panel: schemes with the paper's names for their curves, at a place on the axes."""

    names: Mapping[str, str]
    where: Mapping[str, Any] = field(default_factory=dict)
    by: str | None = None
    """An axis with one curve per value, named after the value instead of the scheme."""

    def at(self, **place: Any) -> CurveSelection:
        """Return the same schemes at another place."""
        return CurveSelection(self.names, place, self.by)

    def runs(self, results: Results) -> list[tuple[str, CurveLook, Measurement]]:
        """Return the measured runs with the names and looks of their curves, in the order of the names."""
        chosen = [
            measurement
            for scheme in self.names
            for measurement in results.measurements
            if measurement.point.scheme == scheme and self.where.items() <= measurement.point.place.items()
        ]
        if self.by is not None:
            labels = [f"{self.by} = {measurement.point.place[self.by]}" for measurement in chosen]
            return list(zip(labels, numbered_looks(len(chosen)), chosen, strict=True))
        looks = self.looks()
        schemes = [measurement.point.scheme for measurement in chosen]
        return [
            (self.names[scheme], looks[scheme], measurement)
            for scheme, measurement in zip(schemes, chosen, strict=True)
        ]

    def looks(self) -> Mapping[str, CurveLook]:
        """Return the look of each scheme's curve."""
        return dict(zip(self.names, scheme_looks([*self.names]), strict=True))


def paper_figure(caption: str, *panels: PanelMaker, columns: int | None = None) -> FigureSpec:
    """Return a figure of the paper, with the paper's panels in its order, in rows of `columns`."""

    def draw(results: Results) -> Plot:
        return plot_panels([panel(results) for panel in panels], columns=columns)

    return FigureSpec(caption, draw)


def flow_controls(control: str) -> CurveSelection:
    """Return the three flow controls of most figures, with a congestion control."""
    return CurveSelection({f"irn+{control}": "IRN (no FC)", f"onramp+{control}": "OnRamp", f"sfc+{control}": "SFC"})


def over_time(
    title: str,
    selection: CurveSelection,
    *,
    y_label: str = "Buffer used (MB)",
    switch: str | None = None,
    until_ms: float = np.inf,
    level: Level | None = None,
) -> PanelMaker:
    """Make a panel of the peak shared buffer per sampling interval of a switch, by default of each run's fullest."""

    def make(results: Results) -> Panel:
        curves = []
        for name, look, measurement in selection.runs(results):
            queues = measurement.run.queues
            steps = (switch, buffer_steps(queues, switch)) if switch else hottest_buffer_steps(queues)
            if steps is not None:
                times_ms, depths = steps[1].times_us / 1e3, steps[1].values / 1e6
                is_shown = times_ms <= until_ms
                curves.append(Curve(name, look, times_ms[is_shown], depths[is_shown]))
        line = _line(level, results)
        return Panel(title, "Time (ms)", y_label, "steps", curves, level=line, empty="nothing was queued")

    return make


def by_size(title: str, selection: CurveSelection, *percents: int) -> PanelMaker:
    """Make a panel of slowdown percentiles of the traffic that is not incast, over ten bins of message sizes.

    There are fewer bins if ten bins would hold too few flows for the first percentile. The last percentile's curves
    are named and have full markers; `title` should say which percentile the hollow markers are.
    """

    def make(results: Results) -> Panel:
        runs = selection.runs(results)
        tag = headline_class(runs[0][-1].run.result) if runs else ALL_CLASSES
        flows = [of_class(measured_flows(measurement.run), tag) for *_, measurement in runs]
        edges = size_bin_edges(pl.concat(flows), _bins(flows, percents[0])) if flows else ()
        binned = [slowdown_by_size(frame, edges) for frame in flows]
        full = [look for _, look, _ in runs]
        hollow = with_hollow_markers(full)
        curves = [
            Curve(
                name if percent == percents[-1] else f"_{name}",
                look,
                np.arange(len(bins), dtype=np.float64),
                bin_percentiles(bins, percent),
            )
            for percent in percents
            for (name, *_), look, bins in zip(runs, full if percent == percents[-1] else hollow, binned, strict=True)
        ]
        ticks = bin_labels(binned[0]) if binned else ()
        empty = f"no size bin has the {minimum_count(percents[-1])} flows that a P{percents[-1]} needs"
        return Panel(title, "Message size up to", "FCT slowdown", "points", curves, ticks, is_log=True, empty=empty)

    return make


def _bins(flows: Sequence[pl.DataFrame], percent: int) -> int:
    fewest = min(frame["slowdown"].count() for frame in flows)
    return max(1, min(SIZE_BIN_COUNT, fewest // minimum_count(percent)))


def distribution(title: str, selection: CurveSelection, x_label: str, measure: Callable[[Run], Values]) -> PanelMaker:
    """Make a panel of the distribution of values in a run."""

    def make(results: Results) -> Panel:
        curves = []
        for name, look, measurement in selection.runs(results):
            try:
                curves.append(Curve(name, look, measure(measurement.run)))
            except NotMeasured:
                continue
        return Panel(title, x_label, "Cumulative share", "shares", curves)

    return make


def over_axis(title: str, selection: CurveSelection, axis: str, of: Quantity, level: Level | None = None) -> PanelMaker:
    """Make a panel of a quantity over an axis, one curve per scheme. Places that are words are spaced equally."""

    def make(results: Results) -> Panel:
        places = list(dict.fromkeys(measurement.point.place[axis] for *_, measurement in selection.runs(results)))
        are_numbers = all(isinstance(place, (int, float)) for place in places)
        ticks = () if are_numbers else [str(place) for place in places]
        curves, looks = [], selection.looks()
        for scheme, name in selection.names.items():
            points = [
                (float(place) if are_numbers else float(places.index(place)), value)
                for *_, measurement in CurveSelection({scheme: name}, selection.where).runs(results)
                for place in (measurement.point.place[axis],)
                if (value := _measured(of, measurement.run)) is not None
            ]
            x, y = np.array(points, dtype=np.float64).reshape(-1, 2).T
            curves.append(Curve(name, looks[scheme], x, y))
        label = axis[:1].upper() + axis[1:]
        kind: Kind = "points" if are_numbers else "marks"
        return Panel(title, label, of.axis_label, kind, curves, ticks, level=_line(level, results))

    return make


def _line(level: Level | None, results: Results) -> tuple[str, float] | None:
    try:
        return level(results) if level else None
    except NotMeasured:
        return None


def _measured(of: Quantity, run: Run) -> float | None:
    try:
        return of.measure(run) / of.per_unit
    except NotMeasured:
        return None


def beside_paper(
    title: str, selection: CurveSelection, axis: str, of: Quantity, papers: Mapping[Any, float]
) -> PanelMaker:
    """Make a panel of a quantity at places that are words, together with the paper's values."""
    measured = over_axis(title, selection, axis, of)

    def make(results: Results) -> Panel:
        panel = measured(results)
        values = [papers[place] for place in papers if str(place) in panel.ticks]
        places = [float(panel.ticks.index(str(place))) for place in papers if str(place) in panel.ticks]
        look = CurveLook(numbered_looks(1)[0].color, marker="s", is_filled=False)
        paper_curve = Curve("the paper", look, np.array(places), np.array(values, dtype=np.float64))
        return Panel(title, panel.x_label, panel.y_label, "marks", [*panel.curves, paper_curve], panel.ticks)

    return make


def goodput_by_class(title: str, scheme: str) -> PanelMaker:
    """Make a panel of the total goodput of each traffic class over time."""

    def make(results: Results) -> Panel:
        curves = []
        for *_, measurement in CurveSelection({scheme: scheme}).runs(results):
            rates = tag_rates(measurement.run.goodput, measurement.run.flows)
            tags = sorted(rates["tag"].unique(), key=natural_key)
            for tag, look in zip(tags, numbered_looks(len(tags)), strict=True):
                begins, values = rates_without_gaps(rates.filter(pl.col("tag") == tag))
                ends = np.append(begins, begins[-1]) / 1e3
                curves.append(Curve(str(tag), look, ends, np.concatenate([[0.0], values[:-1], [0.0]])))
        label, empty = "Throughput (Gb/s)", "nothing was delivered"
        return Panel(title, "Time (ms)", label, "steps", curves, has_common_time=True, empty=empty)

    return make
