# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Draws plots with matplotlib: the style, axes, items, legends and PNG files.

Pages are drawn in the browser, so runs do not import this module. Extensions may draw on axes of matplotlib.
"""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from textwrap import fill
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation, Transform

from os_helpers.visible import visible
from sfc_testbed.analysis.formatting import three_digits
from sfc_testbed.analysis.plots import description
from sfc_testbed.analysis.plots.description import (
    HEIGHT_INCHES,
    Band,
    Bars,
    Fault,
    Item,
    Level,
    Line,
    Marks,
    Plot,
    PlotPanel,
    Segments,
)
from sfc_testbed.analysis.plots.palette import DASH_CYCLE, GRID, INK, MUTED, PAPER, SPINE
from sfc_testbed.telemetry.atomic_file import replace_file

WIDTH_PIXELS = 1280
WIDTH_INCHES = 10.0

STYLE: Any = {
    "figure.facecolor": PAPER,
    "figure.constrained_layout.w_pad": 0.12,
    "figure.constrained_layout.h_pad": 0.10,
    "axes.facecolor": PAPER,
    "axes.edgecolor": SPINE,
    "axes.labelcolor": INK,
    "axes.labelsize": 11,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.titlepad": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "legend.handlelength": 3.6,  # one full period of the longest dash pattern
    "lines.linewidth": 1.9,
    "lines.solid_capstyle": "round",
    "text.color": INK,
    "text.parse_math": False,  # names of classes and settings may contain a dollar sign
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "svg.fonttype": "none",
    "svg.hashsalt": "sfc-testbed",
}

_LOG_DIGITS = ((12.0, (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)), (300.0, (1.0, 2.0, 5.0)), (float("inf"), (1.0,)))
"""Leading digits that a logarithmic axis labels, by the ratio of its highest to its lowest value."""

_TITLE_CHARACTERS = 88
"""The characters of a title that fit beside each other on a figure; one panel is as wide as one of two on a phone."""

_LEGEND_LINES = 6

_EDGE = 1.001
"""The factor by which a tick may be outside the axis: ticks at the ends are kept in spite of rounding errors."""

Arguments = ParamSpec("Arguments")
Drawn = TypeVar("Drawn", Figure, dict[str, Figure])


class _Lock:
    """A lock for matplotlib's settings, which belong to the whole process: one thread draws at a time.

    It is free in a forked process, in which no other thread runs. A thread may hold it several times.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        os.register_at_fork(after_in_child=self._free)

    def _free(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_DRAWING = _Lock()


class Drawing(Figure):
    """A figure of the testbed. A notebook shows it as a PNG, whatever its settings for matplotlib are."""

    def _repr_png_(self) -> bytes:
        """Return the figure as a PNG, for notebooks."""
        png = io.BytesIO()
        dpi = WIDTH_PIXELS / WIDTH_INCHES
        with plot_style():
            lay_out(self, FigureCanvasAgg, dpi)
            self.savefig(png, format="png", dpi=dpi)
        return png.getvalue()


@contextmanager
def plot_style() -> Iterator[None]:
    """Apply `STYLE` in the body, and otherwise matplotlib's defaults instead of the user's settings."""
    with _DRAWING, mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def styled(plot: Callable[Arguments, Drawn]) -> Callable[Arguments, Drawn]:
    """Decorate a plot function so that its figures have the style `STYLE`. Global matplotlib settings do not change.

    Texts may come from files of other origin, so invisible characters such as ESC are replaced by escapes. Tick labels
    are created later, by formatters; use `visible_labels` for those.
    """

    @wraps(plot)
    def draw(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Drawn:
        with plot_style():
            drawn = plot(*args, **kwargs)
            for figure in drawn.values() if isinstance(drawn, dict) else [drawn]:
                for axes in figure.axes:
                    _wrap_title(axes)
                for text in figure.findobj(Text):
                    text.set_text(visible(text.get_text(), keep="\n"))
            return drawn

    return draw


def _wrap_title(axes: Axes) -> None:
    """Break a title that is too long for its panel. A plot that breaks its titles itself is left alone."""
    spec, title = axes.get_subplotspec(), axes.get_title(loc="left")
    if spec is None or "\n" in title:
        return
    columns = max(spec.get_gridspec().ncols, 2)
    if len(title) > _TITLE_CHARACTERS // columns:
        axes.set_title(fill(title, _TITLE_CHARACTERS // columns), loc="left")


def visible_labels(labels: Iterable[object]) -> list[str]:
    """Return tick labels with an escape in place of each invisible character."""
    return [visible(str(label), keep="\n") for label in labels]


def new_figure(columns: int = 1, *, height_inches: float = HEIGHT_INCHES) -> tuple[Figure, list[Axes]]:
    """Return a figure of the standard width and the axes of its `columns` plots, which are side by side."""
    figure = Drawing(figsize=(WIDTH_INCHES, height_inches))
    FigureCanvasAgg(figure)
    return figure, [figure.add_subplot(1, columns, column + 1) for column in range(columns)]


@styled
def draw(plot: Plot) -> Figure:
    figure = Drawing(figsize=(WIDTH_INCHES, plot.height_inches))
    FigureCanvasAgg(figure)
    for number, panel in enumerate(plot.panels, 1):
        _draw_panel(figure.add_subplot(plot.rows, plot.wide, number), panel)
    if plot.has_legend:
        share_legend(figure, columns=plot.legend_columns)
    return figure


def _draw_panel(axes: Axes, panel: PlotPanel) -> None:
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x.label)
    axes.set_ylabel(panel.y.label)
    if panel.text:
        say(axes, panel.text)
        return
    if not panel.has_axes:
        axes.set_axis_off()
    for item in panel.items:
        _DRAW[type(item)](axes, item)
    if panel.x.is_log:
        log_x(axes, panel.x.low, panel.x.high)
    if panel.y.is_log:
        log_y(axes, panel.y.low, panel.y.high)
    if panel.x.ticks:
        _name_ticks(axes, panel.x)
    axes.set_xlim(panel.x.low, panel.x.high)
    axes.set_ylim(panel.y.low, panel.y.high)


def _name_ticks(axes: Axes, axis: description.Axis) -> None:
    style: dict[str, Any] = {}
    if axis.slant_degrees:
        style = {"rotation": axis.slant_degrees, "ha": "right", "rotation_mode": "anchor"}
    if axis.tick_points is not None:
        style["fontsize"] = axis.tick_points
    axes.set_xticks([place for place, _ in axis.ticks], visible_labels(name for _, name in axis.ticks), **style)


def log_x(axes: Axes, low: float, high: float) -> None:
    """Make the x axis logarithmic from `low` to `high`, with plain numbers as tick labels."""
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    _plain_log_ticks(axes.xaxis, low, high)


def log_y(axes: Axes, low: float, high: float) -> None:
    """Make the y axis logarithmic from `low` to `high`, with plain numbers as tick labels."""
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    _plain_log_ticks(axes.yaxis, low, high)


def _plain_log_ticks(axis: Axis, low: float, high: float) -> None:
    """Set the ticks between `low` and `high` only: matplotlib spends as much time on ticks that are not visible."""
    digits = next(digits for highest, digits in _LOG_DIGITS if high / low <= highest)
    ticks = [digit * 10.0**power for power in range(-3, 7) for digit in digits]
    axis.set_major_locator(FixedLocator([tick for tick in ticks if low / _EDGE <= tick <= high * _EDGE]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: three_digits(value)))


def _draw_level(axes: Axes, level: Level) -> None:
    """Draw a dotted horizontal line across the axes, with its name at the right."""
    label = legend_name(level.name) if level.in_legend else None
    axes.axhline(level.value, color=MUTED, linewidth=1.0, linestyle=DASH_CYCLE[2], label=label)
    if level.in_legend:
        return
    axes.annotate(
        level.name,
        (1.0, level.value),
        xycoords=("axes fraction", "data"),
        xytext=(-4, 3),
        textcoords="offset points",
        ha="right",
        color=MUTED,
        fontsize=9,
    )


def _draw_fault(axes: Axes, fault: Fault) -> None:
    axes.axvspan(fault.begin, fault.end, color=MUTED, alpha=0.12, linewidth=0)
    axes.axvline(fault.begin, color=MUTED, linewidth=1.0, linestyle=DASH_CYCLE[2])
    axes.annotate(
        fault.name,
        (fault.begin, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(3, -4),
        textcoords="offset points",
        va="top",
        ha="right",
        rotation=90,
        rotation_mode="anchor",
        color=MUTED,
        fontsize=9,
    )


def _draw_line(axes: Axes, line: Line) -> None:
    style: dict[str, Any] = {
        "color": line.look.color,
        "linestyle": "none" if line.join == "none" else line.look.dashes,
        "linewidth": line.width,
        "label": _in_legend(line),
        "transform": _shifted(axes, line.aside_inches),
    }
    if line.join in _STEPS:
        style["drawstyle"] = _STEPS[line.join]
    if line.marker is not None:
        marker, is_filled = line.marker, line.marker.is_filled
        style |= {"marker": marker.shape, "markersize": marker.points, "markevery": marker.every}
        if marker.rim_points is not None:
            style |= {
                "markerfacecolor": line.look.color if is_filled else PAPER,
                "markeredgecolor": PAPER if is_filled else line.look.color,
                "markeredgewidth": marker.rim_points,
            }
    axes.plot(line.x, line.y, **style)


def _draw_segments(axes: Axes, segments: Segments) -> None:
    ends = np.stack([segments.x, segments.y], axis=1).reshape(-1, 2, 2)
    style: dict[str, Any] = {"colors": segments.look.color, "linewidths": segments.width, "zorder": 2}
    axes.add_collection(LineCollection([*ends], label=_in_legend(segments), **style))


def _draw_marks(axes: Axes, marks: Marks) -> None:
    style: dict[str, Any] = {"marker": marks.marker.shape, "alpha": marks.alpha, "linewidths": 0, "zorder": 3}
    axes.scatter(marks.x, marks.y, marks.sizes**2, marks.look.color, label=_in_legend(marks), **style)
    for x, y, label in zip(marks.x, marks.y, marks.labels, strict=False):
        place: dict[str, Any] = (
            {"xytext": (0, 7), "va": "bottom"} if marks.is_above else {"xytext": (0, -7), "va": "top"}
        )
        axes.annotate(label, (x, y), textcoords="offset points", ha="center", fontsize=8, color=INK, **place)


def _in_legend(item: Line | Segments | Marks) -> str | None:
    return legend_name(item.label) if item.in_legend and item.label else None


def _draw_band(axes: Axes, band: Band) -> None:
    axes.fill_between(band.x, band.y, step="pre", color=band.color, alpha=band.alpha, linewidth=0)


def _draw_bars(axes: Axes, bars: Bars) -> None:
    shifted = _shifted(axes, bars.aside_inches)
    style: dict[str, Any] = {"ecolor": bars.color, "elinewidth": 1.2, "capsize": 3, "transform": shifted}
    axes.errorbar(bars.x, bars.y, bars.halves, fmt="none", **style)


def _shifted(axes: Axes, inches: float) -> Transform:
    figure = axes.figure
    return axes.transData + ScaledTranslation(inches, 0, figure.dpi_scale_trans) if inches else axes.transData


_STEPS = {"before": "steps-pre", "after": "steps-post"}
_DRAW: Mapping[type[Item], Callable[[Axes, Any], None]] = {
    Line: _draw_line,
    Band: _draw_band,
    Bars: _draw_bars,
    Level: _draw_level,
    Fault: _draw_fault,
    Segments: _draw_segments,
    Marks: _draw_marks,
}


def say(axes: Axes, text: str) -> None:
    """Show a text instead of data, and remove the ticks."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=MUTED)


def legend_name(name: str) -> str:
    """Return a curve's name as a legend lists it; matplotlib leaves out names that begin with an underscore."""
    return f" {name}" if name.startswith("_") else name


def share_legend(figure: Figure, *, columns: int = 6) -> None:
    """Draw one legend below all panels, with fewer columns if they do not fit. A label appears once.

    A legend of many lines would leave no room for the panels, so only its first entries are drawn.
    """
    entries = {
        visible(label, keep="\n"): handle
        for axes in figure.axes
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    for ncols in range(min(columns, len(entries)), 0, -1):
        shown = dict(list(entries.items())[: _LEGEND_LINES * ncols])
        if len(shown) < len(entries):
            del shown[next(reversed(shown))]
            shown[f"and {len(entries) - len(shown)} more"] = Line2D([], [], linestyle="none")
        legend = figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=ncols)
        if ncols == 1 or legend.get_window_extent().width <= figure.bbox.width:
            break
        legend.remove()


PICTURE_TYPES: Mapping[str, Mapping[str, None]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
"""The types of the pictures of a plot, and the metadata that they do without, so that equal plots give equal files."""


def save_figure(figure: Figure, path: Path) -> None:
    """Write a PNG that is WIDTH_PIXELS wide, or an SVG, by the end of the file's name, atomically."""
    dpi = WIDTH_PIXELS / WIDTH_INCHES
    kind = path.suffix[1:]
    with plot_style(), mpl.rc_context({"svg.hashsalt": path.stem}):
        lay_out(figure, FigureCanvasAgg, dpi)
        replace_file(
            path, lambda partial: figure.savefig(partial, format=kind, dpi=dpi, metadata=dict(PICTURE_TYPES[kind]))
        )


def lay_out(figure: Figure, canvas: type[FigureCanvasBase], dpi: float) -> None:
    """Place the axes on the canvas once. A figure with its own layout engine would be drawn twice per save."""
    canvas(figure)
    figure.dpi = dpi
    ConstrainedLayoutEngine().execute(figure)
