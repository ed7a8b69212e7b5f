# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Makes the runs of experiments and has their claims held against them. Decides nothing about the claims.

All that is kept is in the runs' folders and in one folder for each experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reproduction.jobs import ExperimentJob
from reproduction.judge import Case
from reproduction.record import FILE_NAME, StoredReproduction, read_reproduction
from scenarios.model.scenario import ScaleName
from testbed.errors import RunError
from testbed.execution.execute import make_folder
from testbed.interrupt import interruptible
from testbed.jobs.job import Job, JobFinished, JobResults, Tell
from testbed.jobs.local import LocalExecutor
from testbed.jobs.retrying import run_jobs_retrying
from testbed.jobs.task import Executor, Task, TaskEnd
from testbed.plan.config import program_config


@dataclass(frozen=True)
class ReproducedExperiments:
    """What `reproduce` made; after Ctrl-C of the runs that were done until then."""

    each: tuple[StoredReproduction, ...]
    ran: int
    """Runs that are complete."""
    is_interrupted: bool


def reproduce(
    scale: ScaleName,
    jobs: Sequence[ExperimentJob],
    out: Path,
    executor: Executor,
    tell: Tell,
    tell_retry: Callable[[str], None] | None = None,
) -> ReproducedExperiments:
    """Runs the jobs of some experiments and concludes each that has a run. Of their runs no page is drawn.

    Where somebody is to be told of retries, live runs that were late are made again, and the last one counts.
    """
    wanted = [Job(job.label, job.request, out, page=False) for job in jobs]
    done = run_jobs_retrying(wanted, executor, tell, tell_retry)
    cases = _cases(scale, jobs, done, out)
    was_waited_for = _judge_all(cases)
    judged = [case.folder for case in cases if was_waited_for or (case.folder / FILE_NAME).exists()]
    return ReproducedExperiments(
        tuple(read_reproduction(folder) for folder in judged),
        sum(isinstance(result, JobFinished) for result in done.each),
        done.is_interrupted or not was_waited_for,
    )


def _cases(scale: ScaleName, jobs: Sequence[ExperimentJob], done: JobResults, out: Path) -> list[Case]:
    """Every experiment in a folder of its own; not one that was interrupted before any run."""
    cases = []
    for name in dict.fromkeys(job.experiment for job in jobs):
        pairs = zip(jobs, done.each, strict=True)
        runs = tuple((job.point.label, result) for job, result in pairs if job.experiment == name)
        if done.is_interrupted and not any(isinstance(result, JobFinished) for _, result in runs):
            continue
        first = next(job for job in jobs if job.experiment == name)
        given = first.request.program
        folder = make_folder(out, "-".join([name, scale, *([given.name] if given else []), "reproduction"]))
        cases.append(
            Case(
                experiment=name,
                scale=scale,
                folder=folder,
                runs=runs,
                changed=first.changed,
                program=program_config(given) if given else None,
            )
        )
    return cases


def _judge_all(cases: Sequence[Case]) -> bool:
    """Whether somebody waited for it. RunError if a page could not be made."""
    failures = []

    def take(number: int, end: TaskEnd) -> None:
        if end.status != 0:
            failures.append(f"{cases[number].experiment}: {end.last_words}")

    with interruptible() as interrupt:
        tasks = [Task("reproduction.judge", case.model_dump_json) for case in cases]
        LocalExecutor().run(tasks, take, interrupt)
    if failures and not interrupt.is_requested:
        raise RunError(failures[0])
    return not interrupt.is_requested
