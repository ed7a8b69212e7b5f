# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for ending runs by name, within a time limit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sfc_testbed.testbed.system import cleanup, run_ids
from sfc_testbed.testbed.system.cleanup import RunnerEnd, clean
from tests.testbed.running import ROOT

RUNNER_IGNORING_SIGTERM = """
import signal, sys, time
from pathlib import Path
from sfc_testbed.testbed.system import run_ids
run_ids.STATE_ROOT = Path(sys.argv[1])
signal.signal(signal.SIGTERM, signal.SIG_IGN)
run_id = run_ids.new_run_id()
run_ids.claim_state_directory(run_id)
print(run_id, flush=True)
time.sleep(600)
"""


def test_a_runner_that_ignores_sigterm_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The runner is killed after its time to save, and its state folder is removed."""
    monkeypatch.setattr(run_ids, "STATE_ROOT", tmp_path / "state")
    monkeypatch.setattr(cleanup, "SAVE_SECONDS", 0.5)
    words = [sys.executable, "-c", RUNNER_IGNORING_SIGTERM, str(tmp_path / "state")]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        run_id = runner.stdout.readline().strip()
        [left] = clean()
        assert left.runner is RunnerEnd.LEFT_ALONE
        waits: list[tuple[str, float]] = []
        [done] = clean([run_id], before_waiting=lambda *arguments: waits.append(arguments))
        assert waits == [(run_id, 0.5)]
        assert done.runner is RunnerEnd.KILLED and done.waited_s >= 0.5
        assert runner.wait() == -9
    assert run_ids.known_runs() == []


DEAD_RUNNER = """
import os, subprocess, sys
from pathlib import Path
from sfc_testbed.testbed.system import run_ids
run_ids.STATE_ROOT = Path(sys.argv[1])
run_id = run_ids.new_run_id()
run_ids.claim_state_directory(run_id)
words = [sys.executable, "-c", sys.argv[2]]
child = subprocess.Popen(words, env={**os.environ, run_ids.RUN_VARIABLE: run_id}, stdout=subprocess.PIPE)
child.stdout.readline()
print(run_id)
"""
STARTING_ANOTHER = """
import os, signal, subprocess, sys, time
def start_another(number, frame):
    subprocess.Popen(["sleep", "60"])
    os._exit(0)
signal.signal(signal.SIGTERM, start_another)
print("up", flush=True)
time.sleep(600)
"""


def test_a_child_started_by_a_process_that_ends_is_ended_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A single search would miss the child, and a later `clean` would not find the run any more."""
    monkeypatch.setattr(run_ids, "STATE_ROOT", tmp_path / "state")
    words = [sys.executable, "-c", DEAD_RUNNER, str(tmp_path / "state"), STARTING_ANOTHER]
    run_id = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    assert len(run_ids.processes_of(run_id)) == 1
    [done] = clean()
    assert (done.run_id, done.runner, done.processes) == (run_id, RunnerEnd.WAS_GONE, 2)
    assert run_ids.known_runs() == []
