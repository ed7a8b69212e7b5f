# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Finding what a run left: by its id in the environment, never by a name."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from testbed.system import run_ids
from testbed.system.cleanup import end_processes
from testbed.system.run_ids import RUN_VARIABLE, is_alive, known_runs, new_run_id, processes_of

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


def test_a_zombie_is_gone() -> None:
    """Nobody may ever reap it: ending it does not wait for that."""
    child = subprocess.Popen(["true"])
    zombie = psutil.Process(child.pid)
    while zombie.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert not is_alive(zombie)
    end_processes([zombie])
    assert child.wait() == 0


def test_a_run_is_its_owners_until_that_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Pid and start time together name the owner; setting the machine's clock meanwhile changes neither."""
    monkeypatch.setattr(run_ids, "STATE_ROOT", tmp_path)
    folder = run_ids.claim_state_directory("run")
    owner = run_ids.owner_of("run")
    assert owner is not None and owner.pid == os.getpid()
    boot_s = psutil.boot_time()
    for module in (psutil, psutil._pslinux):
        monkeypatch.setattr(module, "boot_time", lambda: boot_s + 3_600)
    assert run_ids.owner_of("run") == owner
    pid, ticks = (folder / "owner").read_text().split()
    assert int(ticks) == int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    (folder / "owner").write_text(f"{pid} {int(ticks) + 1}")
    assert run_ids.owner_of("run") is None
    assert run_ids.owner_of("another") is None
