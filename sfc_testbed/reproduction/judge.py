# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks an experiment's claims against its runs, and writes its folder: reproduction.json, page, figures, data.

Each experiment is judged in its own process, `python -m sfc_testbed.reproduction.judge`, so that several are judged in
parallel.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
from pydantic import BaseModel

from sfc_testbed.analysis.report.experiment import ExperimentPage, RunLink, write_experiment_page
from sfc_testbed.analysis.report.first_sentence import unfinished_runs
from sfc_testbed.analysis.results.comparison import result_row
from sfc_testbed.analysis.results.outcome import outcome_of
from sfc_testbed.analysis.results.result import ResultError
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.jobs import ExperimentJob, jobs_of
from sfc_testbed.reproduction.model.experiment import Claim, Experiment, Measured, Measurement, Results, judge
from sfc_testbed.reproduction.record import (
    FILE_NAME,
    ClaimFinding,
    Reproduction,
    RunOfExperiment,
    StoredReproduction,
    read_reproduction,
)
from sfc_testbed.reproduction.tables import measured_table
from sfc_testbed.request.spec import P4Program
from sfc_testbed.scenarios.model.scenario import ScaleName
from sfc_testbed.telemetry.atomic_file import replace_text
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.jobs.job import JobFailed, JobFinished, JobResult
from sfc_testbed.testbed.jobs.task import begin_task
from sfc_testbed.testbed.recording.folder import give_to_caller

_FLOW_COLUMNS = (
    "flow_id",
    "dst",
    "tag",
    "size_bytes",
    "start_us",
    "finish_us",
    "fct_us",
    "slowdown",
    "packets_sent",
)
"""The columns of flows that claims and figures use; whole rows would take twice the memory."""


class Case(BaseModel):
    """An experiment to be judged: the results of its runs by label, and its folder."""

    experiment: str
    scale: ScaleName
    folder: Path
    runs: tuple[tuple[str, JobResult], ...]
    seeds: tuple[int, ...] = (1,)
    changed: tuple[str, ...] = ()
    """Settings that the user changed."""
    program: P4Program | None = None
    """The P4 program of the switches; None: the testbed's own."""


def judge_case(case: Case) -> None:
    """Judge an experiment and write its folder. UsageError if the experiment does not have one of the runs."""
    experiment = EXPERIMENTS[case.experiment]
    jobs = {job.point.label: job for job in jobs_of(experiment, case.scale, seeds=case.seeds)}
    unknown = [label for label, _ in case.runs if label not in jobs]
    if unknown:
        raise UsageError(
            f"{case.folder}: {experiment.name} at scale {case.scale} has no run {unknown[0]!r} in this release; "
            "repeat the experiment, or report its runs alone"
        )
    results = [result for _, result in case.runs]
    reproduction, measured = conclude(experiment, case.scale, [jobs[label] for label, _ in case.runs], results)
    reproduction = reproduction.model_copy(update={"changed": case.changed, "program": case.program})
    write_reproduction(case.folder, experiment, reproduction, measured)
    give_to_caller(case.folder)


def judge_again(folder: Path) -> StoredReproduction:
    """Check the current claims against the runs of an earlier reproduction, and rewrite its folder.

    UsageError if the folder cannot be read, or if the experiment no longer has one of the runs.
    """
    before = read_reproduction(folder).reproduction
    if before.experiment not in EXPERIMENTS:
        raise UsageError(f"{folder}: no experiment {before.experiment!r} in this release")
    runs = tuple((run.label, JobFinished(folder=Path(run.folder))) for run in before.runs)
    case = Case(
        experiment=before.experiment,
        scale=before.scale,
        folder=folder,
        runs=runs,
        seeds=before.seeds,
        changed=before.changed,
        program=before.program,
    )
    try:
        judge_case(case)
    except ResultError as error:
        raise UsageError(str(error)) from error
    return read_reproduction(folder)


def conclude(
    experiment: Experiment, scale: ScaleName, jobs: Sequence[ExperimentJob], results: Sequence[JobResult]
) -> tuple[Reproduction, list[Results]]:
    """Return the findings about every claim, and the measurements by seed.

    Failed, interrupted and invalid runs are left out, and tables of which no run is left.
    """
    measurements = []
    runs = []
    failures = []
    for job, result in zip(jobs, results, strict=True):
        if not isinstance(result, JobFinished):
            reason = result.reason if isinstance(result, JobFailed) else "interrupted"
            failures.append(f"{job.point.label}: {reason}")
            continue
        run = load_run(result.folder, _FLOW_COLUMNS)
        if run.result.verdict == "invalid":
            failures.append(f"{job.point.label} is invalid: {' '.join(run.result.verdict_reasons)}")
            continue
        if run.problems:
            failures.append(f"{job.point.label}: {' '.join(run.problems)}")
            continue
        measurements.append(Measurement(job.point, run))
        runs.append(
            RunOfExperiment(
                label=job.point.label,
                scheme=job.point.scheme,
                folder=str(result.folder),
                command=run.command,
                verdict=run.result.verdict,
                wall_s=run.result.wall_s,
            )
        )
    seeds = tuple(dict.fromkeys(job.point.seed for job in jobs))
    by_seed = [
        Results(scale, tuple(measurement for measurement in measurements if measurement.point.seed == seed))
        for seed in seeds
    ] or [Results(scale, ())]
    measured = (measured_table(table, by_seed) for table in experiment.tables)
    return (
        Reproduction(
            experiment=experiment.name,
            title=experiment.title,
            paper_place=experiment.paper,
            scale=scale,
            claims=findings(experiment, by_seed),
            runs=tuple(runs),
            failures=tuple(failures),
            notes=(*experiment.notes, *_unfinished(measurements)),
            tables=tuple(table for table in measured if table.rows),
            seeds=seeds,
            clock=_other_clock(measurements),
        ),
        by_seed,
    )


