# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Figures with panels (a), (b), ... and one legend below, as in papers. The data are numbers and names, not traces.

Curves also differ in dashes or markers, so that they can be told apart in a black-and-white print.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from string import ascii_lowercase
from textwrap import fill
from typing import Literal

import numpy as np

from sfc_testbed.analysis.plots import palette
from sfc_testbed.analysis.plots.description import (
    Axis,
    Item,
    Join,
    Level,
    Line,
    Marker,
    Plot,
    PlotPanel,
    fitted,
    highest_fitted,
)
from sfc_testbed.analysis.plots.palette import DASH_CYCLE, SOLID, Dashes, LineLook, different_looks, scheme_color
from sfc_testbed.analysis.plots.series import Points, Steps, cumulative_shares, thin

Kind = Literal["points", "marks", "steps", "shares"]
"""The kind of a panel: points joined by lines, points only, step curves (each value ends at its time), or a CDF."""

MARKERS = ("o", "s", "^", "D", "v", "P")
_MARKERS_PER_CURVE = 9
"""The number of markers on a step curve or CDF."""
_MARKER_POINTS = (7.5, 5.0)
"""The marker sizes of the first and the last curve. Earlier markers are larger, so that they show behind later ones."""
_MARKER_EDGE_POINTS = 0.6
_ROW_INCHES = 3.0
_LEGEND_INCHES = 0.7
_MOST_ENTRIES_IN_A_LINE = 4
"""The most legend entries that share one line. A longer legend has three entries per line."""
_LABEL_CHARACTERS = 28
"""The characters in a line of a y axis label."""
_SMALL = 8
"""The font size of tick labels in a panel with many of them, such as ten size bins."""


@dataclass(frozen=True)
class CurveLook:
    """The colour, dashes and marker of a curve."""

    color: str
    dashes: Dashes = SOLID
    marker: str = MARKERS[0]
    is_filled: bool = True


