# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The figure of a sweep over one of its axes: FCT slowdown and peak buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.formatting import three_digits
from analysis.plots.canvas import byte_axis, new_figure, say, share_legend, styled, visible_labels
from analysis.plots.palette import LineLook, scheme_looks

_WIDE_RANGE = 16
"""The ratio of the highest to the lowest value from which the x axis is logarithmic."""
_MOST_TICKS = 8


@dataclass(frozen=True)
class Spread:
    """The mean and the range of a figure over the seeds."""

    mean: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class AxisLine:
    """A scheme's figures at the values of the axis; None where the scheme has no figure."""

    label: str
    scheme: str
    slowdowns: Sequence[Spread | None]
    buffers_bytes: Sequence[Spread | None]
    are_unfinished: Sequence[bool] = ()
    """Whether flows of these runs did not finish, at each value of the axis."""


@styled
def plot_over_axis(axis: str, places: Sequence[object], lines: Sequence[AxisLine], *, slowdown_title: str) -> Figure:
    """Plot the slowdown (left) and the peak buffer (right), one line per scheme.

    Points are means over the seeds, and vertical bars show the range over the seeds. Crosses at the top mark unfinished
    runs.
    """
    figure, (left, right) = new_figure(2)
    looks = scheme_looks([line.scheme for line in lines])
    left.set_title(slowdown_title)
    left.set_ylabel("FCT slowdown")
    _draw(left, places, [(line.label, look, line.slowdowns) for line, look in zip(lines, looks, strict=True)], 1.0)
    right.set_title("Peak buffer")
    highest = max((spread.highest for line in lines for spread in line.buffers_bytes if spread), default=0.0)
    scale, unit = byte_axis(right, highest)
    right.set_ylabel(f"Peak buffer of the fullest switch ({unit})")
    _draw(
        right, places, [(line.label, look, line.buffers_bytes) for line, look in zip(lines, looks, strict=True)], scale
    )
    for axes in (left, right):
        axes.set_xlabel(axis)
        _mark_unfinished(axes, places, lines, looks)
    share_legend(figure, columns=4)
    return figure


def _draw(
    axes: Axes, places: Sequence[object], lines: Sequence[tuple[str, LineLook, Sequence[Spread | None]]], scale: float
) -> None:
    ticks = _ticks(axes, places)
    for label, look, spreads in lines:
        known = [(tick, spread) for tick, spread in zip(ticks, spreads, strict=True) if spread is not None]
        if not known:
            continue
        x = [tick for tick, _ in known]
        means = [spread.mean / scale for _, spread in known]
        axes.plot(x, means, color=look.color, linestyle=look.dashes, marker="o", markersize=5, label=label)
        bars = [(tick, spread) for tick, spread in known if spread.highest > spread.lowest]
        axes.vlines(
            [tick for tick, _ in bars],
            [spread.lowest / scale for _, spread in bars],
            [spread.highest / scale for _, spread in bars],
            color=look.color,
            linewidth=1.2,
        )
    if not axes.lines:
        say(axes, "no data")
        return
    highest = max(spread.highest for *_, spreads in lines for spread in spreads if spread is not None)
    axes.set_ylim(0, 1.08 * highest / scale or 1.0)


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
    elif min(ticks) > 0 and max(ticks) >= _WIDE_RANGE * min(ticks):
        axes.set_xscale("log")
        axes.minorticks_off()
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
