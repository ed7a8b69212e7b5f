# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Converts figures to SVG for HTML pages: readable on a phone, in the page's font and its light or dark colours.

Each panel of a figure becomes an SVG of its own. A wide page shows the panels side by side, a narrow page below each
other. A figure with one wide panel is drawn in two widths, and the page's style shows one of them. The shared legend
becomes HTML text, which can wrap. Colours of `palette` become CSS variables (see `palette.color_variables`), and texts
and axes take the page's colours.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.transforms import Transform

from sfc_testbed.analysis.plots.canvas import lay_out, plot_style
from sfc_testbed.analysis.plots.palette import GRID, IN_THE_DARK, INK, MUTED, PAPER, SPINE

PANEL_INCHES = 5.0
"""The width of a panel: 480 pixels on a page, and still legible at the 350 pixels of a phone."""
_SVG_DPI = 72
"""The resolution of matplotlib's SVG, whose unit is the point."""
_KEY_INCHES = (0.6, 0.14)

Size = tuple[float, float]

_PAGE_COLORS = {
    INK: "currentColor",
    MUTED: "var(--muted)",
    GRID: "var(--line)",
    SPINE: "var(--axis)",
    PAPER: "var(--panel, none)",
    "#000000": "currentColor",
}
_COLORS = {
    **{color.lower(): value for color, value in _PAGE_COLORS.items()},
    **{color.lower(): f"var(--plot-{color[1:].lower()}, {color.lower()})" for color in IN_THE_DARK},
}


def to_svg(figure: Figure, *, name: str, description: str) -> str:
    """Return the figure as HTML: its panels as <svg> elements and its legend as a list. The figure does not change.

    The HTML refers to no external resource. All ids begin with `name`, so that several figures can share a page.
    `description` is the text for screen readers. Panels are cut out by their cell in the figure's grid, so each panel
    needs its own axis labels.
    """
    with plot_style(), _without_legends(figure) as legends:
        drawn = "\n".join(_drawings(figure, name))
        keys = "".join(_keys(legend, f"{name}-{number}") for number, legend in enumerate(legends, 1))
    return f'<div class="panels" role="img" aria-label="{escape(description)}">\n{drawn}</div>\n{keys}'


def _drawings(figure: Figure, name: str) -> Iterator[str]:
    panels = _panels(figure)
    width, height = (float(inches) for inches in figure.get_size_inches())
    if len(panels) > 1:
        for number, axes in enumerate(panels, 1):
            with _alone(figure, axes, (PANEL_INCHES, height / _rows(axes))):
                yield _draw(figure, f"{name}-{number}", "panel")
        return
    is_wide = width > PANEL_INCHES
    yield _draw(figure, f"{name}-1", "wide" if is_wide else "panel")
    if is_wide and panels:
        with _alone(figure, panels[0], (PANEL_INCHES, height)):
            yield _draw(figure, f"{name}-1-narrow", "narrow")


def _panels(figure: Figure) -> list[list[Axes]]:
    """Group the axes into panels by their cell in the grid.

    A figure with a title, or with axes outside the grid, is one panel.
    """
    places: dict[tuple[int, int], list[Axes]] = {}
    for axes in figure.axes:
        spec = axes.get_subplotspec()
        if spec is None or figure.get_suptitle():
            return [list(figure.axes)]
        places.setdefault((spec.rowspan.start, spec.colspan.start), []).append(axes)
    return [places[place] for place in sorted(places)]


def _rows(panel: Sequence[Axes]) -> int:
    grid = panel[0].get_gridspec()
    return 1 if grid is None else grid.nrows


@contextmanager
def _without_legends(figure: Figure) -> Iterator[Sequence[Legend]]:
    """Remove the figure's own legends for the duration of the context, and yield them. Legends of axes stay."""
    legends = figure.legends
    figure.legends = []
    try:
        yield legends
    finally:
        figure.legends = legends


@contextmanager
def _alone(figure: Figure, panel: Sequence[Axes], size: Size) -> Iterator[None]:
    """Show one panel of the figure, at this size, for the duration of the context."""
    full_width, full_height = figure.get_size_inches()
    hidden = [(axes, axes.get_visible(), axes.get_in_layout()) for axes in figure.axes if axes not in panel]
    specs = [(axes, axes.get_subplotspec()) for axes in panel]
    cell = GridSpec(1, 1, figure=figure)[0, 0]
    try:
        for other, _, _ in hidden:
            other.set_visible(False)
            other.set_in_layout(False)
        for axes in panel:
            axes.set_subplotspec(cell)
        figure.set_size_inches(*size)
        yield
    finally:
        for other, was_visible, was_in_layout in hidden:
            other.set_visible(was_visible)
            other.set_in_layout(was_in_layout)
        for axes, spec in specs:
            if spec is not None:
                axes.set_subplotspec(spec)
        figure.set_size_inches(full_width, full_height)


def _draw(figure: Figure, name: str, kind: str) -> str:
    lay_out(figure, FigureCanvasSVG, _SVG_DPI)
    return _embedded(_document(figure), name, kind)


def _document(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return buffer.getvalue()


def _keys(legend: Legend, name: str) -> str:
    """Return a legend as an HTML list, with a small picture of the line or patch before each label."""
    entries = zip(legend.legend_handles, legend.get_texts(), strict=True)
    items = (
        f"<li>{_key(handle, f'{name}-key-{number}')} {escape(text.get_text())}</li>"
        for number, (handle, text) in enumerate(entries, 1)
    )
    return f'<ul class="legend">{"".join(items)}</ul>\n'


def _key(handle: Artist | None, name: str) -> str:
    figure = Figure(figsize=_KEY_INCHES)
    if isinstance(handle, Line2D):
        line = Line2D([0.04, 0.5, 0.96], [0.5, 0.5, 0.5], markevery=[1])
        line.update_from(handle)
        _add(figure, line, figure.transFigure)
    elif isinstance(handle, Patch):
        patch = Rectangle((0.1, 0.05), 0.8, 0.9)
        patch.update_from(handle)
        _add(figure, patch, figure.transFigure)
    return _embedded(_document(figure), name, "key")


def _add(figure: Figure, artist: Artist, place: Transform) -> None:
    """Add an artist copied from a legend, without the legend's position and clipping."""
    artist.set_transform(place)
    artist.set_clip_box(None)
    artist.set_clip_path(None)
    figure.add_artist(artist)


def _embedded(document: str, name: str, kind: str) -> str:
    """Reduce an SVG document to an element of a page.

    Remove prologue, metadata, style sheet, namespaces and fonts, prefix ids with `name`, insert the page's colours, and
    shorten the paths.
    """
    svg = document[document.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s*<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\s+xmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r'font-family: [^;"]+;? ?', "", svg)
    svg = re.sub(r"(?<=: )#[0-9a-f]{6}\b", lambda match: _COLORS.get(match[0], match[0]), svg)
    svg = re.sub(r'(?<=\bd=")[^"]*', lambda match: _shortened(match[0]), svg)
    return svg.replace("<svg", f'<svg class="{kind}" aria-hidden="true"', 1)


def _shortened(path: str) -> str:
    """Cut path data to a tenth of a point, which is not visible, and remove repeated `L` commands."""
    short = re.sub(r"(\.\d)\d+", r"\1", path)
    if not re.search("[CQ]", short):
        short = short.replace("L", " ")
    return " ".join(short.split())
