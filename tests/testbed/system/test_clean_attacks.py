# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that attack root's `clean` as a hostile user: only a run's remains may be ended or removed.

Everything happens in private namespaces. Malicious run IDs point to the test's folder, so that a vulnerable `clean` of
another user on this machine could do no harm.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.testbed.running import ROOT
from tests.testbed.system.private_machine import NOBODY, PrivateMachine, end, private_machine

pytestmark = pytest.mark.root

PYTHON = [sys.executable, "-c"]
CLEAN = [sys.executable, str(ROOT / "runner.py"), "clean"]
IN_TREE = f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
CLAIM = (
    IN_TREE + "from sfc_testbed.testbed.system.run_ids import *; run_id = new_run_id(); claim_state_directory(run_id); "
)
SLOW_TO_SAVE_S = 4
RUNNER = (
    CLAIM
    + "import signal, time; signals = []; signal.signal(signal.SIGTERM, lambda *_: signals.append(1))\n"
    + "print(run_id, flush=True)\n"
    + "while not signals: time.sleep(0.05)\n"
    + f"time.sleep({SLOW_TO_SAVE_S}); print('saved', len(signals), flush=True)"
)


@pytest.fixture
def machine() -> Iterator[PrivateMachine]:
    with private_machine() as private:
        yield private


def _dead_run(machine: PrivateMachine) -> str:
    return machine.run(*PYTHON, CLAIM + "print(run_id)").stdout.decode().strip()


@pytest.mark.parametrize("form", ["{victim}", "../..{victim}"], ids=["absolute", "upwards"])
def test_a_path_in_the_run_variable_ends_and_removes_nothing(
    form: str, machine: PrivateMachine, tmp_path: Path
) -> None:
    """Any user can set the variable to any path."""
    victim = tmp_path / "victim"
    victim.mkdir()
    hostile = [machine.sleeper(uid=uid, run=form.format(victim=victim)) for uid in (NOBODY, 0)]
    dead = _dead_run(machine)
    done = machine.run(*CLEAN)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == f"{dead}: ended 0 processes\n"
    assert victim.exists()
    assert [process.poll() for process in hostile] == [None, None]
    for process in hostile:
        end(process)


def test_only_roots_processes_with_a_run_id_are_ended(machine: PrivateMachine) -> None:
    """A process of the user nobody with the ID of a dead run is left alone."""
    dead = _dead_run(machine)
    nobodys, roots = machine.sleeper(uid=NOBODY, run=dead), machine.sleeper(run=dead)
    for words in ([], [dead]):
        done = machine.run(*CLEAN, *words)
        assert nobodys.poll() is None, done.stdout
    assert roots.wait(10) != 0
    for process in (nobodys, roots):
        end(process)


@pytest.mark.parametrize("name", [b"", b".", b"../..", b"/tmp", b"\xff\xfe", b"\x1b[2J[red]", b"00000000-00000000"])
def test_a_name_that_is_no_run_is_refused(name: bytes, machine: PrivateMachine) -> None:
    """The message is one line without control characters, and no other run is cleaned."""
    dead = _dead_run(machine)
    done = machine.run(*CLEAN, dead, os.fsdecode(name))
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stderr.startswith(b"runner.py: ") and done.stderr.count(b"\n") == 1
    assert done.stderr.decode().rstrip("\n").isprintable()
    assert machine.run("test", "-d", f"/run/sfc-testbed/{dead}").returncode == 0


def test_unexpected_entries_are_named_and_left_alone(machine: PrivateMachine, tmp_path: Path) -> None:
    """The entries are names with invalid UTF-8 or escapes, a link, and another user's folder."""
    victim = tmp_path / "victim"
    victim.mkdir()
    _dead_run(machine)
    make = (
        f"import os; os.chdir('/run/sfc-testbed'); os.mkdir(b'\\xff\\x1b[2J'); os.mkdir('[red]x'); "
        f"os.symlink({str(victim)!r}, '00000000-00000001'); "
        f"os.mkdir('00000000-00000002'); os.chown('00000000-00000002', {NOBODY}, {NOBODY})"
    )
    assert machine.run(*PYTHON, make).returncode == 0
    done = machine.run(*CLEAN)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert all(line.isprintable() for line in lines)
    assert len([line for line in lines if "left alone" in line]) == 4
    assert any("[red]x" in line for line in lines)
    assert victim.exists()
    assert len(machine.run("ls", "/run/sfc-testbed").stdout.splitlines()) == 4


def test_a_named_live_run_may_save_first(machine: PrivateMachine) -> None:
    """The runner gets one SIGTERM, and `clean` waits for it and reports what it did."""
    runner = machine.start(*PYTHON, RUNNER)
    assert runner.stdout is not None
    run_id = runner.stdout.readline().strip()
    assert "still running, left alone" in machine.run(*CLEAN).stdout.decode()
    began_s = time.monotonic()
    done = machine.run(*CLEAN, run_id)
    assert runner.stdout.read() == "saved 1\n"
    assert runner.wait() == 0
    assert time.monotonic() - began_s >= SLOW_TO_SAVE_S
    assert f"{run_id}: still running; asked it to save" in done.stdout.decode()
    assert f"{run_id}: its runner ended after 4." in done.stdout.decode()
    assert machine.run("ls", "/run/sfc-testbed").stdout == b""
    end(runner)
