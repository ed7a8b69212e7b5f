# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Makes the runs of experiments and starts the processes that judge their claims.

The results are in the runs' folders and in one folder per experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reproduction.jobs import ExperimentJob
from reproduction.judge import Case
from reproduction.record import FILE_NAME, StoredReproduction, read_reproduction
from scenarios.model.scenario import ScaleName
from testbed.errors import RunError
from testbed.interrupt import interruptible
from testbed.jobs.job import Job, JobFinished, JobResults, Tell
from testbed.jobs.local import LocalExecutor
from testbed.jobs.retrying import run_jobs_retrying
from testbed.jobs.task import Executor, Task, TaskEnd
from testbed.plan.settings import settings_words
from testbed.recording.folder import make_folder


@dataclass(frozen=True)
class ReproducedExperiments:
    """The experiments that were judged; after Ctrl-C, from the runs that were complete by then."""

    experiments: tuple[StoredReproduction, ...]
    ran: int
    """The number of complete runs."""
    is_interrupted: bool


def reproduce(
    scale: ScaleName,
    jobs: Sequence[ExperimentJob],
    out: Path,
    executor: Executor,
    tell: Tell,
    tell_retry: Callable[[str], None] | None = None,
) -> ReproducedExperiments:
    """Run the jobs of some experiments and judge every experiment. The runs get no pages.

    With `tell_retry`, live runs that were late are repeated, and the last run counts.
    """
    run_jobs = [Job(job.label, job.request, out, page=False) for job in jobs]
    done = run_jobs_retrying(run_jobs, executor, tell, tell_retry)
    cases = _cases(scale, jobs, done, out)
    was_waited_for = _judge_all(cases)
    judged = [case.folder for case in cases if was_waited_for or (case.folder / FILE_NAME).exists()]
    return ReproducedExperiments(
        tuple(read_reproduction(folder) for folder in judged),
        sum(isinstance(result, JobFinished) for result in done.in_order),
        done.is_interrupted or not was_waited_for,
    )


def _cases(scale: ScaleName, jobs: Sequence[ExperimentJob], done: JobResults, out: Path) -> list[Case]:
    """Make a folder for every experiment, unless it was interrupted before its first complete run."""
    cases = []
    for name in dict.fromkeys(job.experiment for job in jobs):
        pairs = zip(jobs, done.in_order, strict=True)
        runs = tuple((job.point.label, result) for job, result in pairs if job.experiment == name)
        if done.is_interrupted and not any(isinstance(result, JobFinished) for _, result in runs):
            continue
        first = next(job for job in jobs if job.experiment == name)
        program = first.request.program
        program_names = [] if program is None else [str(program.name)]
        folder = make_folder(out, "-".join([name, scale, *program_names, "reproduction"]))
        cases.append(
            Case(
                experiment=name,
                scale=scale,
                folder=folder,
                runs=runs,
                changed=settings_words(first.changed),
                program=program and replace(program, text="", word=None),
            )
        )
    return cases


def _judge_all(cases: Sequence[Case]) -> bool:
    """Judge all experiments. Return False if this was interrupted. RunError if an experiment could not be judged."""
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
