# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`clean` and a running run: the run may save its result, nothing of it stays, and its switches are private."""

from __future__ import annotations

import json
from pathlib import Path

from sfc_testbed.testbed.system.run_ids import known_runs, owner_of
from tests.testbed import running

pytestmark = running.NEEDS_MININET
LONG = ["--scale", "ci", "--dilation", "10000", "--set", "message_bytes=100000000", "--duration", "1000"]


def test_a_cleaned_run_has_saved(tmp_path: Path) -> None:
    before = running.remains()
    child = running.start(tmp_path, "incast", *LONG)
    [run_id] = [known for known in known_runs() if (owner := owner_of(known)) is not None and owner.pid == child.pid]
    running.wait_until_measuring(tmp_path)
    agents = {
        str(process.pid) for process in running.children_of(child.pid) if "sfc_testbed.hosts.agent" in process.cmdline()
    }
    assert agents
    assert agents <= running.remains()["processes"] - before["processes"]
    done = running.run("clean", run_id)
    assert child.wait(1) in (0, 3, 130), (tmp_path / "log").read_text()
    assert f"{run_id}: its runner ended" in done.stdout, done.stderr
    [folder] = (tmp_path / "runs").iterdir()
    assert json.loads((folder / "result.json").read_text())["interrupted"]
    assert running.left_since(before) == {}
