# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Panels of the paper's figures: which runs each shows, under the paper's names, on the paper's axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from analysis.metrics.buffers import natural_key
from analysis.metrics.flows import ALL_CLASSES, SIZE_BIN_COUNT, of_class, size_bin_edges, slowdown_by_size, slowdowns
from analysis.metrics.goodput import rates_without_gaps, tag_rates
from analysis.metrics.percentiles import Values, minimum_count
from analysis.plots.distributions import buffer_samples
from analysis.plots.panels import Curve, CurveLook, Kind, Panel, numbered_looks, scheme_looks, with_hollow_markers
from analysis.plots.series import bin_labels, bin_percentiles, buffer_steps, hottest_buffer_steps
from analysis.results.comparison import headline_class
from analysis.results.stored import Run
from reproduction.model.experiment import Measurement, NotMeasured, Results
from reproduction.model.quantities import Quantity, measured_flows, receivers_gbps

PanelMaker = Callable[[Results], Panel]
Level = Callable[[Results], tuple[str, float]]
"""A line across a panel, by the size of the runs."""


@dataclass(frozen=True)
class Shown:
    """The runs of a panel: schemes with the paper's names for their curves, at some place of the axes."""

    names: Mapping[str, str]
    where: Mapping[str, Any] = field(default_factory=dict)
    by: str | None = None
    """An axis of whose places each has a curve of its own, by its name instead of the scheme's."""

    def at(self, **place: Any) -> Shown:
        """The same schemes elsewhere."""
        return Shown(self.names, place, self.by)

    def runs(self, results: Results) -> list[tuple[str, CurveLook, Measurement]]:
        """Return the measured runs with the names and looks of their curves, in the order of the names."""
        found = [
            each
            for scheme in self.names
            for each in results.measurements
            if each.point.scheme == scheme and self.where.items() <= each.point.place.items()
        ]
        if self.by is not None:
            labels = [f"{self.by} = {each.point.place[self.by]}" for each in found]
            return list(zip(labels, numbered_looks(len(found)), found, strict=True))
        looks = self.looks()
        return [(self.names[each.point.scheme], looks[each.point.scheme], each) for each in found]

    def looks(self) -> Mapping[str, CurveLook]:
        """Return the look of each scheme's curve."""
        return dict(zip(self.names, scheme_looks([*self.names]), strict=True))


def flow_controls(control: str) -> Shown:
    """The three that most figures have, with this congestion control."""
    return Shown({f"irn+{control}": "IRN (no FC)", f"onramp+{control}": "OnRamp", f"sfc+{control}": "SFC"})


def over_time(
    title: str,
    shown: Shown,
    *,
    y_label: str = "Buffer used (MB)",
    switch: str | None = None,
    until_ms: float = np.inf,
    level: Level | None = None,
) -> PanelMaker:
    """High-water marks of a switch's shared buffer, by default of each run's hottest."""

    def make(results: Results) -> Panel:
        curves = []
        for name, look, each in shown.runs(results):
            queues = each.run.queues
            found = (switch, buffer_steps(queues, switch)) if switch else hottest_buffer_steps(queues)
            if found is not None:
                times_ms, depths = found[1].times_us / 1e3, found[1].values / 1e6
                is_shown = times_ms <= until_ms
                curves.append(Curve(name, look, times_ms[is_shown], depths[is_shown]))
        line = _line(level, results)
        return Panel(title, "Time (ms)", y_label, "steps", curves, level=line, empty="nothing was queued")

    return make


def by_size(title: str, shown: Shown, *percents: int) -> PanelMaker:
    """Make a panel of slowdown percentiles of the traffic that is not incast, over ten bins of message sizes.

    There are fewer bins if ten bins would hold too few flows for the first percentile. The last percentile's curves
    are named and have full markers; `title` should say which percentile the hollow markers are.
    """

    def make(results: Results) -> Panel:
        runs = shown.runs(results)
        tag = headline_class(runs[0][-1].run.result) if runs else ALL_CLASSES
        flows = [of_class(measured_flows(each.run), tag) for *_, each in runs]
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


def _distribution(title: str, shown: Shown, x_label: str, measure: Callable[[Run], Values]) -> PanelMaker:
    def make(results: Results) -> Panel:
        curves = []
        for name, look, each in shown.runs(results):
            try:
                curves.append(Curve(name, look, measure(each.run)))
            except NotMeasured:
                continue
        return Panel(title, x_label, "Cumulative share", "shares", curves)

    return make


def buffer_distribution(title: str, shown: Shown) -> PanelMaker:
    """High-water marks of every switch's shared buffer in every sampling interval."""
    return _distribution(title, shown, "Buffer used per switch (MB)", lambda run: buffer_samples(run.queues) / 1e6)


def receiver_distribution(title: str, shown: Shown) -> PanelMaker:
    """What each receiver got, as the claims take it."""
    return _distribution(title, shown, "Throughput (Gb/s)", receivers_gbps)


def slowdown_distribution(title: str, shown: Shown, tag: str) -> PanelMaker:
    """Slowdowns of the finished flows of a class."""
    return _distribution(title, shown, "FCT slowdown", lambda run: slowdowns(of_class(run.flows, tag)))


def over_axis(title: str, shown: Shown, axis: str, of: Quantity, level: Level | None = None) -> PanelMaker:
    """Make a panel of a quantity over an axis, one curve a scheme; places that are words are equally far apart."""

    def make(results: Results) -> Panel:
        places = list(dict.fromkeys(each.point.place[axis] for *_, each in shown.runs(results)))
        are_numbers = all(isinstance(place, (int, float)) for place in places)
        ticks = () if are_numbers else [str(place) for place in places]
        curves, looks = [], shown.looks()
        for scheme, name in shown.names.items():
            points = [
                (float(each.point.place[axis]) if are_numbers else float(places.index(each.point.place[axis])), value)
                for *_, each in Shown({scheme: name}, shown.where).runs(results)
                if (value := _measured(of, each.run)) is not None
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


def beside_paper(title: str, shown: Shown, axis: str, of: Quantity, papers: Mapping[Any, float]) -> PanelMaker:
    """A quantity at places that are words, and the paper's figures there."""
    measured = over_axis(title, shown, axis, of)

    def make(results: Results) -> Panel:
        panel = measured(results)
        values = [papers[place] for place in papers if str(place) in panel.ticks]
        places = [float(panel.ticks.index(str(place))) for place in papers if str(place) in panel.ticks]
        look = CurveLook(numbered_looks(1)[0].color, marker="s", is_filled=False)
        theirs = Curve("the paper", look, np.array(places), np.array(values, dtype=np.float64))
        return Panel(title, panel.x_label, panel.y_label, "marks", [*panel.curves, theirs], panel.ticks)

    return make


def goodput_by_class(title: str, scheme: str) -> PanelMaker:
    """What the receivers of each traffic class got over time, all together."""

    def make(results: Results) -> Panel:
        curves = []
        for *_, each in Shown({scheme: scheme}).runs(results):
            rates = tag_rates(each.run.goodput, each.run.flows)
            tags = sorted(rates["tag"].unique(), key=natural_key)
            for tag, look in zip(tags, numbered_looks(len(tags)), strict=True):
                begins, values = rates_without_gaps(rates.filter(pl.col("tag") == tag))
                ends = np.append(begins, begins[-1]) / 1e3
                curves.append(Curve(str(tag), look, ends, np.concatenate([[0.0], values[:-1], [0.0]])))
        label, empty = "Throughput (Gb/s)", "nothing was delivered"
        return Panel(title, "Time (ms)", label, "steps", curves, has_common_time=True, empty=empty)

    return make
