# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for failing retries of late runs, with a fake executor. tests/testbed/validation tests successful ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.jobs import retrying
from sfc_testbed.testbed.jobs.job import JOB_RESULT, Job, JobFinished
from sfc_testbed.testbed.jobs.retrying import run_jobs_retrying
from sfc_testbed.testbed.jobs.task import Take, Task, TaskEnd


def test_a_failed_retry_is_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another try at the same dilation is useless. The late run remains the result, and one retry is reported."""
    late = SimpleNamespace(
        scenario="incast", variant="sfc", dilation=2_000, faithful_dilation=3_000, verdict="degraded", interrupted=False
    )
    monkeypatch.setattr(retrying, "read_result", lambda folder: late)
    first = JOB_RESULT.dump_json(JobFinished(folder=tmp_path / "late")).decode()
    ends, reports = [TaskEnd(0, first, "", False), TaskEnd(1, "", "no room", False)], list[str]()

    def run(tasks: Sequence[Task], take: Take, *_: object, **__: object) -> None:
        for number in range(len(tasks)):
            take(number, ends.pop(0))

    executor: Any = SimpleNamespace(parallel=1, run=run)
    jobs = [Job("label", RunSpec("incast"), tmp_path)]
    done = run_jobs_retrying(jobs, executor, lambda *_: None, reports.append)
    assert done.in_order == (JobFinished(folder=tmp_path / "late"),)
    assert ends == []
    line = f"incast sfc was late at D = 2000 (degraded, kept in {tmp_path / 'late'}); repeating it at D = 3000"
    assert reports == [line]
