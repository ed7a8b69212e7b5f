# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for Ctrl-C and SIGTERM at any moment of a command: status 130 and one line about kept data, no traceback."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
import typer

from sfc_testbed.cli.app import _guarded
from sfc_testbed.cli.output import EXIT_CODES
from sfc_testbed.cli.planning import end_by_outcome, end_by_results
from sfc_testbed.testbed.errors import Interrupted
from sfc_testbed.testbed.execution.execute import StoredRun
from tests.appearing import await_file, comes_true, found
from tests.testbed import running
from tests.testbed.running import are_gone, children_of

SMALL = ("--clock", "virtual", "--set", "degree=2", "--set", "message_bytes=20000")
LONG = ("--clock", "virtual", "--set", "message_bytes=200000000", "--duration", "10000")
SIGNALS = [(signal.SIGINT,), (signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)]
MEASURING = "*/logs/*.samples"
"""Files that a run writes when it saves its first measurements."""
PROGRESS = re.compile(r"\d+/\d+ |\d+ runs")


def _started(*words: str) -> subprocess.Popen[str]:
    """Start a command and return it once it handles signals."""
    process = running.started(*words)
    assert comes_true(lambda: process.poll() is not None or _catches(process.pid, signal.SIGTERM))
    return process


def _catches(pid: int, number: signal.Signals) -> bool:
    """Return whether a process has a handler for a signal. Python itself catches SIGINT but not SIGTERM."""
    [mask] = re.findall(r"^SigCgt:\s*([0-9a-f]+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return bool(int(mask, 16) >> (number - 1) & 1)


def _interrupted(process: subprocess.Popen[str], *numbers: signal.Signals) -> tuple[str, list[str]]:
    """Send signals and return stdout and the lines of stderr without progress. Check that no child process remains."""
    family = children_of(process.pid) if process.poll() is None else []
    for number in numbers:
        process.send_signal(number)
    stdout, stderr = process.communicate(timeout=180)
    assert "Traceback" not in stdout + stderr
    lines = [line for line in stderr.splitlines() if not PROGRESS.match(line)]
    assert process.returncode in (0, 130), stderr
    assert len(lines) == (process.returncode == 130), stderr
    assert all(line.startswith("runner.py: interrupted") for line in lines)
    assert are_gone(family)
    return stdout, lines


@pytest.mark.parametrize(
    "moment", ["*/config.json", "*/result.json", "*/report.html", "*gbn*/config.json", "*sfc*/result.json", "*compare*"]
)
@pytest.mark.parametrize("numbers", SIGNALS)
@pytest.mark.long
def test_signals_at_any_moment_of_a_comparison(
    moment: str, numbers: tuple[signal.Signals, ...], tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    process = _started("compare", "incast", "--schemes", "irn,gbn,sfc", *SMALL, "--out", str(runs))
    await_file(runs, moment, process)
    _interrupted(process, *numbers)
    assert not list(tmp_path.rglob(".*"))


@pytest.mark.parametrize("is_pressed", [True, False])
def test_a_library_that_turns_ctrl_c_into_another_error_is_interrupted(is_pressed: bool) -> None:
    """Matplotlib's C code does this in the middle of a plot: "Invalid bounding box"."""

    def verb() -> None:
        try:
            if is_pressed:
                signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            pass
        raise ValueError("Invalid bounding box")

    with pytest.raises(Interrupted if is_pressed else ValueError):
        _guarded(verb)()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_before_modules_are_loaded_starts_nothing(number: signal.Signals, tmp_path: Path) -> None:
    process = _started("run", "incast", *SMALL, "--out", str(tmp_path / "runs"))
    _, lines = _interrupted(process, number)
    assert process.returncode == 130
    assert lines == ["runner.py: interrupted; nothing was started"]
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("delay_s", [step / 200 for step in range(14)])
def test_signals_while_the_interpreter_starts(delay_s: float, tmp_path: Path) -> None:
    """Early signals end the process silently. Later ones are blocked until the command can handle them."""
    words = [str(running.ROOT / "runner.py"), "run", "incast", *SMALL, "--out", str(tmp_path / "runs")]
    process = running.start_interruptible(words)
    time.sleep(delay_s)  # no event can be observed before the handlers are installed
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=100)
    assert process.returncode in (130, -signal.SIGINT)
    assert stderr in ("", "runner.py: interrupted; nothing was started\n", "runner.py: interrupted\n")


def test_a_run_that_is_measuring_keeps_its_figures(tmp_path: Path) -> None:
    process = _started("run", "incast", *LONG, "--out", str(tmp_path))
    await_file(tmp_path, MEASURING, process)
    _, [line] = _interrupted(process, signal.SIGINT)
    [folder] = tmp_path.iterdir()
    page = f"`./runner.py report {folder}` draws its page"
    assert line == f"runner.py: interrupted: what was measured until then is in {folder}; {page}"
    assert json.loads((folder / "result.json").read_text())["interrupted"]
    assert not (folder / "report.html").exists()


def test_after_a_second_signal_a_run_does_not_wait_for_its_figures(tmp_path: Path) -> None:
    process = _started("run", "incast", *LONG, "--out", str(tmp_path))
    await_file(tmp_path, MEASURING, process)
    _, [line] = _interrupted(process, signal.SIGINT, signal.SIGINT, signal.SIGINT)
    [folder] = tmp_path.iterdir()
    assert str(folder) in line
    assert pl.read_parquet(folder / "flows.parquet").height == 8


def test_a_run_interrupted_while_drawing_its_page_is_complete(tmp_path: Path) -> None:
    """The result is stored before, and the line names the command that draws the page."""
    process = _started("run", "incast", *SMALL, "--out", str(tmp_path))
    await_file(tmp_path, "*/result.json", process)
    _, lines = _interrupted(process, signal.SIGINT)
    [folder] = tmp_path.iterdir()
    result = json.loads((folder / "result.json").read_text())
    assert (result["interrupted"], result["flows"]["completed"]) == (False, 2)
    if lines and not (folder / "report.html").exists():
        assert lines[0].endswith(f"; `./runner.py report {folder}` draws its page")


def test_an_interrupted_comparison_names_the_missing_schemes(tmp_path: Path) -> None:
    words = ("compare", "incast", "--schemes", "irn,gbn,sfc", "--json", "--out", str(tmp_path))
    process = _started(*words, *LONG)
    await_file(tmp_path, MEASURING, process)
    stdout, [line] = _interrupted(process, signal.SIGINT)
    [folder] = tmp_path.iterdir()
    assert "interrupted: gbn, sfc not run; what was measured until then is in " in line
    assert line.endswith(f"; `./runner.py report {folder}` draws a page")
    comparison = json.loads(stdout)
    assert comparison["missing_schemes"] == ["gbn", "sfc"]
    assert [row["scheme"] for row in comparison["rows"]] == ["irn"]
    assert "Interrupted before these schemes were run: gbn, sfc." in comparison["warnings"]


@pytest.mark.parametrize("numbers", SIGNALS)
def test_an_interrupted_sweep_prints_one_line_and_its_workers_none(
    numbers: tuple[signal.Signals, ...], tmp_path: Path
) -> None:
    file = tmp_path / "sweep.yaml"
    lasting = "duration_ms: 10000\nsettings: {message_bytes: 200000000}\n"
    file.write_text(f"name: small\nscenario: incast\nschemes: [irn, gbn, sfc]\n{lasting}")
    process = _started("sweep", str(file), "--out", str(tmp_path), "--workers", "2")
    await_file(tmp_path / "small" / "jobs", ".*.partial/*/flows-input.csv", process)
    _, [line] = _interrupted(process, *numbers)
    assert line.startswith("runner.py: interrupted: 0 of 3 runs are complete, in ")
    assert not found(tmp_path, "small/jobs/*/result.json")


def test_an_interrupted_reproduction_prints_its_complete_runs(tmp_path: Path) -> None:
    """The command may be interrupted before its first run is complete."""
    process = _started("reproduce", "theory", "--out", str(tmp_path))
    runs = tmp_path / "reproduction-runs"
    await_file(runs, ".*.partial/*/config.json", process)
    _, [line] = _interrupted(process, signal.SIGINT)
    kept = rf"\d+ of \d+ runs are complete, in {re.escape(str(runs))}"
    assert re.fullmatch(f"runner.py: interrupted: {kept}; repeat the command to run the rest", line)
    assert [path.name for path in tmp_path.iterdir()] == ["reproduction-runs"], "nothing is judged"


@pytest.mark.parametrize("library", ["", "polars", "matplotlib"])
def test_an_interrupted_report_leaves_no_incomplete_page(library: str, folder: Path) -> None:
    """The page is either the old one or the new one. The moments are those at which the command loads a library."""
    process = _started("report", str(folder))
    assert comes_true(lambda: process.poll() is not None or library in Path(f"/proc/{process.pid}/maps").read_text())
    _interrupted(process, signal.SIGINT)
    assert (folder / "report.html").read_text().rstrip().endswith("</html>")
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("verdict", ["faithful", "degraded", "invalid"])
def test_the_status_of_an_interrupted_run_does_not_depend_on_its_verdict(verdict: str) -> None:
    figures: Any = SimpleNamespace(interrupted=True, verdict=verdict, did_finish=True)
    interrupted, whole = (StoredRun(Path("here"), figures, Path("page"), interrupted=each) for each in (True, False))
    with pytest.raises(Interrupted, match="what was measured until then is in here"):
        end_by_outcome([interrupted])
    if verdict == "invalid":
        with pytest.raises(typer.Exit):
            end_by_outcome([whole])
    else:
        end_by_outcome([whole])


@pytest.mark.parametrize(("verdict", "code"), [("faithful", 5), ("degraded", 5), ("invalid", 3)])
def test_unfinished_work_has_an_exit_code_unless_the_run_is_invalid(verdict: str, code: int) -> None:
    good: Any = SimpleNamespace(verdict="faithful", did_finish=True)
    dead: Any = SimpleNamespace(verdict=verdict, did_finish=False)
    end_by_results([good, good])
    with pytest.raises(typer.Exit) as ended:
        end_by_results([good, dead])
    assert ended.value.exit_code == code


def test_help_and_readme_show_the_exit_codes_of_the_code() -> None:
    help_text = running.run("--help").stdout
    readme = (running.ROOT / "README.md").read_text()
    for code, meaning in EXIT_CODES.items():
        assert f"{code:>5}  {meaning}\n" in help_text
        assert f"| {code} | {meaning} |\n" in readme
