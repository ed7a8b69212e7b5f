# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the results of the public functions: files, frames, tables and plots."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import matplotlib as mpl
import polars as pl
import pytest
from rich.table import Table as RichTable

import sfc_testbed as sfc
from sfc_testbed.api.tables import Table
from sfc_testbed.cli.app import main
from sfc_testbed.telemetry.schema import OPTIONAL_SCHEMAS, SCHEMAS
from tests.api.reading import SMALL, digest


def test_run_has_the_figures_of_its_files(run: sfc.Run) -> None:
    assert run.verdict == json.loads((run.folder / "result.json").read_text())["verdict"] == "faithful"
    assert run.verdict_reasons == run.result.verdict_reasons
    assert run.config.workload["degree"] == 2
    assert run.page() == run.folder / "report.html"
    assert run.page().is_file()
    assert "incast under sfc: faithful" in repr(run)


def test_run_is_the_one_of_the_command(run: sfc.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "incast", "--clock", "virtual", "--out", str(tmp_path), "--json"]
    settings = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    assert main([*words, *settings]) == 0
    folder = Path(json.loads(capsys.readouterr().out)["folder"])
    assert digest(sfc.Run(folder)) == digest(run)


def test_traces_are_frames(run: sfc.Run) -> None:
    assert set(run.traces) == set(SCHEMAS)
    for name in run.traces:
        frame = run.trace(name)
        assert frame.columns == list(SCHEMAS[name].column_names)
        assert frame.equals(getattr(run, name))
    with pytest.raises(sfc.UsageError, match=r"no trace 'flow'; choose from .*; nearest: flows"):
        run.trace("flow")
    [name] = OPTIONAL_SCHEMAS
    with pytest.raises(sfc.UsageError, match="no trace of the congestion control"):
        _ = run.congestion


def test_table_of_a_run_is_text_latex_csv_and_markdown(run: sfc.Run, tmp_path: Path) -> None:
    table = run.table()
    assert "peak buffer" in str(table)
    assert "\x1b" not in str(table)
    rows = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert rows[0]["class"] == "incast"
    assert table.frame.height == len(rows)
    latex = table.to_latex(tmp_path / "table.tex")
    assert (tmp_path / "table.tex").read_text() == latex
    assert "incast & 2/2" in latex
    assert latex.count(r"\\") == 1 + len(table.rows)
    assert table.to_markdown().startswith("| class | flows |")
    assert table._repr_html_().startswith("<pre")
    assert run._repr_html_() == table._repr_html_()


def test_latex_escapes_its_special_characters() -> None:
    main = RichTable("a_b", "50 %")
    main.add_row("1 ±2 µs", "x & y")
    latex = Table(main, main, pl.DataFrame()).to_latex()
    assert r"a\_b & 50 \% \\" in latex
    assert r"1 $\pm$2 \textmu{}s & x \& y \\" in latex


def test_plots_are_those_of_the_page_and_leave_matplotlib_alone(
    run: sfc.Run, comparison: sfc.Comparison, sweep: sfc.Sweep
) -> None:
    before = dict(mpl.rcParams)
    assert list(run.plot()) == ["buffer", "fct", "distributions", "goodput", "uplinks", "network"]
    assert run.plot("buffer").axes
    assert "buffer" in comparison.plot()
    assert list(sweep.plot()) == ["over-degree"]
    assert run.plot()._repr_html_().count("data:image/png;base64,") == 6
    with pytest.raises(sfc.UsageError, match=r"no plot 'bufer'; choose from buffer, .*; nearest: buffer"):
        run.plot("bufer")
    assert dict(mpl.rcParams) == before


def test_comparison_has_its_runs_and_figures(comparison: sfc.Comparison) -> None:
    assert [(run.result.scheme, run.result.seed) for run in comparison.runs] == [
        ("irn", 1),
        ("sfc", 1),
        ("irn", 2),
        ("sfc", 2),
    ]
    assert comparison.table().frame["scheme"].to_list() == ["irn", "sfc", "irn", "sfc"]
    assert comparison.claims == ()
    assert comparison.page().is_file()
    assert "Comparison of 4 runs of incast" in repr(comparison)


def test_comparison_in_jobs_has_the_same_runs(comparison: sfc.Comparison, tmp_path: Path) -> None:
    again = sfc.compare("incast", ["irn", "sfc"], seeds=[1, 2], settings=SMALL, out=tmp_path, jobs=2)
    assert list(map(digest, again.runs)) == list(map(digest, comparison.runs))


def test_sweep_has_a_row_per_job_and_a_table_of_means(sweep: sfc.Sweep) -> None:
    assert sweep.axes == ("degree",)
    assert sweep.results.height == 8
    assert sweep.failures == ()
    table = sweep.table()
    assert table.frame.height == 4
    assert table.headings == ["scheme", "degree", "seeds", "P50", "P99", "peak buffer"]
    mean = sweep.results.filter(pl.col("scheme") == "irn", pl.col("axis.degree") == 3)["max_buffer_bytes"].mean()
    assert table.frame.filter(pl.col("scheme") == "irn", pl.col("degree") == 3)["max_buffer_bytes"].item() == mean
    assert sweep.runs[0].verdict == "faithful"


def test_load_returns_what_the_folder_is(
    run: sfc.Run, comparison: sfc.Comparison, sweep: sfc.Sweep, tmp_path: Path
) -> None:
    loaded = sfc.load(run.folder)
    assert isinstance(loaded, sfc.Run)
    assert loaded.result == run.result
    again = sfc.load(comparison.folder)
    assert isinstance(again, sfc.Comparison)
    assert again.result == comparison.result
    assert [run.folder for run in again.runs] == [run.folder for run in comparison.runs]
    swept = sfc.load(str(sweep.folder))
    assert isinstance(swept, sfc.Sweep)
    assert swept.results.equals(sweep.results)
    with pytest.raises(sfc.UsageError, match="no such folder"):
        sfc.load(tmp_path / "nothing")
    (tmp_path / "comparison.json").write_text("[]")
    with pytest.raises(sfc.UsageError, match="not a comparison"):
        sfc.load(tmp_path)


def test_comparison_of_an_older_release_has_no_plots(comparison: sfc.Comparison, tmp_path: Path) -> None:
    content = json.loads((comparison.folder / "comparison.json").read_text())
    del content["folders"]
    (tmp_path / "comparison.json").write_text(json.dumps(content))
    old = sfc.load(tmp_path)
    assert isinstance(old, sfc.Comparison)
    assert str(old.table()) == str(comparison.table())
    with pytest.raises(sfc.UsageError, match="an older release wrote it"):
        old.plot()
