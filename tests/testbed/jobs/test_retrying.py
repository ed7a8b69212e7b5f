# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The choice of late runs to repeat, and failing retries. tests/testbed/validation tests successful ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sfc_testbed.analysis.results.result import RunResult
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.execution.retry import retry_of
from sfc_testbed.testbed.jobs import retrying
from sfc_testbed.testbed.jobs.job import JOB_RESULT, Job, JobFinished
from sfc_testbed.testbed.jobs.retrying import run_jobs_retrying
from sfc_testbed.testbed.jobs.task import Take, Task, TaskEnd
from sfc_testbed.testbed.plan.dilations import MAX_DILATION, DecidedDilation
from sfc_testbed.testbed.plan.plan import plan_run
from tests.analysis.validation.small import small_run


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


REQUEST = RunSpec("incast", dilation=1_000)
FOLDER = Path("runs") / "incast-sfc-1"


def _result(**changes: Any) -> RunResult:
    late = {"dilation": 1_000, "faithful_dilation": 20_000, "verdict": "invalid"}
    return small_run().result.model_copy(update={**late, **changes})


def test_a_late_run_is_repeated_at_the_faithful_dilation() -> None:
    """A dilation that the user gave is replaced too, because it was too small."""
    again = retry_of(REQUEST, FOLDER, _result())
    assert again == (RunSpec("incast", dilation=1_000, retry_of="incast-sfc-1"), DecidedDilation(20_000))
    config = plan_run(*again).config
    assert (config.dilation, config.retry_of, config.dilation_given) == (20_000, "incast-sfc-1", True)
    assert "--dilation 20000" in config.command
    assert plan_run(REQUEST).config.retry_of is None


@pytest.mark.parametrize(
    "changes",
    [{"faithful_dilation": None}, {"interrupted": True}, {"faithful_dilation": MAX_DILATION + 1}],
)
def test_other_runs_are_not_repeated(changes: dict[str, object]) -> None:
    assert retry_of(REQUEST, FOLDER, _result(**changes)) is None
