# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A job is a run that is made in a process of its own; what becomes of many of them.

Sweeps and reproductions differ in where a run's folder goes and in what they do with the results, not in this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from testbed.interrupt import interruptible
from testbed.jobs.local import LocalExecutor
from testbed.jobs.task import Executor, Task, TaskEnd
from testbed.plan.plan import ClockName, RunRequest

_MODULE = "testbed.jobs.run_job"
# Real-clock runs last, when no virtual one takes their processor time.
_CLOCKS: tuple[ClockName, ...] = ("virtual", "real")

Tell = Callable[[int, int, str], None]
"""Told the jobs done, their number and the label of the last."""


@dataclass(frozen=True)
class Job:
    """A run and where its folder goes.

    Without a `name` the folder is a new one in `out`, kept even if the run was cut short. With one it is
    `out`/`name`: it appears when the run is complete, and a job whose folder is there is not run again.
    """

    label: str
    request: RunRequest
    out: Path
    name: str | None = None
    code: str | None = None
    """Digest of the code that must run it (`testbed.system.code`); None: whatever is there."""
    page: bool = True
    """Whether its page is drawn."""


class JobFinished(BaseModel):
    """The run is complete; whether it can be trusted stands in its result."""

    model_config = ConfigDict(frozen=True)

    state: Literal["finished"] = "finished"
    folder: Path


class JobFailed(BaseModel):
    """There is no result, for a reason of one line."""

    model_config = ConfigDict(frozen=True)

    state: Literal["failed"] = "failed"
    reason: str


class JobInterrupted(BaseModel):
    """Cut short, or not begun before everything was. The folder, if there is one, has what was measured until then."""

    model_config = ConfigDict(frozen=True)

    state: Literal["interrupted"] = "interrupted"
    folder: Path | None = None


JobResult = JobFinished | JobFailed | JobInterrupted
Ended = Callable[[int, JobResult], None]
"""Told the place of a job and what became of it."""
JOB_RESULT: TypeAdapter[JobResult] = TypeAdapter(Annotated[JobResult, Field(discriminator="state")])
JOB: TypeAdapter[Job] = TypeAdapter(Job)


@dataclass(frozen=True)
class JobResults:
    """What became of jobs, in their order."""

    each: tuple[JobResult, ...]
    is_interrupted: bool
    """By Ctrl-C; what was done before is there."""


def executor_for(scheduler: str | None, workers: int | None) -> Executor:
    """A Dask scheduler's workers, else some of this machine's cores, by default all."""
    if scheduler is None:
        return LocalExecutor(workers)
    from testbed.jobs.cluster import ClusterExecutor  # Dask is slow to load, and rarely wanted

    return ClusterExecutor(scheduler)


def forget(number: int, result: JobResult) -> None:
    """For whom the results at the end are soon enough."""


def run_jobs(jobs: Sequence[Job], executor: Executor, tell: Tell, ended: Ended = forget) -> JobResults:
    """Runs jobs, virtual ones side by side, then real ones one at a time. Ctrl-C ends them and keeps what is done.

    `ended` is told a job's place and what became of it as soon as it is known.
    """
    found: dict[int, JobResult] = {}
    with interruptible() as interrupt:
        for clock in _CLOCKS:
            numbers = [number for number, job in enumerate(jobs) if job.request.clock == clock]

            def take(place: int, end: TaskEnd, numbers: Sequence[int] = numbers) -> None:
                number = numbers[place]
                found[number] = _result_of(end)
                ended(number, found[number])
                tell(len(found), len(jobs), jobs[number].label)

            if numbers:
                is_served = clock == "virtual"  # a live run leaves more behind it than memory
                tasks = [Task(_MODULE, partial(_payload, jobs[number]), is_served) for number in numbers]
                executor.run(tasks, take, interrupt, one_at_a_time=clock == "real")
    results = tuple(found.get(number, JobInterrupted()) for number in range(len(jobs)))
    return JobResults(results, interrupt.is_requested)


def _payload(job: Job) -> str:
    return JOB.dump_json(job).decode()


def _result_of(end: TaskEnd) -> JobResult:
    """What the job answered; one that broke, or was ended before it could, answers nothing."""
    try:
        return JOB_RESULT.validate_json((end.answer.strip().splitlines() or [""])[-1])
    except ValidationError:
        return JobInterrupted() if end.was_stopped else JobFailed(reason=end.last_words)
