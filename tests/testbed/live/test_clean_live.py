# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`clean` and a run that lives: it may save, nothing of it stays, and nobody else could command its switches."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

from testbed.system.run_ids import RUN_VARIABLE, STATE_ROOT, known_runs, new_run_id, owner_of
from tests.testbed import running

pytestmark = running.NEEDS_MININET
LONG = ["--scale", "ci", "--dilation", "10000", "--set", "message_bytes=100000000", "--duration", "1000"]


def test_a_cleaned_run_has_saved(tmp_path: Path) -> None:
    """Under umask 000 what lies in the state root is root's alone; cleaned by name, the run leaves its result."""
    before = running.remains()
    umask = os.umask(0)
    try:
        child = running.start(tmp_path, "incast", *LONG)
    finally:
        os.umask(umask)
    [run_id] = [each for each in known_runs() if (owner := owner_of(each)) is not None and owner.pid == child.pid]
    state = STATE_ROOT / run_id
    sockets = list(state.glob("*.control"))
    assert sockets
    assert {path.stat().st_mode & 0o077 for path in (STATE_ROOT, state, *state.iterdir())} == {0}
    running.wait_until_measuring(tmp_path)
    agents = {str(each.pid) for each in running.children_of(child.pid) if "hosts.agent" in each.cmdline()}
    assert agents
    assert agents <= running.remains()["processes"] - before["processes"]
    done = running.run("clean", run_id)
    assert child.wait(1) in (0, 3, 130), (tmp_path / "log").read_text()
    assert f"{run_id}: its runner ended" in done.stdout, done.stderr
    [folder] = (tmp_path / "runs").iterdir()
    assert json.loads((folder / "result.json").read_text())["interrupted"]
    assert running.left_since(before) == {}


def test_what_other_tests_killed_is_not_ours() -> None:
    """Tests run beside each other: a dead run's process counts for those that started it, and for them alone."""
    run = {**os.environ, RUN_VARIABLE: new_run_id()}
    of_others = running.sleeper({**run, running.TESTS_VARIABLE: "others"})
    ours = running.sleeper(run)
    try:
        processes = running.remains()["processes"]
        assert (str(ours.pid) in processes, str(of_others.pid) in processes) == (True, False)
    finally:
        for each in (ours, of_others):
            running.kill(each)


def test_what_does_not_say_whose_it_is_has_time_to_go() -> None:
    """A container of a run that a test beside these has killed: it is there until that test has cleaned."""
    before = running.remains()
    nobodys = {name: value for name, value in os.environ.items() if name != running.TESTS_VARIABLE}
    other = running.sleeper({**nobodys, RUN_VARIABLE: new_run_id()})
    ending = threading.Timer(0.5, running.kill, [other])
    ending.start()
    try:
        assert running.left_since(before) == {}
    finally:
        ending.join()


def test_a_run_may_end_while_others_are_looked_for(tmp_path: Path) -> None:
    """Its folder was listed and has gone."""
    assert running.runner_in(tmp_path / "gone") is None
    (tmp_path / "owner").write_text("12 345\n")
    assert running.runner_in(tmp_path) == 12
