# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ctrl-C and SIGTERM at every moment of a command: 130 and one line that says what was kept, never a traceback.

A command started by its name hears signals from its first moment on; most tests wait until it answers them. Delays
below are there to be anywhere in it; what is asserted holds for all of them.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import psutil
import pytest
import typer

from command.app import _guarded
from command.output import EXIT_CODES
from command.planning import end_by_outcome
from testbed.errors import Interrupted
from testbed.execution.execute import StoredRun
from tests.appearing import await_file, found
from tests.testbed.running import are_gone, children_of, hear_interrupts

ROOT = Path(__file__).resolve().parents[2]
SMALL = ("--clock", "virtual", "--set", "degree=2", "--set", "message_bytes=20000")
LONG = ("--clock", "virtual", "--set", "message_bytes=200000000", "--duration", "10000")
PROGRESS = re.compile(r"\d+/\d+ ")


def _started(*words: str) -> subprocess.Popen[str]:
    """A command that hears signals."""
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "runner.py"), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_interrupts,
    )
    _await(lambda: process.poll() is not None or _catches(process.pid, signal.SIGTERM))
    return process


def _catches(pid: int, number: signal.Signals) -> bool:
    """Python itself catches SIGINT, but SIGTERM only for us."""
    [mask] = re.findall(r"^SigCgt:\s*([0-9a-f]+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return bool(int(mask, 16) >> (number - 1) & 1)


def _await(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert is_so()


def _interrupted(process: subprocess.Popen[str], *numbers: signal.Signals) -> tuple[str, list[str]]:
    """What a command says after these signals: stdout, and on stderr what is no progress. Nothing outlives it."""
    family = children_of(process.pid) if process.poll() is None else []
    for number in numbers:
        process.send_signal(number)
    said, told = process.communicate(timeout=180)
    assert "Traceback" not in said + told
    lines = [line for line in told.splitlines() if not PROGRESS.match(line)]
    assert process.returncode in (0, 130), told
    assert len(lines) == (process.returncode == 130), told
    assert all(line.startswith("runner.py: interrupted") for line in lines)
    assert are_gone(family)
    return said, lines


@pytest.mark.parametrize("delay_s", [0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 3.0])
@pytest.mark.parametrize("numbers", [(signal.SIGINT,), (signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)])
@pytest.mark.long
def test_at_any_moment_of_a_comparison(delay_s: float, numbers: tuple[signal.Signals, ...], tmp_path: Path) -> None:
    """While it loads, runs, draws or compares. No file is left that is none of a run's."""
    process = _started("compare", "incast", "--schemes", "irn,gbn,sfc", *SMALL, "--out", str(tmp_path / "runs"))
    time.sleep(delay_s)
    _interrupted(process, *numbers)
    assert not list(tmp_path.rglob(".*"))


@pytest.mark.parametrize("is_pressed", [True, False])
def test_a_library_may_make_another_error_of_ctrl_c(is_pressed: bool) -> None:
    """As matplotlib's C code does in the middle of a plot: "Invalid bounding box"."""

    def verb() -> None:
        try:
            if is_pressed:
                signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            pass
        raise ValueError("Invalid bounding box")

    with pytest.raises(Interrupted if is_pressed else ValueError):
        _guarded(verb)()


def test_before_anything_is_loaded(tmp_path: Path) -> None:
    """The first thing that a command does is to hear signals; nothing is started then."""
    process = _started("run", "incast", *SMALL, "--out", str(tmp_path / "runs"))
    _, lines = _interrupted(process, signal.SIGINT)
    assert process.returncode == 130
    assert lines == ["runner.py: interrupted; nothing was started"]
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("delay_s", [step / 200 for step in range(14)])
def test_while_the_interpreter_starts(delay_s: float, tmp_path: Path) -> None:
    """Started by its name the command is deaf until it can answer; before that, the signal just ends a process."""
    process = subprocess.Popen(
        [str(ROOT / "runner.py"), "run", "incast", *SMALL, "--out", str(tmp_path / "runs")],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        preexec_fn=hear_interrupts,
    )
    time.sleep(delay_s)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=100)
    assert process.returncode in (130, -signal.SIGINT)
    assert said in ("", "runner.py: interrupted; nothing was started\n", "runner.py: interrupted\n")


def test_a_run_that_is_measuring_keeps_its_figures(tmp_path: Path) -> None:
    """Its result says that it was interrupted, its page is there, the last line says where."""
    process = _started("run", "incast", *LONG, "--out", str(tmp_path))
    await_file(tmp_path, "*/flows-input.csv", process)
    time.sleep(3)
    _, [line] = _interrupted(process, signal.SIGINT)
    [folder] = tmp_path.iterdir()
    assert line == f"runner.py: interrupted: what was measured until then is in {folder}"
    assert json.loads((folder / "result.json").read_text())["interrupted"]
    assert (folder / "report.html").exists()


def test_a_second_one_does_not_wait_for_the_figures(tmp_path: Path) -> None:
    """Traces are saved all the same, or nothing is left of a run that had not begun."""
    process = _started("run", "incast", *LONG, "--out", str(tmp_path))
    await_file(tmp_path, "*/flows-input.csv", process)
    time.sleep(3)
    _, [line] = _interrupted(process, signal.SIGINT, signal.SIGINT, signal.SIGINT)
    [folder] = tmp_path.iterdir()
    assert str(folder) in line
    assert pl.read_parquet(folder / "flows.parquet").height == 8


def test_while_its_page_is_drawn_a_run_is_kept_whole(tmp_path: Path) -> None:
    """The result is stored before; the line says how to draw the page."""
    process = _started("run", "incast", *SMALL, "--out", str(tmp_path))
    await_file(tmp_path, "*/result.json", process)
    _, lines = _interrupted(process, signal.SIGINT)
    [folder] = tmp_path.iterdir()
    result = json.loads((folder / "result.json").read_text())
    assert (result["interrupted"], result["flows"]["completed"]) == (False, 2)
    if lines and not (folder / "report.html").exists():
        assert f"(./runner.py report {folder})" in lines[0]


def test_a_comparison_names_the_schemes_it_lacks(tmp_path: Path) -> None:
    """On stderr, in its JSON and on its page."""
    words = ("compare", "incast", "--schemes", "irn,gbn,sfc", "--json", "--out", str(tmp_path))
    process = _started(*words, *LONG)
    await_file(tmp_path, "*/flows-input.csv", process)
    time.sleep(3)
    said, [line] = _interrupted(process, signal.SIGINT)
    assert "interrupted: gbn, sfc not run; " in line
    comparison = json.loads(said)
    assert comparison["missing_schemes"] == ["gbn", "sfc"]
    assert [row["scheme"] for row in comparison["rows"]] == ["irn"]
    [page] = tmp_path.glob("incast-compare-*/report.html")
    assert "Interrupted before these schemes were run: gbn, sfc." in page.read_text()


@pytest.mark.parametrize("numbers", [(signal.SIGINT,), (signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)])
def test_workers_of_a_sweep_say_nothing(numbers: tuple[signal.Signals, ...], tmp_path: Path) -> None:
    """One line for all of them, with how many jobs are done."""
    file = tmp_path / "sweep.yaml"
    file.write_text("name: small\nscenario: incast\nschemes: [irn, gbn, sfc]\nsettings: {message_bytes: 200000000}\n")
    process = _started("sweep", str(file), "--out", str(tmp_path), "--workers", "2")
    await_file(tmp_path / "small" / "jobs", ".*.partial/*/flows-input.csv", process)
    _, [line] = _interrupted(process, *numbers)
    assert line.startswith("runner.py: interrupted: 0 of 3 runs are complete, in ")


def test_an_interrupted_reproduction_says_how_far_it_came(tmp_path: Path) -> None:
    """Before its first run is complete there is nothing to judge."""
    process = _started("reproduce", "theory", "--out", str(tmp_path))
    _await(lambda: bool(found(tmp_path, "*/config.json")) or _ended(process))
    _, [line] = _interrupted(process, signal.SIGINT)
    assert re.fullmatch(r"runner.py: interrupted: \d+ of \d+ runs are complete, [01] experiments judged, in .*", line)


def _ended(process: subprocess.Popen[str]) -> bool:
    return process.poll() is not None or not psutil.pid_exists(process.pid)


def test_an_interrupted_report_leaves_no_half_of_a_page(tmp_path: Path) -> None:
    """Whenever it comes while an old page is drawn anew: the old one or the new one."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "runner.py"), "run", "incast", *SMALL, "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stderr == ""
    [folder] = tmp_path.iterdir()
    for delay_s in (0.5, 1.0, 1.5, 2.0):
        process = _started("report", str(folder))
        time.sleep(delay_s)
        _interrupted(process, signal.SIGINT)
        assert (folder / "report.html").read_text().rstrip().endswith("</html>")
        assert not list(folder.glob(".*"))


class _Figures:
    """As much of a result as decides the exit code."""

    def __init__(self, *, interrupted: bool, verdict: str) -> None:
        self.interrupted = interrupted
        self.verdict = verdict


@pytest.mark.parametrize("verdict", ["faithful", "degraded", "invalid"])
def test_interrupted_goes_before_invalid(verdict: str) -> None:
    """130 whatever the verdict; without an interruption the verdict decides."""
    figures = _Figures(interrupted=True, verdict=verdict)
    run = StoredRun(Path("somewhere"), figures, Path("page"), interrupted=True)  # type: ignore[arg-type]
    with pytest.raises(Interrupted, match="what was measured until then is in somewhere"):
        end_by_outcome([run])
    whole = StoredRun(Path("somewhere"), figures, Path("page"), interrupted=False)  # type: ignore[arg-type]
    if verdict == "invalid":
        with pytest.raises(typer.Exit):
            end_by_outcome([whole])
    else:
        end_by_outcome([whole])


def test_exit_codes_are_the_same_everywhere() -> None:
    """`--help` and README.md show the table of the code."""
    shown = subprocess.run(
        [sys.executable, str(ROOT / "runner.py"), "--help"], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    readme = (ROOT / "README.md").read_text()
    for code, meaning in EXIT_CODES.items():
        assert f"{code:>5}  {meaning}\n" in shown
        assert f"| {code} | {meaning} |\n" in readme
