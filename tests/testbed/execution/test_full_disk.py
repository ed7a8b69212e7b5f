# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Disks that fill up during a run: the error is one line that lists the complete files."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import RunError, UsageError
from sfc_testbed.testbed.execution import execute as module
from sfc_testbed.testbed.execution import programs
from sfc_testbed.testbed.execution.execute import execute
from sfc_testbed.testbed.execution.programs import build_programs
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.recording.outcome import Silent
from tests.testbed.running import NEEDS_MININET, ROOT, outcome_of

TRACES = {"flows.parquet", "goodput.parquet", "lateness.parquet", "links.parquet", "queues.parquet", "signals.parquet"}


def _plan() -> RunPlan:
    return plan_run(RunSpec("incast", clock="virtual", settings={"degree": 2, "message_bytes": 2000}))


def _on_small_disk(clock: str, moment: str, folder: Path) -> dict[str, Any]:
    """Return the output of `small_disk`; skip the test if no file system can be mounted."""
    place = folder / "small"
    place.mkdir()
    script = 'mount -t tmpfs none /run && mount -t tmpfs -o size=4m none "$1" || exit 77; shift; exec "$@"'
    words = ["unshare", "--mount", "sh", "-c", script, "sh", str(place)]
    words += [sys.executable, "-m", "tests.testbed.execution.small_disk", clock, moment, str(place)]
    done = outcome_of(words, cwd=ROOT)
    if done.returncode == 77 or "unshare:" in done.stderr:
        pytest.skip(f"no file system of its own: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    outcome: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return outcome


_CLOCKS = [pytest.param("virtual", marks=pytest.mark.root), pytest.param("real", marks=NEEDS_MININET)]


@pytest.mark.parametrize("clock", _CLOCKS)
def test_a_disk_that_fills_up_during_a_run(clock: str, tmp_path: Path) -> None:
    """The error is one line with the free space. The state folder, namespaces and processes are removed.

    On the virtual clock nothing is measured, so that the folder is removed too.
    """
    outcome = _on_small_disk(clock, "start", tmp_path)
    error = outcome["error"]
    is_of_switch = clock == "real" and "could not write its files: No space" in error
    assert error.startswith("no room left: 0 B") or is_of_switch
    assert all(size > 0 for name, size in outcome["files"].items() if "/logs/" not in name)
    assert outcome["left"] == []
    if clock == "virtual":
        assert error.endswith("nothing was measured, so the folder was removed")
        assert set(outcome["files"]) == {"another"}


@pytest.mark.parametrize("clock", _CLOCKS)
def test_a_disk_that_fills_up_before_the_report(clock: str, tmp_path: Path) -> None:
    """Traces and the result are complete and listed; no partial files remain."""
    outcome = _on_small_disk(clock, "report", tmp_path)
    files = {Path(name).name: size for name, size in outcome["files"].items() if "/logs/" not in name}
    del files["another"]
    assert set(files) == TRACES | {"config.json", "flows-input.csv", "result.json"}
    assert all(size > 0 for size in files.values())
    assert outcome["error"].startswith("no room left: 0 B")
    assert outcome["error"].endswith(", ".join(sorted(files)))
    assert outcome["left"] == []


def test_an_error_in_the_report_keeps_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with a simulated full disk: the plots do not fit."""

    def full(folder: Path, failures: list[str], *, pictures: bool) -> Path:
        (folder / ".fct.png.partial").write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder / "fct.png"))

    monkeypatch.setattr(module, "write_run_report", full)
    with pytest.raises(RunError, match=r"no room left: [0-9]+ B free on .*; kept in"):
        execute(_plan(), tmp_path, Silent())
    [folder] = tmp_path.iterdir()
    assert {path.name for path in folder.glob("*.parquet")} == TRACES
    assert pl.read_parquet(folder / "flows.parquet").height == 2
    assert not list(folder.rglob(".*"))


def test_other_errors_are_not_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(folder: Path, failures: list[str], *, pictures: bool) -> Path:
        raise KeyError("column")

    monkeypatch.setattr(module, "write_run_report", broken)
    with pytest.raises(KeyError):
        execute(_plan(), tmp_path, Silent())


def test_a_full_cache_of_compiled_programs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error comes before the run's folder is made."""

    def full(_: object) -> Path:
        raise OSError(errno.ENOSPC, "no room for the C compiler")

    monkeypatch.setattr(programs, "build_engine", full)
    with pytest.raises(UsageError, match="cannot be compiled: no room left"):
        build_programs([_plan()])
