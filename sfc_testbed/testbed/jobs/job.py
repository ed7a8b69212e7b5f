# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Jobs, which are runs in separate processes, and their execution and results.

Sweeps and reproductions share this module. They differ in where a run's folder goes and in what they do with results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from sfc_testbed.analysis.results.result import RESULT_FILE
from sfc_testbed.request.spec import ClockName, RunSpec
from sfc_testbed.testbed.interrupt import interruptible
from sfc_testbed.testbed.jobs.effort import Effort
from sfc_testbed.testbed.jobs.local import LocalExecutor
from sfc_testbed.testbed.jobs.task import Executor, Task, TaskEnd
from sfc_testbed.testbed.jobs.time_left import TimeLeft
from sfc_testbed.testbed.plan.dilations import DecidedDilation

_MODULE = "sfc_testbed.testbed.jobs.run_job"
# Real-clock runs come last, when no virtual run competes for processor time.
_CLOCKS: tuple[ClockName, ...] = ("virtual", "real")


@dataclass(frozen=True)
class JobsState:
    """The progress of jobs."""

    done: int
    total: int
    ended: str | None = None
    """The label of the job that has just ended, if this state reports its end."""
    share: float = 0.0
    """The share of all expected work that is done."""
    left_s: float | None = None
    """The expected time until all jobs have ended. None: the efforts of the jobs are not known."""
    after: str | None = None
    """The work of the command after all jobs have ended."""


Tell = Callable[[JobsState], None]
"""A progress callback, which is also called between ends of jobs."""


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
    effort: Effort | None = None
    decided: DecidedDilation | None = None
    """The dilation, if the command has decided it for this run and this machine."""

    @property
    def complete_folder(self) -> Path | None:
        """The folder of an earlier complete run of this job."""
        folder = None if self.name is None else self.out / self.name
        return folder if folder is not None and (folder / RESULT_FILE).exists() else None


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
    from sfc_testbed.testbed.jobs.cluster import ClusterExecutor  # Dask loads slowly and is rarely needed

    return ClusterExecutor(scheduler)


def forget(number: int, result: JobResult) -> None:
    """Ignore the result of a finished job. This is the default callback."""


def run_jobs(jobs: Sequence[Job], executor: Executor, tell: Tell, ended: Ended = forget) -> JobResults:
    """Run the jobs that are not complete: virtual-clock ones in parallel, then real-clock ones one at a time.

    Ctrl-C ends all jobs and keeps the finished ones. `ended` is called with index and result as soon as a job ends.
    """
    folders = {number: job.complete_folder for number, job in enumerate(jobs)}
    results_by_number: dict[int, JobResult] = {
        number: JobFinished(folder=folder) for number, folder in folders.items() if folder is not None
    }
    missing = [number for number in folders if number not in results_by_number]
    with interruptible() as interrupt:
        time_left = TimeLeft({number: core_seconds(jobs[number], executor) for number in missing}, executor.parallel)

        def report(label: str | None, running: Mapping[int, float]) -> None:
            share, left_s = time_left.share(running), time_left.estimate_s(running)
            tell(JobsState(len(results_by_number), len(jobs), label, share, left_s))

        for clock in _CLOCKS:
            numbers = [number for number in missing if jobs[number].request.clock == clock]

            def take(place: int, end: TaskEnd, numbers: Sequence[int] = numbers) -> None:
                number = numbers[place]
                results_by_number[number] = _result_of(end)
                time_left.end(number)
                ended(number, results_by_number[number])
                report(jobs[number].label, {})

            def shares(by_place: Mapping[int, float], numbers: Sequence[int] = numbers) -> None:
                report(None, {numbers[place]: share for place, share in by_place.items()})

            if numbers:
                executor.run(
                    [_task(jobs[number]) for number in numbers],
                    take,
                    interrupt,
                    shares,
                    one_at_a_time=clock == "real",
                )
    results = tuple(results_by_number.get(number, JobInterrupted()) for number in range(len(jobs)))
    return JobResults(results, interrupt.is_requested)


def core_seconds(job: Job, executor: Executor) -> float:
    """Return the expected seconds of a job on one core. A live run keeps all cores of the executor."""
    seconds = 0.0 if job.effort is None else job.effort.seconds
    return seconds * executor.parallel if job.request.clock == "real" else seconds


def _task(job: Job) -> Task:
    is_virtual = job.request.clock == "virtual"  # the process of a live run may keep more than memory, and has children
    return Task(
        _MODULE,
        partial(_payload, job),
        is_served=is_virtual,
        is_resumable=is_virtual and job.name is not None,
        memory_bytes=0 if job.effort is None else job.effort.memory_bytes,
    )


def _payload(job: Job) -> str:
    return JOB.dump_json(job).decode()


def _result_of(end: TaskEnd) -> JobResult:
    """Return the result that a job printed. A job that crashed or was ended early printed none."""
    try:
        return JOB_RESULT.validate_json((end.answer.strip().splitlines() or [""])[-1])
    except ValidationError:
        return JobInterrupted() if end.was_stopped else JobFailed(reason=end.last_words)
