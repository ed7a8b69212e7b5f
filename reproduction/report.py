# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a reproduced experiment leaves on disk: reproduction.json, a page with its claims, figures and their data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from analysis.report.experiment import ClaimRow, ExperimentPage, RunLink, write_experiment_page
from analysis.results.result import ResultError
from analysis.results.row import result_row
from reproduction.catalogue import EXPERIMENTS
from reproduction.model.experiment import Experiment, Results
from reproduction.reproduce import FILE_NAME, Job, Outcomes, Reproduction, conclude, jobs_of, read_reproduction
from scenarios.model.scenario import ScaleName
from telemetry.atomic_file import replace_text
from testbed.errors import UsageError
from testbed.execution.execute import give_to_caller, make_folder
from testbed.jobs.workers import worker_pool


@dataclass(frozen=True)
class Finished:
    """An experiment whose claims have been held against its runs."""

    reproduction: Reproduction
    page: Path


def finish(name: str, scale: ScaleName, jobs: Sequence[Job], outcomes: Sequence[Path | str], folder: Path) -> Finished:
    """Concludes an experiment and writes its folder. Takes what can be sent to a process."""
    experiment = EXPERIMENTS[name]
    found, results = conclude(experiment, scale, jobs, outcomes)
    page = write_reproduction(folder, experiment, found, results)
    give_to_caller(folder)
    return Finished(found, page)


def finish_all(scale: ScaleName, jobs: Sequence[Job], outcomes: Outcomes, out: Path, workers: int) -> list[Finished]:
    """Concludes every experiment, several at a time, in a folder each; not one that was interrupted before any run."""
    with worker_pool(workers) as pool:
        futures = []
        for name in dict.fromkeys(job.experiment for job in jobs):
            own = [(job, outcome) for job, outcome in zip(jobs, outcomes.found, strict=True) if job.experiment == name]
            mine, made = [job for job, _ in own], [outcome for _, outcome in own]
            if outcomes.is_interrupted and not any(isinstance(outcome, Path) for outcome in made):
                continue
            folder = make_folder(out, f"{name}-{scale}-reproduction")
            futures.append(pool.submit(finish, name, scale, mine, made, folder))
        return [future.result() for future in futures]


def is_reproduction(folder: Path) -> bool:
    """Whether a folder is one of `reproduce`."""
    return (folder / FILE_NAME).exists()


def judge_again(folder: Path) -> Finished:
    """Holds today's claims against the runs that a reproduction was made of, and rewrites its folder.

    UsageError if the folder cannot be read, or if the experiment has no such runs any more.
    """
    before = read_reproduction(folder)
    experiment = EXPERIMENTS.get(before.experiment)
    if experiment is None:
        raise UsageError(f"{folder}: no experiment {before.experiment!r} in this release")
    scale: ScaleName = before.scale  # type: ignore[assignment]
    jobs = {job.point.label: job for job in jobs_of(experiment, scale)}
    unknown = [run.label for run in before.runs if run.label not in jobs]
    if unknown:
        raise UsageError(f"{folder}: {experiment.name} at scale {scale} has no run {unknown[0]!r} in this release")
    made = [(jobs[run.label], Path(run.folder)) for run in before.runs]
    try:
        return finish(experiment.name, scale, [job for job, _ in made], [run for _, run in made], folder)
    except ResultError as error:
        raise UsageError(str(error)) from error


def write_reproduction(folder: Path, experiment: Experiment, found: Reproduction, results: Results) -> Path:
    """Fills an experiment's folder and gives its page."""
    replace_text(folder / FILE_NAME, json.dumps(found.model_dump(by_alias=True), indent=2, ensure_ascii=False) + "\n")
    figures = []
    if results.measurements:
        figures = [(spec.name, spec.caption, spec.draw(results)) for spec in experiment.figures]
    page = ExperimentPage(
        name=found.experiment,
        title=found.title,
        paper_place=found.paper_place,
        scale=found.scale,
        claims=[ClaimRow(row.claim, row.paper, row.measured, row.holds) for row in found.claims],
        runs=[RunLink(run.label, Path(run.folder), run.command, run.verdict) for run in found.runs],
        remarks=[
            *found.notes,
            *(f"Failed: {failure}" for failure in found.failures),
        ],
        command=f"./runner.py reproduce {found.experiment} --scale {found.scale}",
    )
    rows = [
        {**{f"axis.{key}": str(value) for key, value in each.point.place.items()}, **result_row(each.run.result)}
        for each in results.measurements
    ]
    return write_experiment_page(folder, page, figures, pl.DataFrame(rows, infer_schema_length=None))
