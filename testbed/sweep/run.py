# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the jobs of a sweep that are not done yet, and writes the table of results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from telemetry.atomic_file import replace_file, replace_text
from testbed.execution.execute import give_to_caller
from testbed.jobs.job import Job, JobFailed, JobFinished, JobResults, Tell, run_jobs
from testbed.jobs.task import Executor
from testbed.sweep.sweep import JOBS, TABLE, SweepFile, SweepJob, results_table, unfinished
from testbed.system.code import code_digest

SWEEP_COPY = "sweep.json"


@dataclass(frozen=True)
class SweepSummary:
    """What a sweep came to."""

    table: Path
    ran: int
    found: int
    """Jobs that were done before."""
    other_versions: int
    """Of those run now: jobs that other code had done before. Their old folders stay and are not in the table."""
    invalid: int
    """Runs in the table whose verdict is invalid."""
    failures: tuple[str, ...]
    is_interrupted: bool


def run_sweep(sweep: SweepFile, jobs: Sequence[SweepJob], out: Path, executor: Executor, tell: Tell) -> SweepSummary:
    """Makes the sweep's folder, or goes on in it. No page is drawn. After Ctrl-C the table has what was done."""
    folder = out.absolute() / sweep.name
    (folder / JOBS).mkdir(parents=True, exist_ok=True)
    replace_text(folder / SWEEP_COPY, sweep.model_dump_json(indent=2) + "\n")
    missing = unfinished(folder, jobs)
    found = len(jobs) - len(missing)
    other_versions = _count_other_versions(folder, missing)
    done = run_jobs(
        [Job(job.label, job.request, folder / JOBS, job.name, code_digest(), page=False) for job in missing],
        executor,
        lambda count, _, label: tell(found + count, len(jobs), label),
    )
    table = results_table(folder, jobs)
    replace_file(folder / TABLE, table.write_parquet)
    give_to_caller(folder)
    ran = sum(isinstance(result, JobFinished) for result in done.each)
    return SweepSummary(
        table=folder / TABLE,
        ran=ran,
        found=found,
        other_versions=other_versions,
        invalid=int((table["verdict"] == "invalid").sum()) if "verdict" in table.columns else 0,
        failures=_failures(missing, done),
        is_interrupted=done.is_interrupted,
    )


def _count_other_versions(folder: Path, jobs: Sequence[SweepJob]) -> int:
    names = [path.name for path in (folder / JOBS).iterdir()]
    return sum(any(job.is_other_version(name) for name in names) for job in jobs)


def _failures(jobs: Sequence[SweepJob], done: JobResults) -> tuple[str, ...]:
    pairs = zip(jobs, done.each, strict=True)
    return tuple(f"{job.label}: {result.reason}" for job, result in pairs if isinstance(result, JobFailed))
