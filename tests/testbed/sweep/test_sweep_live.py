# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for sweeps on the real clock, which run one job at a time on a machine."""

from __future__ import annotations

import fcntl
import os
import subprocess
import time
from pathlib import Path

import polars as pl

from sfc_testbed.testbed.system.run_ids import STATE_ROOT
from tests.appearing import await_file
from tests.testbed.running import NEEDS_MININET, ROOT, command

pytestmark = NEEDS_MININET


def test_real_clock_jobs_wait_for_the_lock_of_the_real_clock(tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text("name: live\nscenario: incast\nschemes: [irn, sfc]\nclock: real\n"
                  "settings: {message_bytes: 20000, degree: 2}\n")  # fmt: skip
    STATE_ROOT.mkdir(parents=True, exist_ok=True)
    folder = tmp_path / "out" / "live"
    lock = os.open(STATE_ROOT, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = subprocess.Popen(
            command("sweep", str(file), "--out", str(tmp_path / "out")),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        await_file(folder, "jobs/.*.lock", process)
        time.sleep(5)
        assert not list(folder.glob("jobs/.*.partial"))
    finally:
        os.close(lock)
    _, problems = process.communicate(timeout=250)
    assert process.returncode == 0, problems
    table = pl.read_parquet(folder / "results.parquet")
    assert table["clock"].to_list() == ["real", "real"]
    assert table["flows_completed"].to_list() == [2, 2]
