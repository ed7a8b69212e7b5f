# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Folders of somebody else: their text does not steer a terminal or a page, and their links lead no write elsewhere."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis.results.result import read_result
from analysis.results.row import result_row
from analysis.results.stored import load_run
from analysis.validation.comparison import compare_clocks
from analysis.validation.record import Validation, write_validation
from command.app import main
from command.output import console
from reproduction.catalogue import EXPERIMENTS
from telemetry.schema import FLOWS
from telemetry.writer import write_trace

STEERING = "\x1b]0;owned\x07\x9b31m\x7f\u202e\r[bold red]x[/nothing]:smile:<img src=x onerror=alert(1)>"
"""Sets a terminal's title, then: a C1 sequence, DEL, a text direction, a carriage return, rich's markup, HTML."""
NAME = STEERING.replace("/", "|")
KEPT = ("schema", "schema_version", "clock", "verdict", "topology", "transport_settings", "experiment")
"""Values that a reader of the file checks; with another value the file would be refused."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of our own."""
    out = tmp_path_factory.mktemp("runs")
    words = ["--clock", "virtual", "--set", "degree=2", "--set", "message_bytes=20000", "--out", str(out)]
    assert main(["run", "incast", *words]) == 0
    [folder] = out.iterdir()
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of the run folder, for a stranger to change."""
    copied = tmp_path / "run"
    shutil.copytree(whole, copied)
    return copied


def _spoiled(value: Any, name: str = "") -> Any:
    """The same JSON with control characters in every text and every key that a file may choose."""
    if name in KEPT:
        return value
    if isinstance(value, dict):
        free = ("fct_slowdown", "drops", "switch_events", "host_events", "buffer_bytes", "thresholds_bytes")
        return {f"{key}{STEERING}" if name in free else key: _spoiled(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_spoiled(each) for each in value]
    return f"{value}{STEERING}" if isinstance(value, str) else value


def _spoil(folder: Path) -> Path:
    """Puts control characters in the texts of a run folder and in its name; returns the new path."""
    for name in ("result.json", "config.json"):
        content = json.loads((folder / name).read_text())
        if name == "result.json":
            content["drops"] = {"tail_drop": 7}
        (folder / name).write_text(json.dumps(_spoiled(content)))
    flows = pl.read_parquet(folder / "flows.parquet")
    write_trace(folder / "flows.parquet", FLOWS, flows.with_columns(pl.col("tag") + STEERING))
    return folder.rename(folder.with_name(f"run{NAME}"))


def _validation(folder: Path) -> Path:
    """A folder of `validate`, by a stranger."""
    run = compare_clocks(load_run(folder), load_run(folder), "somewhere")
    content = Validation(runs=(run,), failures=("one",), left_out=("another",))
    write_validation(folder.parent / "validation.json", content)
    spoiled = _spoiled(json.loads((folder.parent / "validation.json").read_text()))
    for each in spoiled["runs"]:
        each |= {"virtual_folder": folder.name, "live_folder": folder.name}
        for metric in each["metrics"]:
            metric["metric"] += f".{STEERING}"
    (folder.parent / "validation.json").write_text(json.dumps(spoiled))
    return folder.parent


def _sweep(folder: Path) -> Path:
    """A folder of `sweep`, by a stranger."""
    row = {**result_row(read_result(folder)), "job": STEERING, "traffic_class": STEERING, "scheme": STEERING}
    rows = [{f"axis.{STEERING}": f"{place}{STEERING}", **row, "job": f"{place}{STEERING}"} for place in range(2)]
    pl.DataFrame(rows).write_parquet(folder.parent / "results.parquet")
    (folder.parent / "sweep.json").write_text(json.dumps({"name": STEERING, "scenario": STEERING}))
    return folder.parent


def _reproduction(folder: Path) -> Path:
    """A folder of `reproduce`, by a stranger."""
    name = next(iter(EXPERIMENTS))
    program = {"name": STEERING, "path": STEERING, "sha256": STEERING}
    content: dict[str, Any] = {
        "schema": "sfc-testbed/reproduction/1",
        "experiment": name,
        "title": STEERING,
        "paper_place": STEERING,
    }
    content |= {"scale": "ci", "claims": [], "runs": [], "failures": [STEERING], "notes": [STEERING]}
    content |= {"changed": [STEERING], "program": program}
    (folder.parent / "reproduction.json").write_text(json.dumps(content))
    return folder.parent


def _unknown_experiment(folder: Path) -> Path:
    _reproduction(folder)
    path = folder.parent / "reproduction.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "experiment": STEERING}))
    return folder.parent


def _itself(folder: Path) -> Path:
    return folder


@pytest.mark.filterwarnings("ignore:constrained_layout not applied")  # a label as long as a figure is high
@pytest.mark.parametrize("is_terminal", [True, False])
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_itself, ["report", "FOLDER"]),
        (_itself, ["report", "FOLDER", "FOLDER", "--out", "compared"]),
        (_itself, ["trace", "1", "--run", "FOLDER"]),
        (_itself, ["trace", "99", "--run", "FOLDER"]),
        (_itself, ["export", "FOLDER"]),
        (_validation, ["report", "FOLDER"]),
        (_sweep, ["report", "FOLDER"]),
        (_reproduction, ["report", "FOLDER"]),
        (_unknown_experiment, ["report", "FOLDER"]),
    ],
    ids=lambda value: value.__name__ if callable(value) else " ".join(value),
)
def test_no_text_of_a_folder_steers_a_terminal_or_a_page(
    make: Callable[[Path], Path],
    words: list[str],
    is_terminal: bool,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Styles are the only sequences, and a terminal alone gets them."""
    place = make(_spoil(folder))
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr(console, "width", 400)
    monkeypatch.setattr(console, "_force_terminal", is_terminal)
    main([str(place) if word == "FOLDER" else word for word in words])
    said = capsys.readouterr()
    assert "unexpected" not in said.err
    shown = _without_styles(said.out) if is_terminal else said.out
    assert [each for each in shown + said.err if not each.isprintable() and each != "\n"] == []
    assert "[bold red]x[" in said.out + said.err
    assert ":smile:" in said.out + said.err
    for page in folder.parent.rglob("report.html"):
        html = page.read_text()
        assert "<img" not in html
        assert [each for each in html if not each.isprintable() and each not in "\n\t"] == []


def _without_styles(text: str) -> str:
    """Return the text without the sequences that rich writes: ESC, [, numbers, m."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
