# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for untrusted folders: their text cannot control a terminal or a page, and their links are not followed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfc_testbed.analysis.results.comparison import result_row
from sfc_testbed.analysis.results.result import read_result
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.analysis.validation.comparison import compare_clocks
from sfc_testbed.analysis.validation.record import Validation, write_validation
from sfc_testbed.cli.app import main
from sfc_testbed.cli.output import console
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.telemetry.journal import new_journal
from sfc_testbed.telemetry.schema import FLOWS
from sfc_testbed.telemetry.writer import write_trace
from sfc_testbed.testbed.sweep.sweep import jobs_of, read_sweep
from tests.conftest import Refused

STEERING = "\x1b]0;owned\x07\x9b31m\x7f\u202e\r[bold red]x[/nothing]:smile:<img src=x onerror=alert(1)>"
"""A sequence that sets a terminal's title, a C1 sequence, DEL, a text direction, a carriage return, markup and HTML."""
NAME = STEERING.replace("/", "|")
KEPT = ("schema", "schema_version", "clock", "verdict", "topology", "transport_settings", "experiment")
"""Keys whose values are checked by the reader of the file. With another value the file would be refused."""

TREASURE = "not ours"
SWEEP = "name: small\nscenario: incast\nschemes: [irn]\nsettings: {degree: 2, message_bytes: 2000}\n"


def _spoiled(value: Any, name: str = "") -> Any:
    """Return the JSON value with control characters in every text and in every free key."""
    if name in KEPT:
        return value
    if isinstance(value, dict):
        free = ("fct_slowdown", "drops", "switch_events", "host_events", "buffer_bytes", "thresholds_bytes")
        return {f"{key}{STEERING}" if name in free else key: _spoiled(entry, key) for key, entry in value.items()}
    if isinstance(value, list):
        return [_spoiled(entry) for entry in value]
    return f"{value}{STEERING}" if isinstance(value, str) else value


def _spoil(folder: Path) -> Path:
    """Put control characters in the texts and the name of a run folder, and return the new path."""
    for name in ("result.json", "config.json"):
        content = json.loads((folder / name).read_text())
        if name == "result.json":
            content["drops"] = {"tail_drop": 7}
        (folder / name).write_text(json.dumps(_spoiled(content)))
    flows = pl.read_parquet(folder / "flows.parquet")
    write_trace(folder / "flows.parquet", FLOWS, flows.with_columns(pl.col("tag") + STEERING))
    return folder.rename(folder.with_name(f"run{NAME}"))


def _validation(folder: Path) -> Path:
    path = _honest_validation(folder) / "validation.json"
    spoiled = _spoiled(json.loads(path.read_text()))
    for pair in spoiled["runs"]:
        pair |= {"virtual_folder": folder.name, "live_folder": folder.name}
        for metric in pair["metrics"]:
            metric["metric"] += f".{STEERING}"
    path.write_text(json.dumps(spoiled))
    return path.parent


def _sweep(folder: Path) -> Path:
    row = {**result_row(read_result(folder)), "job": STEERING, "traffic_class": STEERING, "scheme": STEERING}
    rows = [{f"axis.{STEERING}": f"{place}{STEERING}", **row, "job": f"{place}{STEERING}"} for place in range(2)]
    pl.DataFrame(rows).write_parquet(folder.parent / "results.parquet")
    (folder.parent / "sweep.json").write_text(json.dumps({"name": STEERING, "scenario": STEERING}))
    return folder.parent