@dataclass(frozen=True)
class Curve:
    """The points of one curve. A cumulative distribution has only `x`: its values, ascending."""

    label: str
    look: CurveLook
    x: Points = field(repr=False)
    y: Points = field(repr=False, default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Panel:
    """A plot with its own axes within a figure."""

    title: str
    x_label: str
    y_label: str
    kind: Kind
    curves: Sequence[Curve]
    ticks: Sequence[str] = ()
    """Names for the values 0, 1, ... of the x axis; empty: the x axis shows numbers."""
    is_log: bool = False
    """Whether the y axis is logarithmic."""
    level: tuple[str, float] | None = None
    """The name and value of a horizontal line. Its name is in the legend, where no curve can cross it."""
    has_common_time: bool = False
    """Whether the time axis ends with the longest of all step panels that have this flag."""
    empty: str = "no data"
    """The text of a panel without points."""

    @property
    def drawn(self) -> list[Curve]:
        """The curves that have at least one point."""
        return [curve for curve in self.curves if np.isfinite(curve.x if self.kind == "shares" else curve.y).any()]


_JOINS: Mapping[Kind, Join] = {"points": "straight", "marks": "none", "steps": "before", "shares": "after"}
_SCHEME_LOOKS = {
    "irn": (DASH_CYCLE[2], "o"),
    "onramp": (DASH_CYCLE[1], "s"),
    "pfc": (DASH_CYCLE[1], "s"),
    "ndp": (DASH_CYCLE[1], "s"),
    "egress-bts": (DASH_CYCLE[4], "v"),
    "ingress-bts": (DASH_CYCLE[3], "D"),
    "sfc-est": (DASH_CYCLE[3], "D"),
}
"""The dashes and the marker of a scheme. Other schemes, such as SFC, have solid lines and triangles."""


def scheme_looks(schemes: Sequence[str]) -> list[CurveLook]:
    """Return a look for each scheme of one figure, with the usual colour, dashes and marker of its flow control.

    A scheme whose usual marker is taken gets a free one. Markers of schemes with DCQCN are hollow if the schemes of the
    figure have different congestion controls.
    """
    names, controls = ([scheme.partition("+")[place] for scheme in schemes] for place in (0, 2))
    usual = [_SCHEME_LOOKS.get(name, (SOLID, "^")) for name in names]
    lines = different_looks(
        LineLook(scheme_color(name), dashes) for name, (dashes, _) in zip(names, usual, strict=True)
    )
    is_filled = [len(set(controls)) == 1 or control != "dcqcn" for control in controls]
    return _with_markers(lines, [(marker, filled) for (_, marker), filled in zip(usual, is_filled, strict=True)])


def numbered_looks(count: int) -> list[CurveLook]:
    """Return looks for curves that do not stand for schemes, such as one scheme under several settings."""
    markers = [(MARKERS[number % len(MARKERS)], True) for number in range(count)]
    return _with_markers(palette.numbered_looks(count), markers)


def with_hollow_markers(looks: Sequence[CurveLook]) -> list[CurveLook]:
    """Return looks for a second curve per scheme: the same markers but hollow, and dashes that no first curve has."""
    first = [LineLook(look.color, look.dashes) for look in looks]
    second = different_looks(first, drawn=first)
    return [
        CurveLook(line.color, line.dashes, look.marker, is_filled=False)
        for line, look in zip(second, looks, strict=True)
    ]


def _with_markers(lines: Sequence[LineLook], wanted: Sequence[tuple[str, bool]]) -> list[CurveLook]:
    """Give each line its wanted marker and filling, or the next free pair. With no free pair left, pairs repeat."""
    spare = sorted(product(MARKERS, (True, False)), key=lambda pair: pair in wanted)
    taken: list[tuple[str, bool]] = []
    for marker in wanted:
        free = [pair for pair in (marker, *spare) if pair not in taken]
        taken.append(next(iter(free), marker))
    return [CurveLook(line.color, line.dashes, *pair) for line, pair in zip(lines, taken, strict=True)]


def plot_panels(panels: Sequence[Panel], *, columns: int | None = None) -> Plot:
    """Draw the panels in rows of `columns`, by default in one row. Panels with the same y label share its scale."""
    drawn = []
    for letter, panel in zip(ascii_lowercase, panels, strict=False):
        title = f"({letter}) {panel.title}" if len(panels) > 1 else panel.title
        drawn.append(_drawn(title, panel, _y_limits(panels, panel), _end_time(panels, panel)))
    names = {curve.label for panel in panels for curve in panel.drawn if not curve.label.startswith("_")}
    names |= {panel.level[0] for panel in panels if panel.level and panel.drawn}
    plot = Plot(drawn, columns or len(panels))
    return replace(
        plot,
        height_inches=_ROW_INCHES * plot.rows + _LEGEND_INCHES,
        legend_columns=_MOST_ENTRIES_IN_A_LINE if len(names) <= _MOST_ENTRIES_IN_A_LINE else 3,
    )


def _y_limits(panels: Sequence[Panel], panel: Panel) -> tuple[float, float]:
    """Return the lowest and highest value among the panels with the same y label and kind as this panel."""
    same = [other for other in panels if (other.y_label, other.kind) == (panel.y_label, panel.kind)]
    parts = [curve.y[np.isfinite(curve.y)] for other in same for curve in other.drawn]
    parts += [np.array([other.level[1]]) for other in same if other.level and other.drawn]
    values = np.concatenate(parts) if parts else np.empty(0)
    return (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)


def _end_time(panels: Sequence[Panel], panel: Panel) -> float:
    """Return the end of the panel's time axis, 0 without curves."""
    common = [other for other in panels if other.has_common_time and other.kind == panel.kind]
    timed = common if panel.has_common_time else [panel]
    return max((float(curve.x[-1]) for other in timed for curve in other.drawn if curve.x.size), default=0.0)


def _drawn(title: str, panel: Panel, limits: tuple[float, float], last: float) -> PlotPanel:
    y_label = fill(panel.y_label, _LABEL_CHARACTERS)
    if not panel.drawn:
        text = fill(panel.empty, _LABEL_CHARACTERS)
        return PlotPanel(title, Axis(panel.x_label), Axis(y_label), text=text)
    markers = list(dict.fromkeys(curve.look.marker for curve in panel.curves))
    sizes = dict(zip(markers, np.linspace(*_MARKER_POINTS, len(markers)).tolist(), strict=True))
    items: list[Item] = [_line(panel.kind, curve, sizes[curve.look.marker]) for curve in panel.drawn]
    if panel.level is not None:
        items.append(Level(*panel.level, in_legend=True))
    return PlotPanel(title, _x_axis(panel, last), _y_axis(panel, y_label, limits), items)


def _x_axis(panel: Panel, last: float) -> Axis:
    if panel.ticks:
        ticks = [(float(place), name) for place, name in enumerate(panel.ticks)]
        slant, size = (50, _SMALL) if len(ticks) > 5 else (0, None)
        return Axis(panel.x_label, -0.5, len(ticks) - 0.5, ticks=ticks, slant_degrees=slant, tick_points=size)
    if panel.kind == "steps":
        return Axis(panel.x_label, 0, last)
    x = [curve.x for curve in panel.drawn]
    if panel.kind == "shares":
        return Axis(panel.x_label, 0, highest_fitted(x))
    places = np.unique(np.concatenate(x)).tolist() if panel.kind == "points" else ()
    return Axis(panel.x_label, *fitted(x), ticks=[(place, f"{place:g}") for place in places])


def _y_axis(panel: Panel, label: str, limits: tuple[float, float]) -> Axis:
    if panel.kind == "shares":
        return Axis(label, 0, 1.02)
    if panel.is_log:
        return Axis(label, min(limits[0], 1.0) / 1.05, max(limits[1], 2.0) * 1.3, is_log=True)
    return Axis(label, 0, limits[1] * 1.08 or 1.0)


def _line(kind: Kind, curve: Curve, marker_points: float) -> Line:
    """Return the curve. Of a step curve or CDF only some points have a marker."""
    look = LineLook(curve.look.color, curve.look.dashes)
    x, y, join, width = curve.x, curve.y, _JOINS[kind], 1.9
    every = None
    if kind in ("steps", "shares"):
        if kind == "steps":
            steps = thin(Steps(curve.x, curve.y))
            x, y = steps.times_us, steps.values
        else:
            x, y = cumulative_shares(curve.x, curve.x.size)
        apart = max(1, x.size // _MARKERS_PER_CURVE)
        every, width = (apart // 2, apart), 1.5
    is_filled = curve.look.is_filled
    rim_points = _MARKER_EDGE_POINTS if is_filled else 1.0
    marker = Marker(curve.look.marker, marker_points, is_filled, rim_points, every)
    is_named = not curve.label.startswith("_")
    return Line(curve.label.removeprefix("_"), look, x, y, join, width, marker, in_legend=is_named)
