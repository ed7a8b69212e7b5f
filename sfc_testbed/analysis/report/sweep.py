# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The page of a sweep: a summary, a plot over each axis, and a table of all jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from sfc_testbed.analysis.report.first_sentence import of_sweep
from sfc_testbed.analysis.report.html_pages import REPORT_FILE, render, write_csv
from sfc_testbed.analysis.report.over_axes import CSV_FILE
from sfc_testbed.analysis.report.placing import figures_of, on_page, placed_plots, placed_sections
from sfc_testbed.analysis.report.plot_data import write_page
from sfc_testbed.analysis.report.plots import SWEEP_PLOTS
from sfc_testbed.analysis.report.sections import SWEEP_SECTIONS
from sfc_testbed.analysis.results.swept import (
    JOBS,
    SWEEP_FILE,
    TABLE_FILE,
    Sweep,
    read_sweep_results,
    shared_runs,
    warnings_of,
    with_quantities,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_sweep_page(
    folder: Path,
    failures: Sequence[str] = (),
    problems: list[str] | None = None,
    *,
    measures: bool = False,
    pictures: bool = False,
) -> Path:
    """Write report.html and results.csv from a sweep's folder into it, and return the page's path.

    `failures`: one text for each job without a result. Sentences about plots and sections of extensions that failed are
    appended to `problems`. `measures`: whether to measure the quantities of extensions again, from the folders of the
    runs. `pictures`: whether to write each plot as PNG and SVG, too. Raises ResultError if the sweep cannot be read.
    """
    sweep = read_sweep_results(folder)
    if measures:
        sweep = replace(sweep, table=with_quantities(sweep.table, folder / JOBS))
    placed = placed_plots(SWEEP_PLOTS, sweep)
    sections = placed_sections(SWEEP_SECTIONS, sweep)
    program = [f"P4 program of the switches: {sweep.program}."] if sweep.program else []
    write_csv(folder / CSV_FILE, flat(sweep.table))
    html = render(
        "sweep.html.j2",
        sweep=sweep,
        first=of_sweep(sweep),
        notes=[*program, *shared_runs(sweep.table), *warnings_of(sweep)],
        failures=failures,
        plots=on_page(folder, placed, pictures=pictures),
        tables=sections.tables,
        files=(TABLE_FILE, CSV_FILE, SWEEP_FILE),
    )
    write_page(folder / REPORT_FILE, html)
    if problems is not None:
        problems += [*(plot.failure for plot in placed if plot.failure), *sections.failures]
    return folder / REPORT_FILE


def sweep_figures(sweep: Sweep) -> dict[str, Figure]:
    """Return the plots of a sweep's page as figures of matplotlib. A plot of an extension that fails is a warning."""
    return figures_of(placed_plots(SWEEP_PLOTS, sweep))


def flat(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with lists converted to text, because CSV has no lists."""
    nested = [name for name, kind in table.schema.items() if kind.is_nested()]
    return table.with_columns(pl.Series(name, [str(value) for value in table[name].to_list()]) for name in nested)
