# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The plots of a run and of a comparison, one function per plot. `series` computes the plotted data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from sfc_testbed.analysis.metrics.buffers import hottest_queue, hottest_switch, queue_series, switches, whole_buffers
from sfc_testbed.analysis.metrics.flows import ALL_CLASSES, SizeBinFigures, of_class, size_bin_edges, slowdown_by_size
from sfc_testbed.analysis.metrics.percentiles import minimum_count
from sfc_testbed.analysis.plots.description import (
    TIME,
    Axis,
    Band,
    Item,
    Level,
    Line,
    Marker,
    Plot,
    PlotPanel,
    byte_axis,
    fault_items,
)
from sfc_testbed.analysis.plots.palette import BACKDROP, DASH_CYCLE, LineLook, scheme_color, scheme_looks
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
from sfc_testbed.analysis.plots.series import (
    Points,
    Steps,
    bin_labels,
    bin_percentiles,
    buffer_steps,
    cumulative_slowdown,
    high_water,
    hottest_buffer_steps,
    thin,
)
from sfc_testbed.request.spec import FaultSpan
from sfc_testbed.telemetry.reader import Rows

PERCENT_MARKERS = {50: "o", 95: "s", 99: "^"}
PERCENT_DASHES = {50: DASH_CYCLE[2], 95: DASH_CYCLE[1], 99: DASH_CYCLE[0]}
MAXIMUM_BACKDROP_SWITCHES = 8
_OTHERS = "other switches"
_BACKDROP_STEPS = 200
"""The number of points of a background line."""
MAXIMUM_CLASS_PANELS = 3
_LEVEL_SPACING = 0.07
"""The share of the axis that the name of a level takes up."""


def plot_buffer(
    queues: Rows,
    *,
    scheme: str,
    thresholds_bytes: Mapping[str, int] | None = None,
    faults: Sequence[FaultSpan] = (),
) -> Plot:
    """Plot high-water marks over time: the buffer of the most congested switch (left) and its longest queue (right)."""
    whole = whole_buffers(queues)
    switch = hottest_switch(whole)
    look = LineLook(scheme_color(scheme), DASH_CYCLE[0])
    grey = LineLook(BACKDROP, DASH_CYCLE[0])
    others = [name for name in switches(whole) if name != switch][:MAXIMUM_BACKDROP_SWITCHES]
    lines = [_Steps(_OTHERS, grey, thin(buffer_steps(whole, name), _BACKDROP_STEPS), name, False) for name in others]
    lines += [_Steps(switch, look, buffer_steps(whole, switch))] if switch else []
    faults = faults if whole.height else ()
    left = _steps_panel(f"Shared buffer of {switch}" if switch else "Shared buffer", lines, faults, fill=True)
    if others:
        left = replace(left, items=(*left.items, Line(_OTHERS, grey, np.empty(0), np.empty(0))))
    queue = hottest_queue(queues, switch)
    where = f": {queue.switch} port {queue.port} class {queue.traffic_class}" if queue else ""
    longest = [_Steps("longest queue", look, high_water(queue_series(queues, queue)), "", False)] if queue else []
    right = _steps_panel(f"Longest queue{where}", longest, faults, fill=True, thresholds_bytes=thresholds_bytes)
    return Plot((left, right), has_legend=bool(others))


def plot_fct(flows: pl.DataFrame, *, scheme: str, traffic_class: str = ALL_CLASSES) -> Plot:
    """Plot FCT slowdowns: P50, P95 and P99 of one class by message size (left) and the CDFs of all classes (right)."""
    flows = flows.select("tag", "size_bytes", "slowdown")  # whole rows of a class would double the memory of a run
    class_flows = of_class(flows, traffic_class)
    bins = slowdown_by_size(class_flows, size_bin_edges(class_flows))
    color = scheme_color(scheme)
    lines = [
        (f"P{percent}", LineLook(color, PERCENT_DASHES[percent]), bin_percentiles(bins, percent), marker)
        for percent, marker in PERCENT_MARKERS.items()
    ]
    title = f"FCT slowdown by message size ({traffic_class})"
    tags = sorted(flows["tag"].unique().to_list())
    looks = scheme_looks([scheme] * len(tags))
    by_tag = [(tag, look, of_class(flows, tag)) for tag, look in zip(tags, looks, strict=True)]
    return Plot(
        (
            _bins_panel(title, bins, lines, "no size bin has enough flows"),
            _distribution_panel("CDF of FCT slowdown, all sizes", by_tag),
        )
    )


