# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The pictures of this project's own pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from sfc_testbed.analysis.plots.canvas import log_x, log_y, new_figure, save_figure, say, share_legend, styled
from sfc_testbed.analysis.plots.palette import DASH_CYCLE, MUTED, OTHER_COLORS, scheme_looks
from sfc_testbed.analysis.results.limits import DEGRADED_ABOVE, ERROR_PER_LATENESS, INVALID_ABOVE
from sfc_testbed.simulators.comparison import PeerRun

_COLORS = 64
"""The colours of a picture. With more of them, its file is several times as large."""
_LEAST_PERCENT = 0.1
"""The lowest value of the logarithmic axes. Smaller values are drawn there."""
_MARGIN = 1.2
_MARKERS = ("o", "^")
"""The marker changes when the colors begin again."""


def write_picture(figure: Figure, path: Path) -> None:
    """Write a plot as a PNG file with few colours."""
    save_figure(figure, path)
    with_few_colors(path)


def with_few_colors(path: Path) -> None:
    """Reduce the colours of a PNG file."""
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(_COLORS).save(path, optimize=True)


@styled
def plot_fcts(runs: Sequence[PeerRun], peer: str) -> Figure:
    """Plot a point for each stored flow, on logarithmic axes, with the line of equal FCTs."""
    figure, (axes,) = new_figure(1, height_inches=6.0)
    axes.set_title(f"FCTs of the same flows, ours and the {peer}'s")
    points = [point for run in runs for point in run.points_us]
    if not points:
        say(axes, "no data")
        return figure
    low, high = min(map(min, points)) / _MARGIN, max(map(max, points)) * _MARGIN
    log_x(axes, low, high)
    log_y(axes, low, high)
    axes.set_xlabel(f"FCT in the {peer} (µs)")
    axes.set_ylabel("Our FCT (µs)")
    axes.axline((low, low), (high, high), color=MUTED, linewidth=1.0)
    for run, (marker, color) in zip(runs, product(_MARKERS * len(runs), OTHER_COLORS), strict=False):
        ours, theirs = zip(*run.points_us, strict=True)
        axes.scatter(theirs, ours, s=10, marker=marker, linewidths=0, color=color, label=run.label)
    share_legend(figure, columns=2)
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
