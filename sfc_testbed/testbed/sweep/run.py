# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Executes the missing runs of a sweep and writes the table of results and the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from sfc_testbed.analysis.results.swept import JOBS, SWEEP_FILE, TABLE_FILE, shared_runs
from sfc_testbed.request.spec import P4Program
from sfc_testbed.telemetry.atomic_file import replace_file, replace_text
from sfc_testbed.testbed.jobs.job import Job, JobFailed, JobFinished, JobResults, Tell, run_jobs
from sfc_testbed.testbed.jobs.task import Executor
from sfc_testbed.testbed.recording.folder import give_to_caller
from sfc_testbed.testbed.sweep.sweep import (
    SweepFile,
    SweepJob,
    labels_of_runs,
    results_table,
    sweep_folder,
    unfinished,
)
from sfc_testbed.testbed.system.code import code_digest


@dataclass(frozen=True)
class SweepSummary:
    """The outcome of a sweep."""

    table: Path
    page: Path | None
    """The page, or None if no run is complete or the sweep was interrupted."""
    jobs: int
    """Number of jobs: combinations of settings, schemes and seeds."""
    runs: int
    """Number of distinct runs. Jobs that differ only in settings that their scheme does not read share a run."""
    ran: int
    already_complete: int
    """Number of runs that were complete before."""
    shared: tuple[str, ...]
    """Sentences about the schemes whose jobs share runs."""
    other_versions: int
    """Number of runs repeated because the code has changed. Their old folders remain and are not in the table."""
    invalid: int
    """Number of runs in the table with the verdict invalid."""
    unfinished: int
    """Number of runs in the table in which flows did not finish."""
    failures: tuple[str, ...]
    is_interrupted: bool
    page_failures: tuple[str, ...] = ()
    """Sentences about plots and sections of extensions that failed."""


def run_sweep(
    sweep: SweepFile, jobs: Sequence[SweepJob], out: Path, executor: Executor, tell: Tell, *, pictures: bool = False
) -> SweepSummary:
    """Run a sweep in a new folder, or resume it. Runs get no pages. After Ctrl-C the finished runs are in the table.

    `pictures`: whether to write each plot of the page as PNG and SVG, too.
    """
    program = jobs[0].request.program
    folder = sweep_folder(sweep, program, out.absolute())
    (folder / JOBS).mkdir(parents=True, exist_ok=True)
    replace_text(folder / SWEEP_FILE, _sweep_json(sweep, program))
    missing, labels = unfinished(folder, jobs), labels_of_runs(jobs)
    runs = len(labels)
    already_complete = runs - len(missing)
    other_versions = _count_other_versions(folder, missing)
    done = run_jobs(
        [
            Job(labels[job.key], job.request, folder / JOBS, job.name, code_digest(), page=False, effort=job.effort)
            for job in missing
        ],
        executor,
        lambda state: tell(replace(state, done=already_complete + state.done, total=runs)),
    )
    table = results_table(folder, jobs, measures=True)
    replace_file(folder / TABLE_FILE, table.write_parquet)
    failures = _failures([labels[job.key] for job in missing], done)
    page_failures: list[str] = []
    page = None
    if table.height and not done.is_interrupted:
        page = _write_page(folder, failures, page_failures, pictures=pictures)
    give_to_caller(folder)
    ran = sum(isinstance(result, JobFinished) for result in done.in_order)
    return SweepSummary(
        table=folder / TABLE_FILE,
        page=page,
        jobs=len(jobs),
        runs=runs,
        ran=ran,
        already_complete=already_complete,
        shared=shared_runs(table),
        other_versions=other_versions,
        invalid=_count(table, pl.col("verdict") == "invalid"),
        unfinished=_count(table, pl.col("flows_unfinished") > 0),
        failures=failures,
        is_interrupted=done.is_interrupted,
        page_failures=tuple(page_failures),
    )


def _count(table: pl.DataFrame, condition: pl.Expr) -> int:
    """Return the number of runs in the table that meet a condition."""
    return table.filter(condition)["job"].n_unique() if table.height else 0


def _sweep_json(sweep: SweepFile, program: P4Program | None) -> str:
    """Return the content of sweep.json: the sweep's file and the user's P4 program, if any."""
    program_dump = None if program is None else program.as_dict()
    content = {**json.loads(sweep.model_dump_json()), "program": program_dump}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _write_page(folder: Path, failures: Sequence[str], page_failures: list[str], *, pictures: bool) -> Path:
    """Write the page of the sweep. The import is local because plotting takes longer to load than a small job runs."""
    from sfc_testbed.analysis.report.sweep import write_sweep_page

    return write_sweep_page(folder, failures, page_failures, pictures=pictures)


def _count_other_versions(folder: Path, jobs: Sequence[SweepJob]) -> int:
    names = [path.name for path in (folder / JOBS).iterdir()]
    return sum(any(job.is_other_version(name) for name in names) for job in jobs)


def _failures(labels: Sequence[str], done: JobResults) -> tuple[str, ...]:
    pairs = zip(labels, done.in_order, strict=True)
    return tuple(f"{label}: {result.reason}" for label, result in pairs if isinstance(result, JobFailed))