def plot_buffers_compared(runs: Sequence[PlottedRun], faults: Sequence[FaultSpan] = ()) -> Plot:
    """Plot the high-water marks of each run's most congested switch over time."""
    lines = []
    for run, look in zip(runs, scheme_looks([run.scheme for run in runs]), strict=True):
        hottest = hottest_buffer_steps(run.queues)
        if hottest:
            lines.append(_Steps(f"{run.label} ({hottest[0]})", look, hottest[1]))
    return Plot((_steps_panel("Shared buffer of the most congested switch", lines, faults),), legend_columns=4)


def plot_beside_incast(runs: Sequence[PlottedRun], traffic_class: str, faults: Sequence[FaultSpan] = ()) -> Plot:
    """Plot the effect of an incast on other traffic.

    Left: the FCT slowdown of the other traffic. Right: the buffer of the most congested switch over time.
    """
    looks = scheme_looks([run.scheme for run in runs])
    tails = [(run.label, look, of_class(run.flows, traffic_class)) for run, look in zip(runs, looks, strict=True)]
    hottest = [hottest_buffer_steps(run.queues) for run in runs]
    lines = [_Steps(run.label, look, named[1]) for run, look, named in zip(runs, looks, hottest, strict=True) if named]
    return Plot(
        (
            _tail_panel(f"FCT slowdown of {traffic_class} flows", tails),
            _steps_panel("Buffer of the most congested switch", lines, faults),
        )
    )


def plot_fct_by_size_compared(runs: Sequence[PlottedRun], traffic_class: str = ALL_CLASSES) -> Plot:
    """Plot P95 and P99 FCT slowdown by message size, one line per run. All runs share the size bins."""
    flows = [of_class(run.flows, traffic_class) for run in runs]
    edges = size_bin_edges(pl.concat(flows)) if flows else ()
    binned = [slowdown_by_size(frame, edges) for frame in flows]
    looks = scheme_looks([run.scheme for run in runs])
    panels = []
    for percent in (95, 99):
        lines = [
            (run.label, look, bin_percentiles(bins, percent), PERCENT_MARKERS[percent])
            for run, look, bins in zip(runs, looks, binned, strict=True)
        ]
        title = f"P{percent} FCT slowdown by message size ({traffic_class})"
        empty = f"P{percent} needs {minimum_count(percent)} flows per size bin"
        panels.append(_bins_panel(title, binned[0] if binned else [], lines, empty))
    drawn = [panel.y for panel in panels if panel.items]
    low, high = min((y.low for y in drawn), default=0.0), max((y.high for y in drawn), default=1.0)
    return Plot([replace(panel, y=replace(panel.y, low=low, high=high)) for panel in panels])


def plot_fct_compared(runs: Sequence[PlottedRun], traffic_classes: Sequence[str]) -> Plot:
    """Plot the CDF of FCT slowdown: one panel for each of the first three traffic classes, one line per run."""
    shown = list(traffic_classes)[:MAXIMUM_CLASS_PANELS] or [ALL_CLASSES]
    looks = scheme_looks([run.scheme for run in runs])
    return Plot(
        [
            _distribution_panel(
                f"CDF of FCT slowdown ({name})",
                [(run.label, look, of_class(run.flows, name)) for run, look in zip(runs, looks, strict=True)],
            )
            for name in shown
        ]
    )


@dataclass(frozen=True)
class _Steps:
    label: str
    look: LineLook
    steps: Steps = field(repr=False)
    name: str = ""
    in_legend: bool = True


def _steps_panel(
    title: str,
    lines: Sequence[_Steps],
    faults: Sequence[FaultSpan],
    *,
    fill: bool = False,
    thresholds_bytes: Mapping[str, int] | None = None,
) -> PlotPanel:
    """Return step lines over model time. Each value is that of the interval before its time.

    `fill`: whether to shade the area below the last line.
    """
    drawn = [line for line in lines if line.steps.values.size]
    marks = thresholds_bytes or {}
    highest = max(
        [*(float(line.steps.values.max()) for line in drawn), *(marks.values() if drawn else ())], default=0.0
    )
    y, scale = byte_axis("High-water mark", highest)
    if not drawn:
        return PlotPanel(title, Axis(TIME), y, text="nothing was queued")
    end_us = max(float(line.steps.times_us[-1]) for line in drawn)
    items: list[Item] = []
    for line in drawn:
        steps = thin(line.steps)
        points = (steps.times_us, steps.values / scale)
        items.append(Line(line.label, line.look, *points, "before", 1.5, name=line.name, in_legend=line.in_legend))
    if fill:
        items.append(Band(line.label, line.look.color, *points, alpha=0.14))
    items += [Level(names, value / scale) for names, value in _named_levels(marks, highest)]
    return PlotPanel(title, Axis(TIME, 0, end_us), y, (*items, *fault_items(faults, end_us)))


