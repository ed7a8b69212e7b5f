# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Draws the plots and sections of a page from the rows of their tables.

A plot or section of an extension that raises an error becomes a sentence on the page. The rest of the page is drawn.
"""

from __future__ import annotations

import sys
import warnings
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from os_helpers.visible import visible
from sfc_testbed.analysis.plots.description import Plot
from sfc_testbed.analysis.report.data_table import DataTable
from sfc_testbed.analysis.report.plot_data import plot_data
from sfc_testbed.analysis.report.plots import Content, Drawn, PagePlot, has_needs
from sfc_testbed.analysis.report.sections import Section
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.request.extensions import described
from sfc_testbed.request.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Placed:
    """A plot of a page, or the sentence that says why it is missing."""

    name: str
    caption: str
    figure: Plot | Figure | None
    """A figure of matplotlib is that of an extension."""
    failure: str = ""


@dataclass(frozen=True)
class PlacedSections:
    """The sections of a page, and a sentence for each one that failed."""

    tables: Sequence[DataTable]
    failures: Sequence[str]


def placed_plots(plots: Table[PagePlot[Content]], content: Content, runs: Sequence[Run] = ()) -> list[Placed]:
    """Draw all plots of a page that have data. `runs`: those whose traces decide that."""
    placed: list[Placed] = []
    for name, row in plots.items():
        try:
            if not has_needs(row, runs):
                continue
            drawn = row.draw(content)
            figures = (
                [] if drawn is None else [*drawn] if isinstance(drawn, Iterable) else [Drawn(name, row.caption, drawn)]
            )
        except (Exception, SystemExit) as error:
            if plots.owner(name) is None:
                raise
            placed.append(Placed(name, row.caption, None, f"Plot {name} failed: {described(error)}."))
            continue
        placed += [Placed(one.name, one.caption, one.figure) for one in figures]
    return placed


def placed_sections(sections: Table[Section[Content]], content: Content) -> PlacedSections:
    """Return the tables of all sections of a page."""
    tables: list[DataTable] = []
    failures = []
    for name, row in sections.items():
        try:
            made = row.tables(content)
            tables += [] if made is None else [made] if isinstance(made, DataTable) else made
        except (Exception, SystemExit) as error:
            if sections.owner(name) is None:
                raise
            failures.append(f"Section {name} failed: {described(error)}.")
            tables.append(DataTable(name, (), (), failures[-1]))
    return PlacedSections(tables, failures)


def figures_of(placed: Iterable[Placed]) -> dict[str, Figure]:
    """Return the plots by name as figures of matplotlib, and issue a warning for each plot that failed."""
    figures = {}
    for plot in placed:
        if plot.figure is None:
            warnings.warn(plot.failure, stacklevel=2)
        else:
            figures[plot.name] = _figure(plot.figure)
    return figures


def on_page(folder: Path, placed: Iterable[Placed], *, pictures: bool = False) -> list[dict[str, object]]:
    """Return each plot for a page: its content, or why it failed. `pictures`: whether to write PNG and SVG, too."""
    shown: list[dict[str, object]] = []
    for plot in placed:
        content: dict[str, object] = {"drawn": "", "caption": plot.caption, "pictures": [], "failure": plot.failure}
        if plot.figure is not None:
            content["drawn"] = Markup(_drawn(plot, plot.figure))
            if pictures:
                content["pictures"] = _write_pictures(folder, plot.name, plot.figure)
            _close(plot.figure)
        shown.append(content)
    return shown


def _write_pictures(folder: Path, name: str, plot: Plot | Figure) -> list[tuple[str, str]]:
    """Write the pictures of a plot, and return their types and names."""
    from sfc_testbed.analysis.plots.canvas import PICTURE_TYPES, save_figure

    figure = _figure(plot)
    for kind in PICTURE_TYPES:
        save_figure(figure, folder / f"{name}.{kind}")
    return [(kind.upper(), f"{name}.{kind}") for kind in PICTURE_TYPES]


def _figure(plot: Plot | Figure) -> Figure:
    from sfc_testbed.analysis.plots.canvas import draw

    return draw(plot) if isinstance(plot, Plot) else plot


def _drawn(plot: Placed, figure: Plot | Figure) -> str:
    """Return the data that the browser draws.

    A figure of matplotlib becomes SVG or, if it is no grid of panels, an image.
    """
    description = visible(plot.caption)
    if isinstance(figure, Plot):
        return f'<div class="panels" role="img" aria-label="{escape(description)}"></div>{plot_data(figure)}'
    if not _has_plain_grid(figure):
        return _image(figure, description)
    from sfc_testbed.analysis.plots.svg import to_svg

    return to_svg(figure, name=plot.name.replace("_", "-"), description=description)


def _has_plain_grid(figure: Figure) -> bool:
    """Return whether a figure consists of panels in one grid, which `to_svg` can cut out. Others become images."""
    specs = [axes.get_subplotspec() for axes in figure.axes]
    grids = {id(spec.get_gridspec()) for spec in specs if spec is not None}
    cells = {(spec.num1, spec.num2) for spec in specs if spec is not None}
    return bool(specs) and None not in specs and len(grids) == 1 and len(cells) == len(specs)


def _image(figure: Figure, description: str) -> str:
    """Return a figure as an image within the page."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from sfc_testbed.analysis.plots.canvas import WIDTH_PIXELS

    buffer = BytesIO()
    FigureCanvasAgg(figure)
    figure.savefig(buffer, format="png", dpi=WIDTH_PIXELS / figure.get_figwidth())
    source = b64encode(buffer.getvalue()).decode()
    return f'<img alt="{escape(description)}" style="max-width:100%;height:auto" src="data:image/png;base64,{source}">'


def _close(figure: Any) -> None:
    """Forget a figure that a function of a user made with pyplot, which otherwise keeps it."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None and not isinstance(figure, Plot):
        pyplot.close(figure)
