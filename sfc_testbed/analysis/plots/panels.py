# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Figures with panels (a), (b), ... and one legend below, as in papers. The data are numbers and names, not traces.

Curves also differ in dashes or markers, so that they can be told apart in a black-and-white print.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import ceil
from string import ascii_lowercase
from textwrap import fill
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sfc_testbed.analysis.plots import palette
from sfc_testbed.analysis.plots.canvas import (
    MUTED,
    STYLE,
    WIDTH_INCHES,
    Drawing,
    log_y,
    say,
    share_legend,
    styled,
    visible_labels,
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


@styled
def plot_panels(panels: Sequence[Panel], *, columns: int | None = None) -> Figure:
    """Draw the panels in rows of `columns`, by default in one row. Panels with the same y label share its scale."""
    wide = columns or len(panels)
    rows = ceil(len(panels) / wide)
    figure = Drawing(figsize=(WIDTH_INCHES, _ROW_INCHES * rows + _LEGEND_INCHES))
    FigureCanvasAgg(figure)
    for number, panel in enumerate(panels):
        axes = figure.add_subplot(rows, wide, number + 1)
        letter = f"({ascii_lowercase[number]}) " if len(panels) > 1 else ""
        axes.set_title(f"{letter}{panel.title}")
        _draw(axes, panel, _y_limits(panels, panel), _end_time(panels, panel))
    names = {curve.label for panel in panels for curve in panel.drawn if not curve.label.startswith("_")}
    names |= {panel.level[0] for panel in panels if panel.level and panel.drawn}
    share_legend(figure, columns=_MOST_ENTRIES_IN_A_LINE if len(names) <= _MOST_ENTRIES_IN_A_LINE else 3)
    return figure


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


def _draw(axes: Axes, panel: Panel, limits: tuple[float, float], last: float) -> None:
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(fill(panel.y_label, _LABEL_CHARACTERS))
    if not panel.drawn:
        say(axes, fill(panel.empty, _LABEL_CHARACTERS))
        return
    markers = list(dict.fromkeys(curve.look.marker for curve in panel.curves))
    sizes = dict(zip(markers, np.linspace(*_MARKER_POINTS, len(markers)).tolist(), strict=True))
    for curve in panel.drawn:
        _draw_curve(axes, panel.kind, curve, sizes[curve.look.marker])
    if panel.ticks:
        _name_places(axes, panel.ticks)
    elif panel.kind == "points":
        places = np.unique(np.concatenate([curve.x for curve in panel.drawn]))
        axes.set_xticks(places, [f"{place:g}" for place in places])
    if panel.kind == "shares":
        axes.set_ylim(0, 1.02)
        axes.set_xlim(left=0)
    elif panel.is_log:
        log_y(axes, min(limits[0], 1.0) / 1.05, max(limits[1], 2.0) * 1.3)
    else:
        axes.set_ylim(0, limits[1] * 1.08 or 1.0)
    if panel.kind == "steps":
        axes.set_xlim(0, last)
    if panel.level is not None:
        name, value = panel.level
        axes.axhline(value, color=MUTED, linewidth=1.0, linestyle=DASH_CYCLE[2], label=name)


def _draw_curve(axes: Axes, kind: Kind, curve: Curve, marker_points: float) -> None:
    look, paper = curve.look, STYLE["axes.facecolor"]
    style: dict[str, Any] = {
        "color": look.color,
        "linestyle": "none" if kind == "marks" else look.dashes,
        "marker": look.marker,
        "markersize": marker_points,
        "markerfacecolor": look.color if look.is_filled else paper,
        "markeredgecolor": paper if look.is_filled else look.color,
        "markeredgewidth": _MARKER_EDGE_POINTS if look.is_filled else 1.0,
        "label": curve.label,
    }
    if kind in ("points", "marks"):
        axes.plot(curve.x, curve.y, **style)
        return
    if kind == "steps":
        steps = thin(Steps(curve.x, curve.y))
        x, y = steps.times_us, steps.values
    else:
        x, y = cumulative_shares(curve.x, curve.x.size)
    every = max(1, x.size // _MARKERS_PER_CURVE)
    where: Literal["pre", "post"] = "pre" if kind == "steps" else "post"
    axes.step(x, y, where=where, linewidth=1.5, markevery=(every // 2, every), **style)


def _name_places(axes: Axes, ticks: Sequence[str]) -> None:
    are_many = len(ticks) > 5
    style: dict[str, Any] = {"rotation": 50, "ha": "right", "rotation_mode": "anchor", "fontsize": _SMALL}
    axes.set_xticks(np.arange(len(ticks)), visible_labels(ticks), **(style if are_many else {}))
    axes.set_xlim(-0.5, len(ticks) - 0.5)
