# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Figures of panels (a), (b), ... as papers print them, with one legend below. Knows numbers and names, no trace.

Dashes and markers tell curves apart as well as colours do, so that a print without colour can be read.
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

from analysis.plots import palette
from analysis.plots.canvas import MUTED, STYLE, WIDTH_INCHES, log_y, say, share_legend, styled, visible_labels
from analysis.plots.palette import DASH_CYCLE, SOLID, Dashes, LineLook, different_looks, scheme_color
from analysis.plots.series import MAXIMUM_STEPS, Points, Steps, thin

Kind = Literal["points", "marks", "steps", "shares"]
"""Points joined by lines; points alone; values that each hold until their time; a cumulative distribution."""

MARKERS = ("o", "s", "^", "D", "v", "P")
_MARKS_A_CURVE = 9
"""On curves that have many points."""
_MARKER_POINTS = (7.5, 5.0)
"""The first curve's and the last one's: where curves coincide, the earlier one's marker looks out below."""
_MARKER_EDGE_POINTS = 0.6
_ROW_INCHES = 3.0
_LEGEND_INCHES = 0.7
_MOST_ENTRIES_IN_A_LINE = 4
"""Of the legend; of more, three stand in each."""
_LABEL_CHARACTERS = 28
"""As many stand beside a panel."""
_SMALL = 8
"""Size of the names of bins, of which a panel has ten."""


@dataclass(frozen=True)
class CurveLook:
    """What a curve is told from others by."""

    color: str
    dashes: Dashes = SOLID
    marker: str = MARKERS[0]
    is_filled: bool = True