def _named_levels(marks: Mapping[str, int], highest: float) -> Iterator[tuple[str, int]]:
    """Yield levels from the top down. Where names would overlap, the upper line carries the names of all of them."""
    levels = sorted(marks.items(), key=lambda level: -level[1])
    while levels:
        above = levels[0][1]
        near = [name for name, value in levels if above - value <= _LEVEL_SPACING * max(highest, 0.0)]
        yield ", ".join(near), above
        yield from (("", value) for _, value in levels[1 : len(near)])
        levels = levels[len(near) :]


def _bins_panel(
    title: str,
    bins: Sequence[SizeBinFigures],
    lines: Sequence[tuple[str, LineLook, Points, str]],
    empty: str,
) -> PlotPanel:
    """Return one point per line and size bin. Bins have equal width on the axis; slowdown is logarithmic."""
    x, y = Axis("Message size up to"), Axis("FCT slowdown")
    values = np.concatenate([points for _, _, points, _ in lines]) if lines else np.empty(0)
    values = values[np.isfinite(values)]
    if not values.size:
        return PlotPanel(title, x, y, text=empty)
    places = np.arange(len(bins), dtype=np.float64)
    ticks = list(zip(places.tolist(), bin_labels(bins), strict=True))
    return PlotPanel(
        title,
        Axis(x.label, -0.5, len(bins) - 0.5, ticks=ticks, slant_degrees=35 if len(bins) > 4 else 0),
        Axis(y.label, min(float(values.min()), 1.0) / 1.05, max(float(values.max()), 2.0) * 1.3, is_log=True),
        [
            Line(label, look, places, points, marker=Marker(marker))
            for label, look, points, marker in lines
            if np.isfinite(points).any()
        ],
    )


def _distribution_panel(title: str, lines: Sequence[tuple[str, LineLook, pl.DataFrame]]) -> PlotPanel:
    """Return the CDF of each line's flows. Flows that did not complete keep the curve below 1."""
    y = Axis("Share of flows", 0, 1.02)
    curves = [(label, look, *cumulative_slowdown(flows)) for label, look, flows in lines]
    drawn = [curve for curve in curves if curve[2].size]
    if not drawn:
        return PlotPanel(title, Axis("FCT slowdown"), y, text="no flow completed")
    low = min(float(values[0]) for _, _, values, _ in drawn)
    high = max(float(values[-1]) for _, _, values, _ in drawn)
    x = Axis("FCT slowdown", min(low, 1.0) / 1.03, max(high, 2.0) * 1.1, is_log=True)
    return PlotPanel(title, x, y, [Line(label, look, values, shares, "after") for label, look, values, shares in drawn])


def _tail_panel(title: str, lines: Sequence[tuple[str, LineLook, pl.DataFrame]]) -> PlotPanel:
    """Return the share of flows with a higher slowdown (the complementary CDF) on a logarithmic axis.

    A line crosses 1 % at its P99. Flows that did not complete count as slower than all others.
    """
    x, y = "FCT slowdown", "Flows with higher slowdown (%)"
    curves = [(label, look, flows.height, *cumulative_slowdown(flows)) for label, look, flows in lines]
    drawn = [curve for curve in curves if curve[3].size]
    if not drawn:
        return PlotPanel(title, Axis(x), Axis(y), text="no flow completed")
    low = min(float(curve[3][0]) for curve in drawn)
    high = max(float(curve[3][-1]) for curve in drawn)
    return PlotPanel(
        title,
        Axis(x, min(low, 1.0) / 1.03, max(high, 2.0) * 1.2, is_log=True),
        Axis(y, 80 / max(curve[2] for curve in drawn), 125, is_log=True),
        [
            *(
                Line(label, look, values[1:], 100 * (1 - shares[:-1]), "before")
                for label, look, _, values, shares in drawn
            ),
            Level("P50", 50.0),
            Level("P99", 1.0),
        ],
    )
