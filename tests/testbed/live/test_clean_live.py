# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`clean` and a running run: the run may save its result, nothing of it stays, and its switches are private."""

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
    before = running.remains()
    umask = os.umask(0)
    try:
        child = running.start(tmp_path, "incast", *LONG)
    finally:
        os.umask(umask)
    [run_id] = [known for known in known_runs() if (owner := owner_of(known)) is not None and owner.pid == child.pid]
    state = STATE_ROOT / run_id
    sockets = list(state.glob("*.control"))
    assert sockets
    assert {path.stat().st_mode & 0o077 for path in (STATE_ROOT, state, *state.iterdir())} == {0}
    running.wait_until_measuring(tmp_path)
    agents = {str(process.pid) for process in running.children_of(child.pid) if "hosts.agent" in process.cmdline()}
    assert agents
    assert agents <= running.remains()["processes"] - before["processes"]
    done = running.run("clean", run_id)
    assert child.wait(1) in (0, 3, 130), (tmp_path / "log").read_text()
    assert f"{run_id}: its runner ended" in done.stdout, done.stderr
    [folder] = (tmp_path / "runs").iterdir()
    assert json.loads((folder / "result.json").read_text())["interrupted"]
    assert running.left_since(before) == {}


def test_remains_exclude_processes_of_other_test_runs() -> None:
    """Tests run in parallel: a dead run's process counts only for the tests that started it."""
    variables = {**os.environ, RUN_VARIABLE: new_run_id()}
    foreign = running.sleeper({**variables, running.TESTS_VARIABLE: "others"})
    ours = running.sleeper(variables)
    try:
        processes = running.remains()["processes"]
        assert (str(ours.pid) in processes, str(foreign.pid) in processes) == (True, False)
    finally:
        for process in (ours, foreign):
            running.kill(process)


def test_remains_without_an_owner_get_time_to_end() -> None:
    """A process without an owner may belong to a killed run of a parallel test, which will still clean it."""
    before = running.remains()
    unmarked = {name: value for name, value in os.environ.items() if name != running.TESTS_VARIABLE}
    other = running.sleeper({**unmarked, RUN_VARIABLE: new_run_id()})
    ending = threading.Timer(0.5, running.kill, [other])
    ending.start()
    try:
        assert running.left_since(before) == {}
    finally:
        ending.join()


def test_a_run_that_ends_during_the_search_is_skipped(tmp_path: Path) -> None:
    assert running.runner_in(tmp_path / "gone") is None
    (tmp_path / "owner").write_text("12 345\n")
    assert running.runner_in(tmp_path) == 12
