# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The page of an experiment leads to what there is."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from analysis.report.experiment import ExperimentPage, RunLink, write_experiment_page


def test_a_run_is_linked_once_its_page_is_drawn(tmp_path: Path) -> None:
    """Until then the page names its folder and says how to draw it."""
    runs = [RunLink(label, tmp_path / f"run-{label}", "./runner.py run incast", "faithful") for label in ("a", "b")]
    page = ExperimentPage("incast", "Incast", "Fig. 2", "ci", claims=[], runs=runs, remarks=[], command="")
    (tmp_path / "run-a").mkdir()
    (tmp_path / "run-a" / "report.html").touch()
    html = write_experiment_page(tmp_path / "experiment", page, [], pl.DataFrame()).read_text()
    assert '<a href="../run-a/report.html">a</a>' in html
    assert "run-b/report.html" not in html
    assert "b <code>run-b</code>" in html
    assert "<code>./runner.py report</code>" in html
    (tmp_path / "run-b").mkdir()
    (tmp_path / "run-b" / "report.html").touch()
    html = write_experiment_page(tmp_path / "experiment", page, [], pl.DataFrame()).read_text()
    assert '<a href="../run-b/report.html">b</a>' in html
    assert "<code>" not in html
