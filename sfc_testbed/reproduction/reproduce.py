# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Makes the runs of experiments that are not complete and starts the processes that judge their claims.

The results are in the runs' folders and in one folder per experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sfc_testbed.reproduction.jobs import ExperimentJob
from sfc_testbed.reproduction.judge import Case
from sfc_testbed.reproduction.record import StoredReproduction, read_reproduction
from sfc_testbed.request.settings import settings_words
from sfc_testbed.scenarios.model.scenario import ScaleName
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.interrupt import interruptible
from sfc_testbed.testbed.jobs.job import Job, JobFinished, JobResults, JobsState, Tell, core_seconds
from sfc_testbed.testbed.jobs.local import LocalExecutor
from sfc_testbed.testbed.jobs.retrying import run_jobs_retrying
from sfc_testbed.testbed.jobs.task import Executor, Task, TaskEnd
from sfc_testbed.testbed.jobs.time_left import in_words
from sfc_testbed.testbed.recording.folder import give_to_caller, make_folder
from sfc_testbed.testbed.system.code import code_digest

RUNS = "reproduction-runs"
"""The folder of the runs of all reproductions, in the output folder."""


@dataclass(frozen=True)
class ReproducedExperiments:
    """The experiments that were judged; none after Ctrl-C."""

    experiments: tuple[StoredReproduction, ...]
    ran: int
    """The number of complete runs."""
    is_interrupted: bool


def jobs_in(jobs: Sequence[ExperimentJob], out: Path) -> list[Job]:
    """Return the jobs of the runs, which get no pages. A run that is complete in `out` is not run again."""
    return [
        Job(
            job.label,
            job.request,
            out / RUNS,
            job.name,
            code_digest(),
            page=False,
            effort=job.effort,
            decided=job.decided,
        )
        for job in jobs
    ]


def announcement(jobs: Sequence[Job], executor: Executor) -> str:
    """Return a line with the numbers of runs and the expected time of those that are not complete."""
    missing = [job for job in jobs if job.complete_folder is None]
    complete = f", {len(jobs) - len(missing)} of them complete in {jobs[0].out}" if len(missing) < len(jobs) else ""
    if not missing:
        return f"{len(jobs)} runs{complete}"
    seconds = sum(core_seconds(job, executor) for job in missing) / executor.parallel
    packets = sum(job.effort.packets for job in missing if job.effort is not None)
    return (
        f"{len(jobs)} runs{complete}; {packets / 1e6:.1f} million packets to simulate, "
        f"in about {in_words(seconds)}, {executor.parallel} runs at a time"
    )


def reproduce(
    scale: ScaleName,
    jobs: Sequence[ExperimentJob],
    out: Path,
    executor: Executor,
    tell: Tell,
    tell_retry: Callable[[str], None] | None = None,
) -> ReproducedExperiments:
    """Run the jobs of some experiments that are not complete, and judge every experiment.

    With `tell_retry`, live runs that were late are repeated, and the last run counts. After Ctrl-C nothing is judged,
    because the command can be repeated.
    """
    (out / RUNS).mkdir(parents=True, exist_ok=True)
    done = run_jobs_retrying(jobs_in(jobs, out), executor, tell, tell_retry)
    give_to_caller(out / RUNS)
    ran = sum(isinstance(result, JobFinished) for result in done.in_order)
    if done.is_interrupted:
        return ReproducedExperiments((), ran, is_interrupted=True)
    tell(JobsState(len(jobs), len(jobs), after="judging the claims"))
    cases = _cases(scale, jobs, done, out)
    if not _judge_all(cases):
        return ReproducedExperiments((), ran, is_interrupted=True)
    return ReproducedExperiments(tuple(read_reproduction(case.folder) for case in cases), ran, is_interrupted=False)


def _cases(scale: ScaleName, jobs: Sequence[ExperimentJob], done: JobResults, out: Path) -> list[Case]:
    """Make a folder for every experiment."""
    cases = []
    for name in dict.fromkeys(job.experiment for job in jobs):
        pairs = zip(jobs, done.in_order, strict=True)
        runs = tuple((job.point.label, result) for job, result in pairs if job.experiment == name)
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
                seeds=tuple(dict.fromkeys(job.point.seed for job in jobs if job.experiment == name)),
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
        tasks = [Task("sfc_testbed.reproduction.judge", case.model_dump_json) for case in cases]
        LocalExecutor().run(tasks, take, interrupt)
    if failures and not interrupt.is_requested:
        raise RunError(failures[0])
    return not interrupt.is_requested
