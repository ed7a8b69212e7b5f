# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Further tries of late runs, by an executor that only counts; tests/testbed/validation has those that succeed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from testbed.interrupt import Interrupt
from testbed.jobs import retrying
from testbed.jobs.job import JOB_RESULT, Job, JobFinished
from testbed.jobs.retrying import run_jobs_retrying
from testbed.jobs.task import Take, Task, TaskEnd
from testbed.plan.plan import RunRequest


class FirstOnly:
    """Its first task leaves a folder, all others fail."""

    def __init__(self, folder: Path) -> None:
        self.asked = 0
        self._first = JOB_RESULT.dump_json(JobFinished(folder=folder)).decode()

    def run(self, tasks: Sequence[Task], take: Take, interrupt: Interrupt, *, one_at_a_time: bool = False) -> None:
        for number, _ in enumerate(tasks):
            self.asked += 1
            take(number, TaskEnd(0, self._first, "", False) if self.asked == 1 else TaskEnd(1, "", "no room", False))


def test_a_try_that_fails_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the same D nothing is gained; the late run stays what there is, and is told of once."""
    late = SimpleNamespace(
        scenario="incast", variant="sfc", dilation=2_000, faithful_dilation=3_000, verdict="degraded", interrupted=False
    )
    monkeypatch.setattr(retrying, "read_result", lambda folder: late)
    executor, said = FirstOnly(tmp_path / "late"), list[str]()
    jobs = [Job("label", RunRequest("incast"), tmp_path)]
    done = run_jobs_retrying(jobs, executor, lambda *_: None, said.append)
    assert done.each == (JobFinished(folder=tmp_path / "late"),)
    assert (executor.asked, len(said)) == (2, 1)
