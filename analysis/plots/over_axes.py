# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Figures of a sweep over one of its axes: slowest flows and fullest switch. Knows no trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.formatting import three_digits
from analysis.plots.canvas import byte_axis, new_figure, say, share_legend, styled, visible_labels
from analysis.plots.palette import LineLook, scheme_looks

_WIDE_RANGE = 16
"""Values that far apart stand on a logarithmic axis."""
_MOST_TICKS = 8


@dataclass(frozen=True)
class Spread:
    """A figure over the seeds."""

    mean: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class AxisLine:
    """A scheme's figures at the places of the axis; None where there is none."""

    label: str
    scheme: str
    slowdowns: Sequence[Spread | None]
    buffers_bytes: Sequence[Spread | None]


@styled
def plot_over_axis(axis: str, places: Sequence[object], lines: Sequence[AxisLine], *, slowdown_title: str) -> Figure:
    """Left the slowdown, right the peak buffer; a line a scheme, means with a bar over the seeds."""
    figure, (left, right) = new_figure(2)
    looks = scheme_looks([line.scheme for line in lines])
    left.set_title(slowdown_title)
    left.set_ylabel("FCT slowdown")
    _draw(left, places, [(line.label, look, line.slowdowns) for line, look in zip(lines, looks, strict=True)], 1.0)
    right.set_title("Peak buffer")
    highest = max((each.highest for line in lines for each in line.buffers_bytes if each), default=0.0)
    scale, unit = byte_axis(right, highest)
    right.set_ylabel(f"Peak buffer of the fullest switch ({unit})")
    _draw(
        right, places, [(line.label, look, line.buffers_bytes) for line, look in zip(lines, looks, strict=True)], scale
    )
    for axes in (left, right):
        axes.set_xlabel(axis)
    share_legend(figure, columns=4)
    return figure


def _draw(
    axes: Axes, places: Sequence[object], lines: Sequence[tuple[str, LineLook, Sequence[Spread | None]]], scale: float
) -> None:
    ticks = _ticks(axes, places)
    for label, look, spreads in lines:
        known = [(tick, each) for tick, each in zip(ticks, spreads, strict=True) if each is not None]
        if not known:
            continue
        x = [tick for tick, _ in known]
        means = [each.mean / scale for _, each in known]
        axes.plot(x, means, color=look.color, linestyle=look.dashes, marker="o", markersize=5, label=label)
        spread = [(tick, each) for tick, each in known if each.highest > each.lowest]
        axes.vlines(
            [tick for tick, _ in spread],
            [each.lowest / scale for _, each in spread],
            [each.highest / scale for _, each in spread],
            color=look.color,
            linewidth=1.2,
        )
    if not axes.lines:
        say(axes, "nothing was measured")
        return
    highest = max(each.highest for *_, spreads in lines for each in spreads if each is not None)
    axes.set_ylim(0, 1.08 * highest / scale or 1.0)


def _ticks(axes: Axes, places: Sequence[object]) -> list[float]:
    """Where the places stand: numbers by their values, all else equally far apart."""
    numbers = [float(place) for place in places if isinstance(place, (int, float)) and not isinstance(place, bool)]
    if len(numbers) < len(places):
        ticks = [float(number) for number in range(len(places))]
        axes.set_xlim(-0.4, len(places) - 0.6)
    else:
        ticks = numbers
        if min(ticks) > 0 and max(ticks) >= _WIDE_RANGE * min(ticks):
            axes.set_xscale("log")
            axes.minorticks_off()
    step = -(-len(ticks) // _MOST_TICKS)
    axes.set_xticks(ticks[::step], visible_labels(map(place_text, places))[::step])
    return ticks


def place_text(place: object) -> str:
    """As an axis says it: 250 KB would hide that the setting is 250000, 250,000 does not."""
    if isinstance(place, bool):
        return str(place).lower()
    if not isinstance(place, (int, float)):
        return str(place)
    return f"{place:,}" if isinstance(place, int) else three_digits(place)
