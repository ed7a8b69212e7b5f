# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The figure of a sweep over one of its axes: FCT slowdown and peak buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfc_testbed.analysis.formatting import three_digits
from sfc_testbed.analysis.plots.description import (
    Axis,
    Bars,
    Item,
    Line,
    Marker,
    Plot,
    PlotPanel,
    byte_axis,
    fitted,
)
from sfc_testbed.analysis.plots.palette import SOLID, LineLook, scheme_looks
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


def plot_quantity(axis: str, places: Sequence[object], lines: Sequence[QuantityLine], *, title: str) -> Plot:
    """Plot a quantity over an axis, one line per scheme. Points and bars are those of `plot_over_axis`."""
    looks = scheme_looks([line.scheme for line in lines])
    means = [(line.label, look, line.means) for line, look in zip(lines, looks, strict=True)]
    panel = _panel(title, axis, places, Axis(title), means, 1.0)
    ends = np.array([_ends(mean) for line in lines for mean in line.means if mean]).reshape(-1)
    if ends.min(initial=0.0) < 0:
        low, high = fitted([ends])
        panel = replace(panel, y=Axis(title, low, high))
    return Plot((panel,), legend_columns=4)


def plot_over_axis(axis: str, places: Sequence[object], lines: Sequence[AxisLine], *, slowdown_title: str) -> Plot:
    """Plot the slowdown (left) and the peak buffer (right), one line per scheme.

    Points are means over the seeds, and vertical bars are their confidence intervals. The lines are shifted sideways
    by a few points, so that their bars do not cover each other. Crosses at the top mark unfinished runs.
    """
    looks = scheme_looks([line.scheme for line in lines])
    slowdowns = [(line.label, look, line.slowdowns) for line, look in zip(lines, looks, strict=True)]
    buffers = [(line.label, look, line.buffers_bytes) for line, look in zip(lines, looks, strict=True)]
    highest = max((estimate.mean for line in lines for estimate in line.buffers_bytes if estimate), default=0.0)
    bytes_axis, scale = byte_axis("Peak buffer", highest)
    panels = (
        _panel(slowdown_title, axis, places, Axis("FCT slowdown"), slowdowns, 1.0),
        _panel("Peak buffer", axis, places, bytes_axis, buffers, scale),
    )
    return Plot([_with_crosses(panel, places, lines, looks) for panel in panels], legend_columns=4)


def _panel(
    title: str,
    axis: str,
    places: Sequence[object],
    y: Axis,
    lines: Sequence[tuple[str, LineLook, Sequence[Estimate | None]]],
    scale: float,
) -> PlotPanel:
    positions = _positions(places)
    highest = 0.0
    items: list[Item] = []
    for number, (label, look, estimates) in enumerate(lines):
        known = [
            (place, estimate) for place, estimate in zip(positions, estimates, strict=True) if estimate is not None
        ]
        if not known:
            continue
        aside = (number - (len(lines) - 1) / 2) * _ASIDE_INCHES
        x = np.array([place for place, _ in known])
        means = np.array([estimate.mean / scale for _, estimate in known])
        halves = [estimate.mean - _ends(estimate)[0] for _, estimate in known]
        bars = np.array([half / scale or np.nan for half in halves])  # a point without an interval has no bar
        items.append(Line(label, look, x, means, marker=Marker(), aside_inches=aside))
        items.append(Bars(label, look.color, x, means, bars, aside))
        longest = max(_ends(estimate)[1] for _, estimate in known) / scale
        highest = max(highest, min(longest, _HIGHEST_BAR * float(means.max())))
    y = Axis(y.label, 0, 1.08 * highest or 1.0) if items else y
    return PlotPanel(title, _x_axis(axis, places), y, items, "" if items else "no data")


def _ends(estimate: Estimate) -> tuple[float, float]:
    return estimate.interval or (estimate.mean, estimate.mean)


def _with_crosses(
    panel: PlotPanel, places: Sequence[object], lines: Sequence[AxisLine], looks: Sequence[LineLook]
) -> PlotPanel:
    """Add a cross for each line and place whose runs did not finish, each line a little lower than the one before."""
    named = {line.label for line in panel.lines}
    crosses = []
    for number, (line, look) in enumerate(zip(lines, looks, strict=True)):
        marked = [place for place, is_marked in zip(_positions(places), line.are_unfinished, strict=False) if is_marked]
        height = panel.y.high - (0.02 + 0.03 * number) * (panel.y.high - panel.y.low)
        if marked:
            x, y = np.array(marked), np.full(len(marked), height)
            look = LineLook(look.color, SOLID)
            crosses.append(
                Line(line.label, look, x, y, "none", marker=Marker("x", 7), in_legend=line.label not in named)
            )
    return replace(panel, items=(*panel.items, *crosses))


def _positions(places: Sequence[object]) -> list[float]:
    """Return the x positions of the places: their values if all are numbers, else equal distances."""
    numbers = [float(place) for place in places if isinstance(place, (int, float)) and not isinstance(place, bool)]
    return numbers if len(numbers) == len(places) else [float(number) for number in range(len(places))]


def _x_axis(label: str, places: Sequence[object]) -> Axis:
    """Return the axis with the places as its ticks."""
    positions = _positions(places)
    is_log = False
    if not all(isinstance(place, (int, float)) and not isinstance(place, bool) for place in places):
        low, high = -0.4, len(places) - 0.6
    else:
        low, high = min(positions), max(positions)
        is_log = low > 0 and high >= _WIDE_RANGE * low
        if is_log:
            margin = (high / low) ** _MARGIN
            low, high = low / margin, high * margin
        else:
            margin = _MARGIN * (high - low) or 0.5
            low, high = low - margin, high + margin
    step = -(-len(positions) // _MOST_TICKS)
    ticks = list(zip(positions, map(place_text, places), strict=True))[::step]
    return Axis(label, low, high, is_log, ticks)


def place_text(place: object) -> str:
    """Return the tick label of a place. A setting of 250000 is shown as 250,000, not as 250 KB, to keep its value."""
    if isinstance(place, bool):
        return str(place).lower()
    if not isinstance(place, (int, float)):
        return str(place)
    return f"{place:,}" if isinstance(place, int) else three_digits(place)
