# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Run folders that were damaged: `export` refuses and writes nothing, `report` writes what it can and says the rest."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from command.app import main

Damage = Callable[[Path], object]


def _cut(name: str) -> Damage:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:300])


def _gone(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


def _text(name: str, text: str) -> Damage:
    return lambda folder: (folder / name).write_text(text)


def _without_rows(folder: Path) -> None:
    pl.read_parquet(folder / "flows.parquet").head(1).write_parquet(folder / "flows.parquet")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder as it should be."""
    out = tmp_path_factory.mktemp("runs")
    words = ["--clock", "virtual", "--set", "degree=2", "--set", "message_bytes=20000", "--out", str(out)]
    assert main(["run", "incast", *words]) == 0
    [folder] = out.iterdir()
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    copied = tmp_path / "run"
    shutil.copytree(whole, copied)
    return copied


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_cut("flows.parquet"), "flows.parquet: not a whole Parquet file"),
        (_gone("flows.parquet"), "flows.parquet: no such trace"),
        (_text("flows.parquet", ""), "flows.parquet"),
        (_text("config.json", "{}"), "config.json has no 'topology'"),
        (_text("config.json", "[]"), "config.json has no 'topology'"),
        (_text("config.json", ""), "config.json has no 'topology'"),
        (_gone("config.json"), "config.json has no 'topology'"),
        (_text("config.json", '{"topology": [], "topology_parameters": 3}'), "cannot be exported"),
    ],
)
def test_export_refuses_in_one_line_and_writes_nothing(
    damage: Damage, reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2; an empty file would pass for a run without flows."""
    damage(folder)
    before = sorted(folder.rglob("*"))
    assert main(["export", str(folder)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    [line] = said.err.splitlines()
    assert reason in line
    assert sorted(folder.rglob("*")) == before


def test_export_refuses_a_trace_that_lacks_flows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every flow of the list has a row, finished or not."""
    _without_rows(folder)
    assert main(["export", str(folder)]) == 2
    assert "flows.parquet" in capsys.readouterr().err
    assert not (folder / "hpcc").exists()


@pytest.mark.parametrize("damage", [_cut("flows.parquet"), _gone("flows.parquet"), _gone("result.json")])
def test_a_timeline_without_flows_or_result_is_refused_in_one_line(
    damage: Damage, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(folder)
    before = sorted(folder.rglob("*"))
    assert main(["export", str(folder), "--format", "perfetto"]) == 2
    said = capsys.readouterr()
    assert (said.out, len(said.err.splitlines())) == ("", 1)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_gone("queues.parquet"), "queues.parquet cannot be read (no such trace)"),
        (_text("signals.parquet", ""), "signals.parquet cannot be read"),
        (_cut("goodput.parquet"), "goodput.parquet cannot be read"),
    ],
)
def test_a_timeline_leaves_out_a_trace_that_cannot_be_read(
    damage: Damage, reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The timeline is there; exit 3 and one line on stderr."""
    damage(folder)
    assert main(["export", str(folder), "--format", "perfetto"]) == 3
    said = capsys.readouterr()
    assert said.out == f"{folder / 'timeline.pftrace'}\n"
    [line] = said.err.splitlines()
    assert line.startswith(f"! {reason}")
    assert (folder / "timeline.pftrace").stat().st_size > 0


def test_a_timeline_without_a_network_lacks_the_names_of_neighbours(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _text("config.json", '{"scenario": "incast"}')(folder)
    assert main(["export", str(folder), "--format", "perfetto"]) == 3
    [line] = capsys.readouterr().err.splitlines()
    assert line == "! Names of neighbours and captures are missing: config.json has no 'topology'."


def test_a_format_that_does_not_exist_is_refused_in_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(folder), "--format", "chrome"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "--format" in line
    assert "'hpcc', 'perfetto'" in line


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_cut("flows.parquet"), "flows.parquet cannot be read"),
        (_gone("queues.parquet"), "queues.parquet cannot be read (no such trace)"),
        (_text("signals.parquet", ""), "signals.parquet cannot be read"),
        (_text("config.json", "{}"), "config.json holds no configuration"),
        (_text("config.json", "[]"), "config.json holds no configuration"),
        (_text("config.json", ""), "config.json cannot be read"),
        (_gone("config.json"), "config.json cannot be read"),
        (_text("config.json", '{"physics": 3}'), "config.json is not that of a run of incast"),
    ],
)
def test_report_writes_what_it_can_and_says_the_rest(
    damage: Damage, reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page is there; exit 3 and one line on stderr for each file."""
    damage(folder)
    (folder / "report.html").unlink()
    assert main(["report", str(folder)]) == 3
    said = capsys.readouterr()
    [line] = said.err.splitlines()
    assert line.startswith(f"! {folder}: ")
    assert reason in line
    assert (folder / "report.html").read_text().rstrip().endswith("</html>")


def test_a_comparison_says_which_run_is_damaged(
    whole: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two files of one run: two lines, each with its folder."""
    _cut("queues.parquet")(folder)
    _gone("signals.parquet")(folder)
    assert main(["report", str(whole), str(folder), "--out", str(tmp_path / "compared")]) == 3
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"! {folder}"] * 2
    assert (tmp_path / "compared" / "report.html").exists()


def test_what_is_whole_is_reported_without_a_word(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 0 and nothing on stderr."""
    assert main(["report", str(folder)]) == 0
    assert main(["export", str(folder)]) == 0
    assert main(["export", str(folder), "--format", "perfetto"]) == 0
    assert capsys.readouterr().err == ""
