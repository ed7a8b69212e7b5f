# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for damaged run folders: `export` refuses and writes nothing, `report` writes what it can and names damage."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.cli.app import main
from tests.conftest import Refused

Damage = Callable[[Path], object]


def _cut(name: str) -> Damage:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:300])


def _gone(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


def _text(name: str, text: str) -> Damage:
    return lambda folder: (folder / name).write_text(text)


def _without_rows(folder: Path) -> None:
    pl.read_parquet(folder / "flows.parquet").head(1).write_parquet(folder / "flows.parquet")


def _of_another_scenario(folder: Path) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "scenario": "theory"}))


@pytest.mark.parametrize(
    ("output_format", "damage", "reason"),
    [
        ("hpcc", _cut("flows.parquet"), "flows.parquet: not a whole Parquet file"),
        ("hpcc", _gone("flows.parquet"), "flows.parquet: no such trace"),
        ("hpcc", _text("flows.parquet", ""), "flows.parquet"),
        ("hpcc", _text("config.json", "{}"), "config.json cannot be read"),
        ("hpcc", _text("config.json", "[]"), "config.json cannot be read"),
        ("hpcc", _text("config.json", ""), "config.json cannot be read"),
        ("hpcc", _gone("config.json"), "config.json cannot be read"),
        ("hpcc", _without_rows, "flows.parquet"),
        ("perfetto", _cut("flows.parquet"), "flows.parquet"),
        ("perfetto", _gone("flows.parquet"), "flows.parquet"),
        ("perfetto", _gone("result.json"), "result.json"),
    ],
)
def test_export_refuses_in_one_line_and_writes_nothing(
    output_format: str, damage: Damage, reason: str, folder: Path, refused: Refused
) -> None:
    """An empty export would look like a run without flows."""
    damage(folder)
    refused(["export", folder, "--format", output_format], reason)


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
    damage(folder)
    assert main(["export", str(folder), "--format", "perfetto"]) == 3
    output = capsys.readouterr()
    assert output.out == f"{folder / 'timeline.pftrace'}\n"
    [line] = output.err.splitlines()
    assert line.startswith(f"! {reason}")
    assert (folder / "timeline.pftrace").stat().st_size > 0


def test_a_timeline_without_a_network_lacks_the_names_of_neighbours(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _text("config.json", '{"scenario": "incast"}')(folder)
    assert main(["export", str(folder), "--format", "perfetto"]) == 3
    lines = capsys.readouterr().err.splitlines()
    assert lines[1:] == ["! Names of neighbours and captures are missing: config.json cannot be read."]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_cut("flows.parquet"), "flows.parquet cannot be read"),
        (_gone("queues.parquet"), "queues.parquet cannot be read (no such trace)"),
        (_text("signals.parquet", ""), "signals.parquet cannot be read"),
        (_text("config.json", "{}"), "config.json cannot be read (not a run's configuration"),
        (_text("config.json", "[]"), "config.json cannot be read (not a run's configuration"),
        (_text("config.json", ""), "config.json cannot be read"),
        (_gone("config.json"), "config.json cannot be read"),
        (_of_another_scenario, "config.json belongs to a run of theory, not of incast"),
    ],
)
def test_report_writes_what_it_can_and_names_the_damaged_files(
    damage: Damage, reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(folder)
    (folder / "report.html").unlink()
    assert main(["report", str(folder)]) == 3
    output = capsys.readouterr()
    [line] = output.err.splitlines()
    assert line.startswith(f"! {folder}: ")
    assert reason in line
    page = (folder / "report.html").read_text()
    assert page.rstrip().endswith("</html>")
    assert reason.partition(" (")[0].replace("'", "&#39;") in page


def test_a_comparison_names_the_damaged_run(
    whole: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _cut("queues.parquet")(folder)
    _gone("signals.parquet")(folder)
    assert main(["report", str(whole), str(folder), "--out", str(tmp_path / "compared")]) == 3
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"! {folder}"] * 2
    assert "queues.parquet cannot be read" in (tmp_path / "compared" / "report.html").read_text()


def test_an_intact_folder_causes_no_messages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder)]) == 0
    assert main(["export", str(folder)]) == 0
    assert main(["export", str(folder), "--format", "perfetto"]) == 0
    assert capsys.readouterr().err == ""
