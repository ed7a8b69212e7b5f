# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The description of a plot: panels with axes, and the curves, bands, bars and marks in them, as arrays and texts.

A page draws a description in the browser (`report.plot_data`), and `canvas` draws it with matplotlib. This module
loads no drawing library. Its classes do without comparison and representation, which arrays make useless and whose
creation takes half the time of importing this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Literal

import numpy as np

from sfc_testbed.analysis.plots.palette import LineLook
from sfc_testbed.analysis.plots.series import Points
from sfc_testbed.request.spec import FaultSpan

Join = Literal["straight", "before", "after", "none"]
"""How the points of a line are joined: directly, by steps that end or that begin at the points, or not at all."""

TIME = "Time (model µs)"
HEIGHT_INCHES = 4.2
_MARGIN = 0.05
"""The share of the data's range that is free beyond the data on an axis that fits them."""


@dataclass(frozen=True, eq=False, repr=False)
class Axis:
    """An axis from `low` to `high`. `label` ends with the unit in parentheses."""

    label: str = ""
    low: float = 0.0
    high: float = 1.0
    is_log: bool = False
    ticks: Sequence[tuple[float, str]] = ()
    """Places and their names. Without any, the ticks are round numbers."""
    slant_degrees: float = 0.0
    """The angle of the names of ticks."""
    tick_points: float | None = None
    """The font size of the names of ticks; None for the usual size."""


@dataclass(frozen=True, eq=False, repr=False)
class Marker:
    """The marker of a line's points. `shape` is a letter of matplotlib: o, s, ^, D, v, P, x or a period."""

    shape: str = "o"
    points: float = 5.0
    is_filled: bool = True
    rim_points: float | None = None
    """The width of the rim: in the colour of the paper, or the outline of a hollow marker. None: the usual outline."""
    every: tuple[int, int] | None = None
    """The first point with a marker, and the number of points from one marker to the next; None: all points."""


@dataclass(frozen=True, eq=False, repr=False)
class Line:
    """A curve."""

    label: str
    """The name in the legend. Lines of one label are shown and hidden together."""
    look: LineLook
    x: Points = field(repr=False)
    y: Points = field(repr=False)
    join: Join = "straight"
    width: float = 1.9
    marker: Marker | None = None
    name: str = ""
    """The name of this line among those of its label, which a browser shows beside a value."""
    in_legend: bool = True
    aside_inches: float = 0.0
    """The distance by which the line is shifted to the right, so that bars of several lines can be told apart."""


@dataclass(frozen=True, eq=False, repr=False)
class Band:
    """The area between zero and a step curve whose values end at their times."""

    label: str
    color: str
    x: Points = field(repr=False)
    y: Points = field(repr=False)
    alpha: float = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Bars:
    """Vertical bars around points, such as confidence intervals. A bar that is not a number is not drawn."""

    label: str
    color: str
    x: Points = field(repr=False)
    y: Points = field(repr=False)
    halves: Points = field(repr=False)
    """Half the length of each bar."""
    aside_inches: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Level:
    """A dotted horizontal line with a name at its right end or in the legend."""

    name: str
    value: float
    in_legend: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Fault:
    """A shaded part of the time axis with a name at its beginning."""

    name: str
    begin: float
    end: float


@dataclass(frozen=True, eq=False, repr=False)
class Segments:
    """Straight pieces, each between two points, with a text for each piece that a browser shows under the mouse."""

    label: str
    look: LineLook
    x: Points = field(repr=False)
    """The ends of all pieces: begin and end of the first one, then of the second one, and so on."""
    y: Points = field(repr=False)
    texts: Sequence[str] = field(repr=False)
    width: float = 1.9
    in_legend: bool = True
    join: Join = "straight"
    marker: None = None


@dataclass(frozen=True, eq=False, repr=False)
class Marks:
    """Marks of different size, with a text for each mark that a browser shows under the mouse."""

    label: str
    look: LineLook
    x: Points = field(repr=False)
    y: Points = field(repr=False)
    texts: Sequence[str] = field(repr=False)
    sizes: Points = field(repr=False)
    """The diameters of the marks, in points."""
    labels: Sequence[str] = ()
    """A text above or below each mark; empty for none."""
    is_above: bool = False
    alpha: float = 1.0
    marker: Marker = Marker()
    in_legend: bool = True
    join: Join = "none"
    width: float = 0.0


Item = Line | Band | Bars | Level | Fault | Segments | Marks


@dataclass(frozen=True, eq=False, repr=False)
class PlotPanel:
    """A panel of a plot: its axes and the items between them, or a text if there are no data."""

    title: str
    x: Axis
    y: Axis
    items: Sequence[Item] = ()
    text: str = ""
    has_axes: bool = True

    @property
    def lines(self) -> list[Line]:
        """The curves of the panel."""
        return [item for item in self.items if isinstance(item, Line)]


@dataclass(frozen=True, eq=False, repr=False)
class Plot:
    """A plot: panels in rows of `columns`, and one legend below them."""

    panels: Sequence[PlotPanel]
    columns: int = 0
    """The panels in a row; 0: all of them."""
    height_inches: float = HEIGHT_INCHES
    legend_columns: int = 6
    has_legend: bool = True

    @property
    def wide(self) -> int:
        """The panels in a row."""
        return self.columns or max(1, len(self.panels))

    @property
    def rows(self) -> int:
        """The rows of panels."""
        return ceil(len(self.panels) / self.wide)


def byte_scale(highest: float) -> tuple[float, str]:
    """Return the divisor and unit for bytes up to `highest`."""
    return next(((scale, unit) for scale, unit in ((1e6, "MB"), (1e3, "KB")) if highest >= scale), (1.0, "B"))


def byte_axis(name: str, highest: float) -> tuple[Axis, float]:
    """Return an axis from zero for bytes up to `highest`, and the divisor of the values."""
    scale, unit = byte_scale(highest)
    return Axis(f"{name} ({unit})", 0, max(highest / scale * 1.08, 1.0)), scale


def fitted(values: Iterable[Points]) -> tuple[float, float]:
    """Return the ends of an axis that fits some values, with a margin on both sides; 0 and 1 without values."""
    known = [finite for of in values if (finite := of[np.isfinite(of)]).size]
    if not known:
        return 0.0, 1.0
    low, high = min(float(of.min()) for of in known), max(float(of.max()) for of in known)
    if low == high:
        low, high = (low - _MARGIN * abs(low), high + _MARGIN * abs(high)) if low else (-_MARGIN, _MARGIN)
    return low - _MARGIN * (high - low), high + _MARGIN * (high - low)


def highest_fitted(values: Iterable[Points]) -> float:
    """Return the end of an axis that fits some values and begins at zero."""
    return fitted(values)[1]


def fault_items(faults: Iterable[FaultSpan], end_us: float) -> Iterator[Fault]:
    """Yield the faults on a time axis up to `end_us`. Faults that begin after its end are left out."""
    for fault in sorted(faults, key=lambda fault: fault.begin_us):
        if fault.begin_us < end_us:
            yield Fault(fault.label, fault.begin_us, end_us if fault.end_us is None else min(fault.end_us, end_us))
