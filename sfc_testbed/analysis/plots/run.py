# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The plots of a run and of a comparison, one function per plot. `series` computes the plotted data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sfc_testbed.analysis.metrics.buffers import hottest_queue, queue_series, switches, whole_buffers
from sfc_testbed.analysis.metrics.flows import ALL_CLASSES, SizeBinFigures, of_class, size_bin_edges, slowdown_by_size
from sfc_testbed.analysis.metrics.percentiles import minimum_count
from sfc_testbed.analysis.plots.canvas import (
    PlottedRun,
    byte_axis,
    draw_faults,
    draw_level,
    legend_name,
    log_x,
    log_y,
    new_figure,
    say,
    share_legend,
    styled,
)
from sfc_testbed.analysis.plots.palette import BACKDROP, DASH_CYCLE, LineLook, scheme_color, scheme_looks
from sfc_testbed.analysis.plots.series import (
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
_BACKDROP_STEPS = 200
"""The number of points of a background line."""
MAXIMUM_CLASS_PANELS = 3
_LEVEL_SPACING = 0.07
"""The share of the axis that the name of a level takes up."""


@dataclass(frozen=True)
class _Line:
    label: str
    look: LineLook
    steps: Steps = field(repr=False)


@styled
def plot_buffer(
    queues: Rows,
    *,
    scheme: str,
    thresholds_bytes: Mapping[str, int] | None = None,
    faults: Sequence[FaultSpan] = (),
) -> Figure:
    """Plot high-water marks over time: the buffer of the most congested switch (left) and its longest queue (right)."""
    figure, (left, right) = new_figure(2)
    whole = whole_buffers(queues)
    hottest = hottest_buffer_steps(whole)
    switch = hottest[0] if hottest else None
    left.set_title(f"Shared buffer of {switch}" if switch else "Shared buffer")
    look = LineLook(scheme_color(scheme), DASH_CYCLE[0])
    grey = LineLook(BACKDROP, DASH_CYCLE[0])
    others = [name for name in switches(whole) if name != switch][:MAXIMUM_BACKDROP_SWITCHES]
    backdrop = [_Line(f"_{name}", grey, thin(buffer_steps(whole, name), _BACKDROP_STEPS)) for name in others]
    _draw_steps(left, [*backdrop, *([_Line(hottest[0], look, hottest[1])] if hottest else [])], fill=True)
    if backdrop:
        left.plot([], [], color=BACKDROP, label="other switches")
    queue = hottest_queue(queues, switch)
    where = f": {queue.switch} port {queue.port} class {queue.traffic_class}" if queue else ""
    right.set_title(f"Longest queue{where}")
    lines = [_Line("_queue", look, high_water(queue_series(queues, queue)))] if queue else []
    _draw_steps(right, lines, fill=True, thresholds_bytes=thresholds_bytes or {})
    for axes in (left, right):
        draw_faults(axes, faults if whole.height else ())
    if backdrop:
        share_legend(figure)
    return figure


@styled
def plot_fct(flows: pl.DataFrame, *, scheme: str, traffic_class: str = ALL_CLASSES) -> Figure:
    """Plot FCT slowdowns: P50, P95 and P99 of one class by message size (left) and the CDFs of all classes (right)."""
    figure, (left, right) = new_figure(2)
    flows = flows.select("tag", "size_bytes", "slowdown")  # whole rows of a class would double the memory of a run
    class_flows = of_class(flows, traffic_class)
    bins = slowdown_by_size(class_flows, size_bin_edges(class_flows))
    left.set_title(f"FCT slowdown by message size ({traffic_class})")
    color = scheme_color(scheme)
    lines = [
        (f"P{percent}", LineLook(color, PERCENT_DASHES[percent]), bin_percentiles(bins, percent), marker)
        for percent, marker in PERCENT_MARKERS.items()
    ]
    _draw_bins(left, bins, lines, "no size bin has enough flows")
    right.set_title("CDF of FCT slowdown, all sizes")
    tags = sorted(flows["tag"].unique().to_list())
    looks = scheme_looks([scheme] * len(tags))
    _draw_distribution(
        right, [(legend_name(tag), look, of_class(flows, tag)) for tag, look in zip(tags, looks, strict=True)]
    )
    share_legend(figure)
    return figure


@styled
def plot_buffers_compared(runs: Sequence[PlottedRun], faults: Sequence[FaultSpan] = ()) -> Figure:
    """Plot the high-water marks of each run's most congested switch over time."""
    figure, (axes,) = new_figure(1)
    axes.set_title("Shared buffer of the most congested switch")
    lines = []
    for run, look in zip(runs, scheme_looks([run.scheme for run in runs]), strict=True):
        hottest = hottest_buffer_steps(run.queues)
        if hottest:
            lines.append(_Line(f"{run.label} ({hottest[0]})", look, hottest[1]))
    _draw_steps(axes, lines)
    draw_faults(axes, faults if lines else ())
    share_legend(figure, columns=4)
    return figure


@styled
def plot_beside_incast(runs: Sequence[PlottedRun], traffic_class: str, faults: Sequence[FaultSpan] = ()) -> Figure:
    """Plot the effect of an incast on other traffic.

    Left: the FCT slowdown of the other traffic. Right: the buffer of the most congested switch over time.
    """
    figure, (left, right) = new_figure(2)
    looks = scheme_looks([run.scheme for run in runs])
    left.set_title(f"FCT slowdown of {traffic_class} flows")
    _draw_tail(
        left, [(run.label, look, of_class(run.flows, traffic_class)) for run, look in zip(runs, looks, strict=True)]
    )
    right.set_title("Buffer of the most congested switch")
    hottest = [hottest_buffer_steps(run.queues) for run in runs]
    lines = [_Line(run.label, look, named[1]) for run, look, named in zip(runs, looks, hottest, strict=True) if named]
    _draw_steps(right, lines)
    draw_faults(right, faults if lines else ())
    share_legend(figure)
    return figure


@styled
def plot_fct_by_size_compared(runs: Sequence[PlottedRun], traffic_class: str = ALL_CLASSES) -> Figure:
    """Plot P95 and P99 FCT slowdown by message size, one line per run. All runs share the size bins."""
    figure, panels = new_figure(2)
    flows = [of_class(run.flows, traffic_class) for run in runs]
    edges = size_bin_edges(pl.concat(flows)) if flows else ()
    binned = [slowdown_by_size(frame, edges) for frame in flows]
    looks = scheme_looks([run.scheme for run in runs])
    for axes, percent in zip(panels, (95, 99), strict=True):
        axes.set_title(f"P{percent} FCT slowdown by message size ({traffic_class})")
        lines = [
            (run.label, look, bin_percentiles(bins, percent), PERCENT_MARKERS[percent])
            for run, look, bins in zip(runs, looks, binned, strict=True)
        ]
        empty = f"P{percent} needs {minimum_count(percent)} flows per size bin"
        _draw_bins(axes, binned[0] if binned else [], lines, empty)
    drawn = [axes for axes in panels if axes.lines]
    for axes in drawn:
        log_y(axes, min(panel.get_ylim()[0] for panel in drawn), max(panel.get_ylim()[1] for panel in drawn))
    share_legend(figure)
    return figure


@styled
def plot_fct_compared(runs: Sequence[PlottedRun], traffic_classes: Sequence[str]) -> Figure:
    """Plot the CDF of FCT slowdown: one panel for each of the first three traffic classes, one line per run."""
    shown = list(traffic_classes)[:MAXIMUM_CLASS_PANELS] or [ALL_CLASSES]
    figure, panels = new_figure(len(shown))
    looks = scheme_looks([run.scheme for run in runs])
    for axes, traffic_class in zip(panels, shown, strict=True):
        axes.set_title(f"CDF of FCT slowdown ({traffic_class})")
        lines = [(run.label, look, of_class(run.flows, traffic_class)) for run, look in zip(runs, looks, strict=True)]
        _draw_distribution(axes, lines)
    share_legend(figure)
    return figure


def _draw_steps(
    axes: Axes,
    lines: Sequence[_Line],
    *,
    fill: bool = False,
    thresholds_bytes: Mapping[str, int] | None = None,
) -> None:
    """Draw step lines over model time. Each value covers the interval before its time. `fill` shades the last line."""
    axes.set_xlabel("Time (model µs)")
    drawn = [line for line in lines if line.steps.values.size]
    marks = thresholds_bytes or {}
    highest = max(
        [*(float(line.steps.values.max()) for line in drawn), *(marks.values() if drawn else ())], default=0.0
    )
    scale, unit = byte_axis(axes, highest)
    axes.set_ylabel(f"High-water mark ({unit})")
    if not drawn:
        say(axes, "nothing was queued")
        return
    for line in drawn:
        steps = thin(line.steps)
        axes.step(
            steps.times_us,
            steps.values / scale,
            where="pre",
            linewidth=1.5,
            color=line.look.color,
            linestyle=line.look.dashes,
            label=line.label,
        )
    if fill:
        axes.fill_between(
            steps.times_us, steps.values / scale, step="pre", color=line.look.color, alpha=0.14, linewidth=0
        )
    axes.set_xlim(0, max(float(line.steps.times_us[-1]) for line in drawn))
    for names, value in _named_levels(marks, highest):
        draw_level(axes, names, value / scale)


def _named_levels(marks: Mapping[str, int], highest: float) -> Iterator[tuple[str, int]]:
    """Yield levels from the top down. Where names would overlap, the upper line carries the names of all of them."""
    levels = sorted(marks.items(), key=lambda level: -level[1])
    while levels:
        above = levels[0][1]
        near = [name for name, value in levels if above - value <= _LEVEL_SPACING * max(highest, 0.0)]
        yield ", ".join(near), above
        yield from (("", value) for _, value in levels[1 : len(near)])
        levels = levels[len(near) :]


def _draw_bins(
    axes: Axes,
    bins: Sequence[SizeBinFigures],
    lines: Sequence[tuple[str, LineLook, np.typing.NDArray[np.float64], str]],
    empty: str,
) -> None:
    """Draw one point per line and size bin. Bins have equal width on the axis; slowdown is logarithmic."""
    axes.set_xlabel("Message size up to")
    axes.set_ylabel("FCT slowdown")
    values = np.concatenate([points for _, _, points, _ in lines]) if lines else np.empty(0)
    values = values[np.isfinite(values)]
    if not values.size:
        say(axes, empty)
        return
    places = np.arange(len(bins))
    for label, look, points, marker in lines:
        if np.isfinite(points).any():
            axes.plot(places, points, color=look.color, linestyle=look.dashes, marker=marker, markersize=5, label=label)
    axes.set_xticks(places, bin_labels(bins))
    for tick in axes.get_xticklabels() if len(bins) > 4 else ():
        tick.set(rotation=35, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.5, len(bins) - 0.5)
    log_y(axes, min(float(values.min()), 1.0) / 1.05, max(float(values.max()), 2.0) * 1.3)


def _draw_distribution(axes: Axes, lines: Sequence[tuple[str, LineLook, pl.DataFrame]]) -> None:
    """Draw the CDF of each line's flows. Flows that did not complete keep the curve below 1."""
    axes.set_xlabel("FCT slowdown")
    axes.set_ylabel("Share of flows")
    axes.set_ylim(0, 1.02)
    curves = [(label, look, *cumulative_slowdown(flows)) for label, look, flows in lines]
    drawn = [curve for curve in curves if curve[2].size]
    if not drawn:
        say(axes, "no flow completed")
        return
    low = min(float(values[0]) for _, _, values, _ in drawn)
    high = max(float(values[-1]) for _, _, values, _ in drawn)
    for label, look, values, shares in drawn:
        axes.step(values, shares, where="post", color=look.color, linestyle=look.dashes, label=label)
    log_x(axes, min(low, 1.0) / 1.03, max(high, 2.0) * 1.1)


def _draw_tail(axes: Axes, lines: Sequence[tuple[str, LineLook, pl.DataFrame]]) -> None:
    """Draw the share of flows with a higher slowdown (the complementary CDF) on a logarithmic axis.

    A line crosses 1 % at its P99. Flows that did not complete count as slower than all others.
    """
    axes.set_xlabel("FCT slowdown")
    axes.set_ylabel("Flows with higher slowdown (%)")
    curves = [(label, look, flows.height, *cumulative_slowdown(flows)) for label, look, flows in lines]
    drawn = [curve for curve in curves if curve[3].size]
    if not drawn:
        say(axes, "no flow completed")
        return
    for label, look, _, values, shares in drawn:
        axes.step(
            values[1:], 100 * (1 - shares[:-1]), where="pre", color=look.color, linestyle=look.dashes, label=label
        )
    for name, percent in (("P50", 50.0), ("P99", 1.0)):
        draw_level(axes, name, percent)
    log_y(axes, 80 / max(curve[2] for curve in drawn), 125)
    low = min(float(curve[3][0]) for curve in drawn)
    high = max(float(curve[3][-1]) for curve in drawn)
    log_x(axes, min(low, 1.0) / 1.03, max(high, 2.0) * 1.2)
