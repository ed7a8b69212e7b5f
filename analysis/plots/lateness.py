# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Plots of lateness: over the time of one run, and the errors that it causes over many runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.plots.canvas import MUTED, draw_faults, draw_level, log_x, log_y, new_figure, say, share_legend, styled
from analysis.plots.palette import DASH_CYCLE, OTHER_COLORS, scheme_looks
from analysis.plots.series import Steps, thin
from analysis.results.limits import DEGRADED_ABOVE, ERROR_PER_LATENESS, INVALID_ABOVE
from request.spec import FaultSpan

_LEAST_PERCENT = 0.1
"""The lowest value of the logarithmic axes. Smaller values are drawn there."""

_MOST_MARKERS = 60
"""The most points that get markers. With more points a line is clear without them, and a marker takes as many bytes
as ten points."""

PART_COLORS = {"host": OTHER_COLORS[0], "switch": OTHER_COLORS[1]}
PART_NAMES = {"host": "hosts", "switch": "switches"}


@styled
def plot_lateness(lateness: pl.DataFrame, *, base_rtt_us: float, faults: Sequence[FaultSpan] = ()) -> Figure:
    """Plot the highest lateness of hosts and of switches in each interval, and the verdict's limits for the P99."""
    figure, (axes,) = new_figure(1, height_inches=3.6)
    axes.set_title("Lateness over time")
    axes.set_xlabel("Time (model µs)")
    axes.set_ylabel("Latest departure (% of base RTT)")
    latest = lateness.group_by("part", "time_us").agg(pl.col("max_us").max()).sort("time_us")
    if latest.is_empty():
        say(axes, "no data")
        return figure
    highest = 100 * INVALID_ABOVE
    for part, name in PART_NAMES.items():
        rows = latest.filter(pl.col("part") == part)
        shares = np.maximum(100 * rows["max_us"].to_numpy() / base_rtt_us, _LEAST_PERCENT)
        if rows.height:
            steps = thin(Steps(rows["time_us"].to_numpy(), shares))
            color, dashes = PART_COLORS[part], DASH_CYCLE[0 if part == "host" else 1]
            marker = "." if rows.height <= _MOST_MARKERS else None
            axes.plot(
                steps.times_us, steps.values, color=color, linestyle=dashes, marker=marker, markersize=4, label=name
            )
            highest = max(highest, float(shares.max()))
    log_y(axes, _LEAST_PERCENT / 1.1, 1.5 * highest)
    axes.set_xlim(0, float(latest["time_us"].to_numpy().max()))
    draw_level(axes, "P99 of a faithful run", 100 * DEGRADED_ABOVE)
    draw_level(axes, "P99 of an invalid run", 100 * INVALID_ABOVE)
    draw_faults(axes, faults)
    share_legend(figure)
    return figure


@dataclass(frozen=True)
class ErrorPoint:
    """A live run compared with its virtual run.

    Lateness is a share of the base RTT. Errors are shares of the virtual figures.
    """

    curve: str
    """The name of the curve. Runs that differ only in dilation belong to one curve."""
    scheme: str
    lateness: float
    peak_error: float
    p95_error: float | None


@styled
def plot_error_against_lateness(points: Sequence[ErrorPoint]) -> Figure:
    """Plot the errors of the peak buffer (left) and of the P95 slowdown (right) against lateness, one line per curve.

    Vertical lines show the verdict's limits.
    """
    figure, (left, right) = new_figure(2, height_inches=4.6)
    curves = {point.curve: [other for other in points if other.curve == point.curve] for point in points}
    looks = scheme_looks([curve[0].scheme for curve in curves.values()])
    for axes, title in ((left, "Error of peak buffer"), (right, "Error of P95 slowdown")):
        axes.set_title(title)
        axes.set_xlabel("Lateness P99 (% of base RTT)")
        axes.set_ylabel("Difference from the virtual clock (%)")
    highest = _LEAST_PERCENT
    for (name, curve), look in zip(curves.items(), looks, strict=True):
        late = [_percent(point.lateness) for point in curve]
        peak = [_percent(point.peak_error) for point in curve]
        with_p95 = [point for point in curve if point.p95_error is not None]
        p95 = [_percent(point.p95_error or 0) for point in with_p95]
        left.plot(late, peak, color=look.color, linestyle=look.dashes, marker="o", markersize=5, label=name)
        late_p95 = [_percent(point.lateness) for point in with_p95]
        right.plot(late_p95, p95, color=look.color, linestyle=look.dashes, marker="o", markersize=5, label=name)
        highest = max(highest, *late, *peak, *p95)
    for axes in (left, right):
        log_x(axes, _LEAST_PERCENT / 1.1, max(highest, 100 * INVALID_ABOVE) * 1.5)
        log_y(axes, _LEAST_PERCENT / 1.1, max(highest, 100 * INVALID_ABOVE) * 1.5)
        _draw_limits(axes)
    left.axline((1, ERROR_PER_LATENESS), (10, 10 * ERROR_PER_LATENESS), color=MUTED, linewidth=1.0)
    share_legend(figure, columns=2)
    return figure


def _percent(share: float) -> float:
    return max(100 * share, _LEAST_PERCENT)


def _draw_limits(axes: Axes) -> None:
    for name, limit in (("faithful", DEGRADED_ABOVE), ("invalid", INVALID_ABOVE)):
        axes.axvline(100 * limit, color=MUTED, linewidth=1.0, linestyle=DASH_CYCLE[2])
        axes.annotate(
            f"< {name}" if name == "faithful" else f"{name} >",
            (100 * limit, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(-3 if name == "faithful" else 3, -4),
            textcoords="offset points",
            ha="right" if name == "faithful" else "left",
            va="top",
            color=MUTED,
            fontsize=9,
        )
