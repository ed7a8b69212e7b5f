# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ending runs by name, bounded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from testbed.system import cleanup, run_ids
from testbed.system.cleanup import RunnerEnd, clean
from tests.testbed.running import ROOT

DEAF_RUNNER = """
import signal, sys, time
from pathlib import Path
from testbed.system import run_ids
run_ids.STATE_ROOT = Path(sys.argv[1])
signal.signal(signal.SIGTERM, signal.SIG_IGN)
run_id = run_ids.new_run_id()
run_ids.claim_state_directory(run_id)
print(run_id, flush=True)
time.sleep(600)
"""


def test_a_runner_that_does_not_listen_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """After its time to save is over; the state folder goes too."""
    monkeypatch.setattr(run_ids, "STATE_ROOT", tmp_path / "state")
    monkeypatch.setattr(cleanup, "SAVE_SECONDS", 0.5)
    words = [sys.executable, "-c", DEAF_RUNNER, str(tmp_path / "state")]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        run_id = runner.stdout.readline().strip()
        [left] = clean()
        assert left.runner is RunnerEnd.LEFT_ALONE
        waited: list[tuple[str, float]] = []
        [done] = clean([run_id], before_waiting=lambda *said: waited.append(said))
        assert waited == [(run_id, 0.5)]
        assert done.runner is RunnerEnd.KILLED and done.waited_s >= 0.5
        assert runner.wait() == -9
    assert run_ids.known_runs() == []