@dataclass(frozen=True)
class Curve:
    """Points of one curve; of a distribution `x` alone, ascending."""

    label: str
    look: CurveLook
    x: Points = field(repr=False)
    y: Points = field(repr=False, default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Panel:
    """One plot of a figure."""

    title: str
    x_label: str
    y_label: str
    kind: Kind
    curves: Sequence[Curve]
    ticks: Sequence[str] = ()
    """Names of the places 0, 1, ... on the x axis; none: the axis is of numbers."""
    is_log: bool = False
    """The y axis."""
    level: tuple[str, float] | None = None
    """A line across it, with its name, which is in the legend: beside the line curves would run through it."""
    has_common_time: bool = False
    """Whether the panels of steps that say so have one scale of time."""
    empty: str = "nothing was measured"

    @property
    def drawn(self) -> list[Curve]:
        """Curves that have a point."""
        return [curve for curve in self.curves if np.isfinite(curve.x if self.kind == "shares" else curve.y).any()]


_SCHEME_DASHES = {
    "irn": DASH_CYCLE[2],
    "onramp": DASH_CYCLE[1],
    "pfc": DASH_CYCLE[1],
    "ndp": DASH_CYCLE[1],
    "egress-bts": DASH_CYCLE[4],
    "ingress-bts": DASH_CYCLE[3],
    "sfc-est": DASH_CYCLE[3],
}
_SCHEME_MARKERS = {
    "irn": "o",
    "onramp": "s",
    "pfc": "s",
    "ndp": "s",
    "egress-bts": "v",
    "ingress-bts": "D",
    "sfc-est": "D",
}


def scheme_looks(schemes: Sequence[str]) -> list[CurveLook]:
    """Return a look for each scheme of one figure: colour, dashes and marker of its flow control where those are free.

    With DCQCN the marker is hollow if another scheme of the figure has another congestion control.
    """
    names, controls = ([scheme.partition("+")[place] for scheme in schemes] for place in (0, 2))
    lines = different_looks(LineLook(scheme_color(name), _SCHEME_DASHES.get(name, SOLID)) for name in names)
    has_one_control = len(set(controls)) == 1
    return _with_markers(
        lines,
        [
            (_SCHEME_MARKERS.get(name, "^"), has_one_control or control != "dcqcn")
            for name, control in zip(names, controls, strict=True)
        ],
    )


def numbered_looks(count: int) -> list[CurveLook]:
    """Return looks for curves that are no scheme's, such as one scheme under several settings."""
    markers = [(MARKERS[number % len(MARKERS)], True) for number in range(count)]
    return _with_markers(palette.numbered_looks(count), markers)


def with_hollow_markers(looks: Sequence[CurveLook]) -> list[CurveLook]:
    """Return looks for second curves of the same schemes: hollow markers, and dashes that no first curve has."""
    first = [LineLook(look.color, look.dashes) for look in looks]
    second = different_looks(first, drawn=first)
    return [
        CurveLook(line.color, line.dashes, look.marker, is_filled=False)
        for line, look in zip(second, looks, strict=True)
    ]


def _with_markers(lines: Sequence[LineLook], wanted: Sequence[tuple[str, bool]]) -> list[CurveLook]:
    """Give each line its wanted marker and filling, or the next free pair of these, for as long as there is any."""
    spare = sorted(product(MARKERS, (True, False)), key=lambda pair: pair in wanted)
    taken: list[tuple[str, bool]] = []
    for marker in wanted:
        free = [pair for pair in (marker, *spare) if pair not in taken]
        taken.append(next(iter(free), marker))
    return [CurveLook(line.color, line.dashes, *pair) for line, pair in zip(lines, taken, strict=True)]


@styled
def plot_panels(panels: Sequence[Panel], *, columns: int | None = None) -> Figure:
    """The panels in rows of `columns`, by default all in one. Those of one quantity have one scale."""
    wide = columns or len(panels)
    rows = ceil(len(panels) / wide)
    figure = Figure(figsize=(WIDTH_INCHES, _ROW_INCHES * rows + _LEGEND_INCHES))
    FigureCanvasAgg(figure)
    for number, panel in enumerate(panels):
        axes = figure.add_subplot(rows, wide, number + 1)
        letter = f"({ascii_lowercase[number]}) " if len(panels) > 1 else ""
        axes.set_title(f"{letter}{panel.title}")
        _draw(axes, panel, _alike(panels, panel), _last(panels, panel))
    names = {curve.label for panel in panels for curve in panel.drawn if not curve.label.startswith("_")}
    names |= {panel.level[0] for panel in panels if panel.level and panel.drawn}
    share_legend(figure, columns=_MOST_ENTRIES_IN_A_LINE if len(names) <= _MOST_ENTRIES_IN_A_LINE else 3)
    return figure


def _alike(panels: Sequence[Panel], panel: Panel) -> tuple[float, float]:
    """Lowest and highest value of the panels with this panel's y axis."""
    same = [each for each in panels if (each.y_label, each.kind) == (panel.y_label, panel.kind)]
    values = [curve.y[np.isfinite(curve.y)] for each in same for curve in each.drawn]
    values += [np.array([each.level[1]]) for each in same if each.level and each.drawn]
    found = np.concatenate(values) if values else np.empty(0)
    return (float(found.min()), float(found.max())) if found.size else (0.0, 1.0)


def _last(panels: Sequence[Panel], panel: Panel) -> float:
    """Where the panel's time ends; with curves only."""
    same = [each for each in panels if each.has_common_time and each.kind == panel.kind]
    shown = same if panel.has_common_time else [panel]
    return max((float(curve.x[-1]) for each in shown for curve in each.drawn if curve.x.size), default=0.0)


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
    x, y = _thinned(curve) if kind == "steps" else _shares(curve.x)
    every = max(1, x.size // _MARKS_A_CURVE)
    where: Literal["pre", "post"] = "pre" if kind == "steps" else "post"
    axes.step(x, y, where=where, linewidth=1.5, markevery=(every // 2, every), **style)


def _thinned(curve: Curve) -> tuple[Points, Points]:
    steps = thin(Steps(curve.x, curve.y))
    return steps.times_us, steps.values


def _shares(values: Points) -> tuple[Points, Points]:
    """From the share 0 at the lowest value."""
    shares = np.arange(1, values.size + 1) / values.size
    kept = np.unique(np.linspace(0, values.size - 1, min(values.size, MAXIMUM_STEPS)).astype(np.int64))
    return np.concatenate([values[:1], values[kept]]), np.concatenate([[0.0], shares[kept]])


def _name_places(axes: Axes, ticks: Sequence[str]) -> None:
    are_many = len(ticks) > 5
    style: dict[str, Any] = {"rotation": 50, "ha": "right", "rotation_mode": "anchor", "fontsize": _SMALL}
    axes.set_xticks(np.arange(len(ticks)), visible_labels(ticks), **(style if are_many else {}))
    axes.set_xlim(-0.5, len(ticks) - 0.5)
