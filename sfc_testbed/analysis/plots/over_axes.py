# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The figure of a sweep over one of its axes: FCT slowdown and peak buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from sfc_testbed.analysis.formatting import three_digits
from sfc_testbed.analysis.plots.canvas import byte_axis, new_figure, say, share_legend, styled, visible_labels
from sfc_testbed.analysis.plots.palette import LineLook, scheme_looks
from sfc_testbed.analysis.results.over_seeds import Estimate

_WIDE_RANGE = 16
"""The ratio of the highest to the lowest value from which the x axis is logarithmic."""
_MOST_TICKS = 8
_MARGIN = 0.08
"""The share of the x axis that is free beyond the first and the last place."""
_ASIDE_INCHES = 0.07
"""The horizontal distance of two lines, so that their bars can be told apart."""
_HIGHEST_BAR = 2.0
"""The axis ends at this multiple of the highest mean: two seeds may give an interval that is many times as long."""


@dataclass(frozen=True)
class AxisLine:
    """A scheme's figures at the values of the axis; None where the scheme has no figure."""

    label: str
    scheme: str
    slowdowns: Sequence[Estimate | None]
    buffers_bytes: Sequence[Estimate | None]
    are_unfinished: Sequence[bool] = ()
    """Whether flows of these runs did not finish, at each value of the axis."""


@dataclass(frozen=True)
class QuantityLine:
    """A scheme's means of a quantity at the values of the axis; None where no run has the quantity."""

    label: str
    scheme: str
    means: Sequence[Estimate | None]


@styled
def plot_quantity(axis: str, places: Sequence[object], lines: Sequence[QuantityLine], *, title: str) -> Figure:
    """Plot a quantity over an axis, one line per scheme. Points and bars are those of `plot_over_axis`."""
    figure, (axes,) = new_figure(1)
    axes.set_title(title)
    axes.set_ylabel(title)
    axes.set_xlabel(axis)
    looks = scheme_looks([line.scheme for line in lines])
    _draw(axes, places, [(line.label, look, line.means) for line, look in zip(lines, looks, strict=True)], 1.0)
    lowest = min((_ends(mean)[0] for line in lines for mean in line.means if mean), default=0.0)
    if lowest < 0:
        axes.autoscale(axis="y")
    share_legend(figure, columns=4)
    return figure


@styled
def plot_over_axis(axis: str, places: Sequence[object], lines: Sequence[AxisLine], *, slowdown_title: str) -> Figure:
    """Plot the slowdown (left) and the peak buffer (right), one line per scheme.

    Points are means over the seeds, and vertical bars are their confidence intervals. The lines are shifted sideways
    by a few points, so that their bars do not cover each other. Crosses at the top mark unfinished runs.
    """
    figure, (left, right) = new_figure(2)
    looks = scheme_looks([line.scheme for line in lines])
    left.set_title(slowdown_title)
    left.set_ylabel("FCT slowdown")
    _draw(left, places, [(line.label, look, line.slowdowns) for line, look in zip(lines, looks, strict=True)], 1.0)
    right.set_title("Peak buffer")
    highest = max((estimate.mean for line in lines for estimate in line.buffers_bytes if estimate), default=0.0)
    scale, unit = byte_axis(right, highest)
    right.set_ylabel(f"Peak buffer ({unit})")
    _draw(
        right, places, [(line.label, look, line.buffers_bytes) for line, look in zip(lines, looks, strict=True)], scale
    )
    for axes in (left, right):
        axes.set_xlabel(axis)
        _mark_unfinished(axes, places, lines, looks)
    share_legend(figure, columns=4)
    return figure


def _draw(
    axes: Axes, places: Sequence[object], lines: Sequence[tuple[str, LineLook, Sequence[Estimate | None]]], scale: float
) -> None:
    ticks = _ticks(axes, places)
    highest = 0.0
    for number, (label, look, estimates) in enumerate(lines):
        known = [(tick, estimate) for tick, estimate in zip(ticks, estimates, strict=True) if estimate is not None]
        if not known:
            continue
        aside = ScaledTranslation((number - (len(lines) - 1) / 2) * _ASIDE_INCHES, 0, axes.figure.dpi_scale_trans)
        x = [tick for tick, _ in known]
        means = [estimate.mean / scale for _, estimate in known]
        shifted = axes.transData + aside
        axes.plot(
            x, means, color=look.color, linestyle=look.dashes, marker="o", markersize=5, label=label, transform=shifted
        )
        halves = [estimate.mean - _ends(estimate)[0] for _, estimate in known]
        bars = [half / scale or np.nan for half in halves]  # a point without an interval has no bar
        axes.errorbar(x, means, bars, fmt="none", ecolor=look.color, elinewidth=1.2, capsize=3, transform=shifted)
        longest = max(_ends(estimate)[1] for _, estimate in known) / scale
        highest = max(highest, min(longest, _HIGHEST_BAR * max(means)))
    if not axes.lines:
        say(axes, "no data")
        return
    axes.set_ylim(0, 1.08 * highest or 1.0)


def _ends(estimate: Estimate) -> tuple[float, float]:
    return estimate.interval or (estimate.mean, estimate.mean)


def _mark_unfinished(
    axes: Axes, places: Sequence[object], lines: Sequence[AxisLine], looks: Sequence[LineLook]
) -> None:
    """Draw a cross for each line and place whose runs did not finish, each line a little lower than the one before."""
    bottom, top = axes.get_ylim()
    for number, (line, look) in enumerate(zip(lines, looks, strict=True)):
        crosses = [tick for tick, is_marked in zip(_positions(places), line.are_unfinished, strict=False) if is_marked]
        height = top - (0.02 + 0.03 * number) * (top - bottom)
        label = line.label if crosses and line.label not in axes.get_legend_handles_labels()[1] else None
        if crosses:
            axes.plot(
                crosses,
                [height] * len(crosses),
                color=look.color,
                linestyle="none",
                marker="x",
                markersize=7,
                label=label,
            )
    axes.set_ylim(bottom, top)


def _positions(places: Sequence[object]) -> list[float]:
    """Return the x positions of the places: their values if all are numbers, else equal distances."""
    numbers = [float(place) for place in places if isinstance(place, (int, float)) and not isinstance(place, bool)]
    return numbers if len(numbers) == len(places) else [float(number) for number in range(len(places))]


def _ticks(axes: Axes, places: Sequence[object]) -> list[float]:
    """Set and return the x positions of the places."""
    ticks = _positions(places)
    if not all(isinstance(place, (int, float)) and not isinstance(place, bool) for place in places):
        axes.set_xlim(-0.4, len(places) - 0.6)
    else:
        low, high = min(ticks), max(ticks)
        if low > 0 and high >= _WIDE_RANGE * low:
            axes.set_xscale("log")
            axes.minorticks_off()
            margin = (high / low) ** _MARGIN
            axes.set_xlim(low / margin, high * margin)
        else:
            margin = _MARGIN * (high - low) or 0.5
            axes.set_xlim(low - margin, high + margin)
    step = -(-len(ticks) // _MOST_TICKS)
    axes.set_xticks(ticks[::step], visible_labels(map(place_text, places))[::step])
    return ticks


def place_text(place: object) -> str:
    """Return the tick label of a place. A setting of 250000 is shown as 250,000, not as 250 KB, to keep its value."""
    if isinstance(place, bool):
        return str(place).lower()
    if not isinstance(place, (int, float)):
        return str(place)
    return f"{place:,}" if isinstance(place, int) else three_digits(place)