def _unfinished(measurements: Sequence[Measurement]) -> Iterator[str]:
    """Yield a sentence if flows of some runs did not finish."""
    rows = [result_row(measurement.run.result) for measurement in measurements]
    if sentence := unfinished_runs(rows, [measurement.point.label for measurement in measurements]):
        yield f"{sentence}."


def _other_clock(measurements: Sequence[Measurement]) -> str | None:
    """Return the clock of the runs if it differs from the experiment's."""
    clocks = [
        measurement.run.result.clock
        for measurement in measurements
        if measurement.run.result.clock != measurement.point.clock
    ]
    return clocks[0] if clocks else None


def findings(experiment: Experiment, by_seed: Sequence[Results]) -> tuple[ClaimFinding, ...]:
    """Check every claim of an experiment that can fail at this scale against the results of each seed."""
    scale = by_seed[0].scale
    claims = [claim for claim in experiment.claims if not claim.only_at or scale in claim.only_at]
    return tuple(_finding(claim, [judge(claim, results) for results in by_seed]) for claim in claims)


def _finding(claim: Claim, by_seed: Sequence[Measured]) -> ClaimFinding:
    known = sorted((row for row in by_seed if row.value is not None), key=lambda row: row.value or 0.0)
    is_complete = len(known) == len(by_seed)
    median = known[len(known) // 2] if is_complete else next(row for row in by_seed if row.value is None)
    return ClaimFinding(
        claim=claim.claim,
        paper=claim.paper,
        text=median.text,
        evidence=median.evidence,
        range_over_seeds=_range(known) if is_complete and len(known) > 1 else "",
        value=_rounded(median.value),
        values=tuple(_rounded(row.value) for row in by_seed),
        outcome=outcome_of([row.holds for row in by_seed]),
        is_ours=claim.is_ours,
    )


def _range(rows: Sequence[Measured]) -> str:
    """Return the lowest and the highest value, `the same` if the seed changes nothing, and a value that is both.

    The range is empty if the finding's text does not have the value.
    """
    if len({_rounded(row.value) for row in rows}) == 1:
        return "the same"
    write = rows[0].write
    if write is None:
        return ""
    low, high = (write(row.value or 0.0) for row in (rows[0], rows[-1]))
    return low if low == high else f"{low} to {high}"


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def write_reproduction(
    folder: Path, experiment: Experiment, reproduction: Reproduction, by_seed: Sequence[Results]
) -> None:
    """Write an experiment's reproduction.json, page, figure (of the first seed with runs) and data."""
    content = reproduction.model_dump(by_alias=True)
    replace_text(folder / FILE_NAME, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    drawn = next((results for results in by_seed if results.measurements), None)
    spec = experiment.figure
    figure = (spec.caption, spec.draw(drawn)) if spec and drawn else None
    page = ExperimentPage(
        name=reproduction.experiment,
        title=reproduction.title,
        paper_place=reproduction.paper_place,
        scale=reproduction.scale,
        claims=[(row.claim, row.paper, row.measured, row.outcome_text) for row in reproduction.claims],
        runs=[RunLink(run.label, Path(run.folder), run.command, run.verdict) for run in reproduction.runs],
        remarks=reproduction.notes,
        tables=[(table.caption, table.headings, table.rows) for table in reproduction.tables],
        command=reproduction.command,
        shows=experiment.shows,
        failures=[
            *(f"Changed {departure}" for departure in reproduction.departures),
            *(f"Failed: {failure}" for failure in reproduction.failures),
        ],
    )
    rows = [
        {
            **{f"axis.{key}": str(value) for key, value in measurement.point.place.items()},
            **result_row(measurement.run.result),
        }
        for results in by_seed
        for measurement in results.measurements
    ]
    write_experiment_page(folder, page, figure, pl.DataFrame(rows, infer_schema_length=None))


def main() -> int:
    """Judge the case on stdin."""
    judge_case(Case.model_validate_json(sys.stdin.buffer.read()))
    return 0


if __name__ == "__main__":
    begin_task()
    sys.exit(main())
