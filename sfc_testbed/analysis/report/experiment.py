# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The page of an experiment: what the paper shows, our plot, the verdict, and how to repeat it.

The figure is also written as PNG, and the claims and the figures of the runs as CSV files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import polars as pl

from sfc_testbed.analysis.plots.description import Plot
from sfc_testbed.analysis.report.first_sentence import of_experiment, trust_in_runs
from sfc_testbed.analysis.report.html_pages import REPORT_FILE, render, run_row, write_csv
from sfc_testbed.analysis.report.placing import Placed, on_page
from sfc_testbed.analysis.report.plot_data import write_page
from sfc_testbed.analysis.results.result import Level

FIGURE_FILE = "figure.png"


class RunLink(NamedTuple):
    """A run that the claims were evaluated on."""

    label: str
    folder: Path
    command: str
    verdict: Level


@dataclass(frozen=True)
class ExperimentPage:
    """The texts and tables of the page, without its plots."""

    name: str
    title: str
    paper_place: str
    scale: str
    claims: Sequence[tuple[str, str, str, str]]
    """Claim, the paper's value, the measured value, and the outcome."""
    runs: Sequence[RunLink]
    remarks: Sequence[str]
    """Remarks needed to interpret the figures."""
    tables: Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]] = field(default=(), kw_only=True)
    """Caption, headings and rows of each table of figures."""
    command: str
    shows: str = ""
    """A description of the paper's figure and statements."""
    failures: Sequence[str] = ()
    """Descriptions of failed runs."""


def write_experiment_page(
    folder: Path, page: ExperimentPage, figure: tuple[str, Plot] | None, runs: pl.DataFrame
) -> Path:
    """Write report.html, two CSV files and the figure (caption, plot) as PNG into a folder; return the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(
        folder / "claims.csv", pl.DataFrame(page.claims, schema=["claim", "paper", "measured", "outcome"], orient="row")
    )
    write_csv(folder / "runs.csv", runs)
    name = Path(FIGURE_FILE).stem
    caption, drawn = figure or ("", None)
    trust = trust_in_runs([run.verdict for run in page.runs], [run.label for run in page.runs])
    html = render(
        "experiment.html.j2",
        page=page,
        first_sentence=of_experiment({claim: outcome for claim, *_, outcome in page.claims}, runs.to_dicts(), trust),
        plots=on_page(folder, [Placed(name, caption, drawn)] if drawn else [], pictures=True),
        runs=[run_row(folder, *run) for run in page.runs],
    )
    write_page(folder / REPORT_FILE, html)
    return folder / REPORT_FILE
