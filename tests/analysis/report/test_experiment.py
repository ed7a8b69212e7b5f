# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the page of an experiment: its links and the order of its parts."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sfc_testbed.analysis.plots.distributions import plot_distributions
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
from sfc_testbed.analysis.report.experiment import ExperimentPage, RunLink, write_experiment_page
from tests.analysis.conftest import make_flows, make_queues


def test_a_run_is_linked_if_it_has_a_page(tmp_path: Path) -> None:
    runs = [RunLink(label, tmp_path / f"run-{label}", "./runner.py run incast", "faithful") for label in ("a", "b")]
    page = ExperimentPage("incast", "Incast", "Fig. 2", "ci", claims=[], runs=runs, remarks=[], command="")
    (tmp_path / "run-a").mkdir()
    (tmp_path / "run-a" / "report.html").touch()
    html = write_experiment_page(tmp_path / "experiment", page, None, pl.DataFrame()).read_text()
    assert "No claims were evaluated. No run has completed, so there is no verdict." in html
    assert '<a href="../run-a/report.html">a</a>' in html
    assert "run-b/report.html" not in html
    assert "b <code>run-b</code>" in html
    assert "<code>./runner.py report FOLDER</code>" in html
    (tmp_path / "run-b").mkdir()
    (tmp_path / "run-b" / "report.html").touch()
    html = write_experiment_page(tmp_path / "experiment", page, None, pl.DataFrame()).read_text()
    assert '<a href="../run-b/report.html">b</a>' in html
    assert "<code>" not in html


def test_a_page_goes_from_the_paper_to_the_command_that_repeats_it(tmp_path: Path) -> None:
    page = ExperimentPage(
        "incast",
        "Incast",
        "Fig. 2",
        "ci",
        claims=[("the peak grows", "linear", "R² 1.000", "holds"), ("it falls", "soon", "later", "fails (ours)")],
        runs=[RunLink(scheme, tmp_path / scheme, "./runner.py run incast", "faithful") for scheme in ("irn", "sfc")],
        remarks=["Mind the scale."],
        command="./runner.py reproduce incast --scale ci --seed 1",
        shows="Peaks over degrees.",
        failures=["Changed: load=0.1"],
    )
    figure = plot_distributions([PlottedRun("sfc", "sfc", make_flows(), make_queues())])
    cost = {"flows_total": 8, "wall_s": 0.75}
    rows = pl.DataFrame([cost | {"drops": 3, "pause_us": 0.0}, cost | {"drops": 0, "pause_us": 96.0}])
    html = write_experiment_page(tmp_path, page, ("Our plot.", figure), rows).read_text()
    order = [
        html.index(words)
        for words in (
            "1 claim of the paper: 1 holds; 1 of ours: 1 fails. This claim fails: it falls. There were 2 runs. "
            "The mean pause per flow in the run with BTS is 12 µs. "
            "3 packets were dropped in 1 run. The wall time was 1.5 s. The verdict is faithful for all runs.",
            "Changed: load=0.1",
            "Peaks over degrees.",
            "Our plot.",
            "R² 1.000",
            ">holds</td>",
            "Mind the scale.",
            "reproduce incast --scale ci --seed 1",
        )
    ]
    assert order == sorted(order)
    assert (tmp_path / "figure.png").is_file()