def _reproduction(folder: Path) -> Path:
    name = next(iter(EXPERIMENTS))
    program = {"name": STEERING, "path": STEERING, "sha256": STEERING}
    content: dict[str, Any] = {
        "schema": "sfc-testbed/reproduction/3",
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


@pytest.mark.filterwarnings("ignore:constrained_layout not applied")  # a label is longer than the height of a figure
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
def test_text_of_a_folder_cannot_control_a_terminal_or_a_page(
    make: Callable[[Path], Path],
    words: list[str],
    is_terminal: bool,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The only escape sequences are styles, and only a terminal gets them."""
    place = make(_spoil(folder))
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr(console, "width", 400)
    monkeypatch.setattr(console, "_force_terminal", is_terminal)
    main([str(place) if word == "FOLDER" else word for word in words])
    output = capsys.readouterr()
    assert "unexpected" not in output.err
    visible_out = _without_styles(output.out) if is_terminal else output.out
    assert [char for char in visible_out + output.err if not char.isprintable() and char != "\n"] == []
    assert "[bold red]x[" in output.out + output.err
    assert ":smile:" in output.out + output.err
    for page in folder.parent.rglob("report.html"):
        html = page.read_text()
        assert "<img" not in html
        assert [char for char in html if not char.isprintable() and char not in "\n\t"] == []


def _without_styles(text: str) -> str:
    """Return the text without the sequences that rich writes: ESC, [, numbers, m."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Create a folder outside of the run folder, whose files must not change."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "treasure").write_text(TREASURE)
    return folder


def _is_untouched(elsewhere: Path) -> bool:
    return [(path.name, path.read_text()) for path in elsewhere.rglob("*")] == [("treasure", TREASURE)]


def _honest_sweep(folder: Path) -> Path:
    rows = [{"axis.degree": degree, "job": f"{degree}", **result_row(read_result(folder))} for degree in (2, 4)]
    pl.DataFrame(rows).write_parquet(folder.parent / "results.parquet")
    (folder.parent / "sweep.json").write_text('{"name": "small", "scenario": "incast"}')
    return folder.parent


def _honest_validation(folder: Path) -> Path:
    run = compare_clocks(load_run(folder), load_run(folder), "")
    run = run.model_copy(update={"virtual_folder": folder.name, "live_folder": folder.name})
    content = Validation(runs=(run,), failures=("one",), left_out=("another",))
    write_validation(folder.parent / "validation.json", content)
    return folder.parent


@pytest.mark.parametrize(
    ("make", "words", "written"),
    [
        (_itself, ["report", "FOLDER"], "."),
        (_itself, ["export", "FOLDER"], "hpcc"),
        (_itself, ["export", "FOLDER", "--out", "FOLDER"], "."),
        (_itself, ["report", "FOLDER", "FOLDER", "--out", "FOLDER"], "."),
        (_honest_sweep, ["report", "FOLDER"], "."),
        (_honest_validation, ["report", "FOLDER"], "."),
        (_reproduction, ["report", "FOLDER"], "."),
    ],
    ids=lambda value: value.__name__ if callable(value) else "-".join(value),
)
def test_a_link_in_place_of_a_file_is_replaced_and_never_written_through(
    make: Callable[[Path], Path], words: list[str], written: str, folder: Path, elsewhere: Path
) -> None:
    """The links have the names of all files that the verb writes, and the names of the unfinished files."""
    place = make(folder)
    arguments = [str(place) if word == "FOLDER" else word for word in words]
    ages_before = _ages(place / written)
    assert main(arguments) in (0, 3)
    names = [name for name, age in _ages(place / written).items() if ages_before.get(name) != age]
    assert names
    for name in names:
        if name not in ("validation.json", "reproduction.json"):
            (place / written / name).unlink()
            (place / written / name).symlink_to(elsewhere / "treasure")
        (place / written / f".{name}.partial").symlink_to(elsewhere / "treasure")
    assert main(arguments) in (0, 3)
    assert _is_untouched(elsewhere)
    assert not [name for name in names if (place / written / name).is_symlink()]
    assert not list(place.rglob(".*.partial"))


def _ages(folder: Path) -> dict[str, int]:
    """Return when each file of a folder was written."""
    files = folder.iterdir() if folder.is_dir() else ()
    return {path.name: path.stat().st_mtime_ns for path in files if path.is_file()}


def test_export_refuses_a_link_in_place_of_its_folder(folder: Path, elsewhere: Path, refused: Refused) -> None:
    (folder / "hpcc").symlink_to(elsewhere)
    refused(["export", folder], f"{folder / 'hpcc'}: a symbolic link")
    assert _is_untouched(elsewhere)
    chosen = folder.parent / "chosen"
    chosen.symlink_to(elsewhere)
    assert main(["export", str(folder), "--out", str(chosen)]) == 0
    assert (elsewhere / "flow.txt").exists()


@pytest.mark.parametrize("name", ["logs", "journal"])
def test_report_refuses_links_in_an_unfinished_run(name: str, folder: Path, elsewhere: Path, refused: Refused) -> None:
    """`report` removes the samples in `logs` and the whole `journal` when the traces are complete."""
    (folder / "result.json").unlink()
    shutil.rmtree(folder / "logs")
    new_journal(folder, ["treasure"], dilation_factor=1).release()
    shutil.move(folder / name, folder.parent / "moved")
    (elsewhere / "treasure").rename(elsewhere / "treasure.samples")
    for path in (folder.parent / "moved").iterdir():
        shutil.move(path, elsewhere)
    (folder / name).symlink_to(elsewhere)
    refused(["report", folder], f"{folder / name}: a symbolic link")


def test_sweep_refuses_links_in_a_sweep_that_it_resumes(elsewhere: Path, tmp_path: Path, refused: Refused) -> None:
    """The existing folder may come from another user."""
    Path("sweep.yaml").write_text(SWEEP)
    words = ["sweep", "sweep.yaml", "--out", "runs", "--workers", "1"]
    Path("runs").mkdir()
    for link in (Path("runs/small"), Path("runs/small/jobs")):
        link.symlink_to(elsewhere)
        refused(words, f"{tmp_path / link}: a symbolic link")
        link.unlink()
        Path("runs/small").mkdir(exist_ok=True)
    assert _is_untouched(elsewhere)


@pytest.mark.parametrize("name", [".{}.lock", ".{}.partial", "journal.jsonl", "{}"])
def test_a_job_of_a_sweep_fails_rather_than_write_through_a_link(
    name: str, elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sweep.yaml").write_text(SWEEP)
    [job] = jobs_of(read_sweep(Path("sweep.yaml")))
    link = Path.cwd() / "runs/small/jobs" / name.format(job.name)
    link.parent.mkdir(parents=True)
    is_file = link.name.endswith(("lock", "jsonl"))
    link.symlink_to(elsewhere / "treasure" if is_file else elsewhere)
    assert main(["sweep", "sweep.yaml", "--out", "runs", "--workers", "1"]) == 3
    assert f"{link}: a symbolic link" in capsys.readouterr().err
    assert _is_untouched(elsewhere)


def test_a_stored_run_never_executes_the_extensions_that_it_names(folder: Path, tmp_path: Path) -> None:
    hostile, executed = tmp_path / "hostile.py", tmp_path / "executed"
    hostile.write_text(f"open({str(executed)!r}, 'w')\n")
    path = folder / "config.json"
    use = {"word": str(hostile), "path": str(hostile), "sha256": "0" * 64}
    path.write_text(json.dumps({**json.loads(path.read_text()), "uses": [use]}))
    for words in (["report", str(folder)], ["trace", "1", "--run", str(folder)], ["export", str(folder)]):
        assert main(words) == 0
    assert not executed.exists()
