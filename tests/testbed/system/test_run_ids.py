# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Finding what a run left: by its id in the environment, never by a name."""

from __future__ import annotations

import os
import subprocess
import sys

from testbed.system.cleanup import end_processes
from testbed.system.run_ids import RUN_VARIABLE, Process, known_runs, new_run_id, processes_of

SLEEPER = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"]


def _sleeper(run_id: str | None) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **({RUN_VARIABLE: run_id} if run_id else {})}
    child = subprocess.Popen(SLEEPER, env=environment, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    return child


def test_processes_are_found_by_run_id_alone() -> None:
    """The run's process is found and ended, one of another run and one of none are left alone."""
    mine, other = new_run_id(), new_run_id()
    children = [_sleeper(mine), _sleeper(other), _sleeper(None)]
    try:
        found = processes_of(mine)
        assert [process.pid for process in found] == [children[0].pid]
        assert {mine, other} <= set(known_runs())
        end_processes(found)
        assert children[0].wait(10) != 0
        assert [child.poll() for child in children[1:]] == [None, None]
    finally:
        for child in children:
            child.kill()
            child.wait()
            assert child.stdout is not None
            child.stdout.close()


def test_a_process_is_not_its_pids_next_owner() -> None:
    """Pid and start time together name a process."""
    own = Process.find(os.getpid())
    assert own is not None and own.is_alive()
    assert not Process(own.pid, own.started + 1).is_alive()
