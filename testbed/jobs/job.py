# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Jobs, which are runs in separate processes, and their execution and results.

Sweeps and reproductions share this module. They differ in where a run's folder goes and in what they do with results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from analysis.results.spec import ClockName, RunSpec
from testbed.interrupt import interruptible
from testbed.jobs.local import LocalExecutor
from testbed.jobs.task import Executor, Task, TaskEnd

_MODULE = "testbed.jobs.run_job"
# Real-clock runs come last, when no virtual run competes for processor time.
_CLOCKS: tuple[ClockName, ...] = ("virtual", "real")

Tell = Callable[[int, int, str], None]
"""A progress callback: number of finished jobs, number of all jobs, label of the last one."""


@dataclass(frozen=True)
class Job:
    """A run and the place of its folder.

    Without a `name`, the run gets a new folder in `out`, which is kept even if the run was interrupted. With a name the
    folder is `out`/`name`. It appears when the run is complete, and a job with an existing folder is not run again.
    """

    label: str
    request: RunSpec
    out: Path
    name: str | None = None
    code: str | None = None
    """The required digest of the code (`testbed.system.code`). None: any code."""
    page: bool = True
    """Whether to write the report page of the run."""


class JobFinished(BaseModel):
    """The run is complete. Its result says whether it can be trusted."""

    model_config = ConfigDict(frozen=True)

    state: Literal["finished"] = "finished"
    folder: Path


class JobFailed(BaseModel):
    """The run failed and has no result. The reason is one line."""

    model_config = ConfigDict(frozen=True)

    state: Literal["failed"] = "failed"
    reason: str


class JobInterrupted(BaseModel):
    """The run was interrupted, or never started. The folder, if any, has the measurements up to then."""

    model_config = ConfigDict(frozen=True)

    state: Literal["interrupted"] = "interrupted"
    folder: Path | None = None


JobResult = JobFinished | JobFailed | JobInterrupted
Ended = Callable[[int, JobResult], None]
"""A callback for each finished job: index of the job and its result."""
JOB_RESULT: TypeAdapter[JobResult] = TypeAdapter(Annotated[JobResult, Field(discriminator="state")])
JOB: TypeAdapter[Job] = TypeAdapter(Job)


@dataclass(frozen=True)
class JobResults:
    """Results of jobs, in the order of the jobs."""

    in_order: tuple[JobResult, ...]
    is_interrupted: bool
    """Whether Ctrl-C ended the jobs early. Jobs that finished before have results."""


def executor_for(scheduler: str | None, workers: int | None) -> Executor:
    """Return an executor on a Dask scheduler, or on this machine with some cores, by default all."""
    if scheduler is None:
        return LocalExecutor(workers)
    from testbed.jobs.cluster import ClusterExecutor  # Dask loads slowly and is rarely needed

    return ClusterExecutor(scheduler)


def forget(number: int, result: JobResult) -> None:
    """Ignore the result of a finished job. This is the default callback."""


def run_jobs(jobs: Sequence[Job], executor: Executor, tell: Tell, ended: Ended = forget) -> JobResults:
    """Run jobs: virtual-clock ones in parallel, then real-clock ones one at a time.

    Ctrl-C ends all jobs and keeps the finished ones. `ended` is called with index and result as soon as a job ends.
    """
    results_by_number: dict[int, JobResult] = {}
    with interruptible() as interrupt:
        for clock in _CLOCKS:
            numbers = [number for number, job in enumerate(jobs) if job.request.clock == clock]

            def take(place: int, end: TaskEnd, numbers: Sequence[int] = numbers) -> None:
                number = numbers[place]
                results_by_number[number] = _result_of(end)
                ended(number, results_by_number[number])
                tell(len(results_by_number), len(jobs), jobs[number].label)

            if numbers:
                is_served = clock == "virtual"  # the process of a live run may keep more than memory
                tasks = [Task(_MODULE, partial(_payload, jobs[number]), is_served) for number in numbers]
                executor.run(tasks, take, interrupt, one_at_a_time=clock == "real")
    results = tuple(results_by_number.get(number, JobInterrupted()) for number in range(len(jobs)))
    return JobResults(results, interrupt.is_requested)


def _payload(job: Job) -> str:
    return JOB.dump_json(job).decode()


def _result_of(end: TaskEnd) -> JobResult:
    """Return the result that a job printed. A job that crashed or was ended early printed none."""
    try:
        return JOB_RESULT.validate_json((end.answer.strip().splitlines() or [""])[-1])
    except ValidationError:
        return JobInterrupted() if end.was_stopped else JobFailed(reason=end.last_words)
