# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Out of room: said before the start where it can be, else in one line with what is kept, none of it half-written."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from testbed.errors import RunError, UsageError
from testbed.execution import execute as module
from testbed.execution import room
from testbed.execution.execute import execute
from testbed.execution.room import build_programs, check_output, check_room
from testbed.plan.plan import RunPlan, RunRequest, plan_run
from testbed.recording.outcome import Silent
from tests.testbed.running import NEEDS_MININET, ROOT

PATIENCE_S = 200
TRACES = {"flows.parquet", "goodput.parquet", "lateness.parquet", "queues.parquet", "signals.parquet"}


def _plan() -> RunPlan:
    return plan_run(RunRequest("incast", clock="virtual", settings=("degree=2", "message_bytes=2000")))


def _on_small_disk(clock: str, moment: str, folder: Path, options: str = "size=4m") -> dict[str, Any]:
    """What `small_disk` tells; skips where no file system can be mounted."""
    place = folder / "small"
    place.mkdir()
    script = f'mount -t tmpfs none /run && mount -t tmpfs -o {options} none "$1" || exit 77; shift; exec "$@"'
    words = ["unshare", "--mount", "sh", "-c", script, "sh", str(place)]
    words += [sys.executable, "-m", "tests.testbed.execution.small_disk", clock, moment, str(place)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    if done.returncode == 77 or "unshare:" in done.stderr:
        pytest.skip(f"no file system of its own: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.root
def test_a_disk_that_fills_up_during_a_virtual_run(tmp_path: Path) -> None:
    """One line with what is free and what is needed; a folder in which nothing was measured goes."""
    told = _on_small_disk("virtual", "start", tmp_path)
    assert told["said"].startswith("no room left: 0 B")
    assert "this run needs about" in told["said"]
    assert told["said"].endswith("nothing was measured and nothing kept")
    assert set(told["kept"]) == {"another"}


@pytest.mark.root
def test_a_disk_that_fills_up_before_the_report(tmp_path: Path) -> None:
    """Traces and result are whole and named; nothing else is there."""
    told = _on_small_disk("virtual", "report", tmp_path)
    kept = {Path(name).name: size for name, size in told["kept"].items() if name != "another"}
    assert set(kept) == TRACES | {"config.json", "flows-input.csv", "result.json"}
    assert all(size > 0 for size in kept.values())
    assert told["said"].endswith(", ".join(sorted(kept)))


class TestLive:
    """On the real clock: switches and agents write too."""

    pytestmark = NEEDS_MININET

    def test_a_disk_that_fills_up_during_a_run(self, tmp_path: Path) -> None:
        """State folder, namespaces and processes are gone."""
        told = _on_small_disk("real", "start", tmp_path)
        assert told["said"].startswith("no room left: 0 B") or "could not write its files: No space" in told["said"]
        assert all(size > 0 for name, size in told["kept"].items() if "/logs/" not in name)
        assert told["left"] == []

    def test_a_disk_that_fills_up_before_the_report(self, tmp_path: Path) -> None:
        """What was measured is whole."""
        told = _on_small_disk("real", "report", tmp_path)
        assert told["said"].startswith("no room left: 0 B")
        assert {Path(name).name for name in told["kept"]} >= TRACES | {"result.json"}
        assert not any(".partial" in name for name in told["kept"])
        assert told["left"] == []


def test_an_error_in_the_report_keeps_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same without a file system of one's own: the plots do not fit."""

    def full(folder: Path) -> Path:
        (folder / ".fct.png.partial").write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder / "fct.png"))

    monkeypatch.setattr(module, "write_run_report", full)
    with pytest.raises(RunError, match=r"no room left: .*; this run needs about [0-9]+ B and [0-9]+ files; kept in"):
        execute(_plan(), tmp_path, Silent())
    [folder] = tmp_path.iterdir()
    assert {path.name for path in folder.glob("*.parquet")} == TRACES
    assert pl.read_parquet(folder / "flows.parquet").height == 2
    assert not list(folder.rglob(".*"))


def test_other_errors_stay_what_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of ours is not taken for a full disk."""

    def broken(folder: Path) -> Path:
        raise KeyError("column")

    monkeypatch.setattr(module, "write_run_report", broken)
    with pytest.raises(KeyError):
        execute(_plan(), tmp_path, Silent())


def test_more_runs_than_fit_are_refused_beforehand(tmp_path: Path) -> None:
    """A sweep needs room for all its runs: so many of the smallest fit no disk."""
    check_room([_plan()], tmp_path)
    with pytest.raises(UsageError, match=r"cannot write there: No space left on device; [0-9]+ B .* are needed"):
        check_room([_plan()], tmp_path, times=10**13)
    assert not list(tmp_path.iterdir())


def test_a_full_place_for_the_compiled_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused before the run's folder is made."""

    def full(_: object) -> Path:
        raise OSError(errno.ENOSPC, "no room for the C compiler")

    monkeypatch.setattr(room, "build_engine", full)
    with pytest.raises(UsageError, match="cannot be compiled: no room left"):
        build_programs([_plan()])


def test_nothing_stays_of_the_question_whether_there_is_room(tmp_path: Path) -> None:
    """Neither where the folder is there nor where it is not."""
    check_output(tmp_path)
    check_output(tmp_path / "not" / "there")
    assert not list(tmp_path.iterdir())


def test_ctrl_c_at_any_instant_leaves_no_folder_of_the_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once as soon as the folder is there, and once when its removal begins."""
    make, remove = Path.mkdir, shutil.rmtree
    removals = []

    def make_and_interrupt(path: Path, mode: int = 0o777) -> None:
        make(path, mode)
        raise KeyboardInterrupt

    def interrupt_first(path: Path, ignore_errors: bool = False) -> None:
        removals.append(path)
        if len(removals) == 1:
            raise KeyboardInterrupt
        remove(path, ignore_errors=ignore_errors)

    monkeypatch.setattr(Path, "mkdir", make_and_interrupt)
    monkeypatch.setattr(shutil, "rmtree", interrupt_first)
    with pytest.raises(KeyboardInterrupt):
        check_output(tmp_path)
    assert removals
    assert list(tmp_path.iterdir()) == []
