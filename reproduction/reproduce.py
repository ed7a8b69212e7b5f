# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs an experiment of the paper and holds its claims against what was measured. Decides nothing about the claims.

Virtual runs go to a pool of processes, one a core; real ones follow each other. All that is kept is in the runs'
folders and in one folder for the experiment, with `reproduction.json`, a page, figures and the figures' data.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from analysis.results.stored import load_run
from reproduction.model.experiment import Experiment, Measurement, Point, Results, judge
from scenarios.model.scenario import ScaleName
from testbed.errors import RunError, UsageError
from testbed.execution.execute import execute
from testbed.jobs.workers import worker_pool
from testbed.plan.overrides import as_settings
from testbed.plan.plan import RunRequest, plan_run
from testbed.recording.outcome import Silent

FILE_NAME = "reproduction.json"
SCHEMA = "sfc-testbed/reproduction/1"
REQUEST_KEYS = ("duration_ms", "topology")
"""Settings of a point that are options of a run of their own, not `--set` keys."""

Tell = Callable[[int, int, str], None]
"""Told the runs done, their number and the label of the last."""


class ClaimFinding(BaseModel):
    """What was found about one claim."""

    model_config = ConfigDict(frozen=True)

    claim: str
    paper: str
    measured: str
    value: float | None
    holds: bool


class RunOfExperiment(BaseModel):
    """One run behind the findings."""

    model_config = ConfigDict(frozen=True)

    label: str
    scheme: str
    folder: str
    command: str
    verdict: str


class Reproduction(BaseModel):
    """reproduction.json: an experiment at a scale, claim by claim."""

    model_config = ConfigDict(frozen=True)

    schema_name: str = Field(default=SCHEMA, serialization_alias="schema")
    experiment: str
    title: str
    paper_place: str
    scale: str
    claims: tuple[ClaimFinding, ...]
    runs: tuple[RunOfExperiment, ...]
    failures: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def all_hold(self) -> bool:
        return all(finding.holds for finding in self.claims)


def read_reproduction(folder: Path) -> Reproduction:
    """What `reproduce` left in a folder. UsageError if it is not there or of another release."""
    path = folder / FILE_NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("schema") != SCHEMA:
            raise UsageError(f"{path}: not a reproduction of this release")
        return Reproduction(**content)
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise UsageError(f"{path}: cannot be read ({error.__class__.__name__})") from error


@dataclass(frozen=True)
class Job:
    """One run of an experiment, as it is sent to a worker."""

    experiment: str
    point: Point
    request: RunRequest


def request_for(experiment: Experiment, scale: ScaleName, point: Point, clock: str | None = None) -> RunRequest:
    """What `run` would be asked for to make this point."""
    chosen = clock or point.clock
    settings = {key: value for key, value in point.settings.items() if key not in REQUEST_KEYS}
    return RunRequest(
        experiment.name,
        scheme=point.scheme,
        clock=chosen,  # type: ignore[arg-type]
        dilation=point.dilation if chosen == "real" else None,
        scale=scale,
        seed=point.seed,
        duration_ms=point.settings.get("duration_ms"),
        topology=point.settings.get("topology"),
        settings=as_settings(settings),
    )


def jobs_of(experiment: Experiment, scale: ScaleName, clock: str | None = None) -> list[Job]:
    """The runs that can be made. UsageError if the experiment has no such scale, or a run cannot be planned."""
    if scale not in experiment.grids:
        raise UsageError(
            f"experiment {experiment.name} has no scale {scale!r}; there are {', '.join(experiment.grids)}"
        )
    points = experiment.grids[scale].points()
    return [Job(experiment.name, point, request_for(experiment, scale, point, clock)) for point in points]


@dataclass(frozen=True)
class Outcomes:
    """What became of jobs, in their order: the run's folder, or the line that says why there is none."""

    found: tuple[Path | str, ...]
    is_interrupted: bool


def run_jobs(jobs: Sequence[Job], out: Path, workers: int, tell: Tell) -> Outcomes:
    """Runs jobs, virtual ones side by side and then real ones. Ctrl-C ends them; what was done before is kept."""
    found: dict[int, Path | str] = {}

    def take(number: int, outcome: Path | str) -> None:
        found[number] = outcome
        tell(len(found), len(jobs), f"{jobs[number].experiment} {jobs[number].point.label}")

    is_interrupted = False
    try:
        with worker_pool(workers) as pool:
            futures = {
                pool.submit(run_one, job.request, out): number
                for number, job in enumerate(jobs)
                if job.request.clock == "virtual"
            }
            for future in as_completed(futures):
                take(futures[future], future.result())
        for number, job in enumerate(jobs):
            if job.request.clock == "real":
                take(number, run_one(job.request, out))
    except KeyboardInterrupt:
        is_interrupted = True
    missing = [f"{job.point.label}: interrupted" for job in jobs]
    return Outcomes(tuple(found.get(number, missing[number]) for number in range(len(jobs))), is_interrupted)


def run_one(request: RunRequest, out: Path) -> Path | str:
    """One run; its folder, or why it failed. Passes an interrupt on once the run has kept what it measured."""
    try:
        finished = execute(plan_run(request), out, Silent())
        if finished.result.interrupted:
            raise KeyboardInterrupt
        return finished.folder
    except (RunError, UsageError) as error:
        return f"{request.scenario} {request.scheme}: {error}"


def dump_json(document: object) -> str:
    """JSON for people and programs."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def default_workers() -> int:
    """A process a core."""
    return len(os.sched_getaffinity(0))


def conclude(
    experiment: Experiment, scale: ScaleName, jobs: Sequence[Job], outcomes: Sequence[Path | str]
) -> tuple[Reproduction, Results]:
    """The findings about every claim from the runs of an experiment."""
    measurements = []
    runs = []
    failures = [outcome for outcome in outcomes if isinstance(outcome, str)]
    for job, outcome in zip(jobs, outcomes, strict=True):
        if isinstance(outcome, str):
            continue
        run = load_run(outcome)
        if run.result.verdict == "invalid":
            failures.append(f"{job.point.label} is invalid: {' '.join(run.result.verdict_reasons)}")
            continue
        measurements.append(Measurement(job.point, run))
        runs.append(
            RunOfExperiment(
                label=job.point.label,
                scheme=job.point.scheme,
                folder=str(outcome),
                command=run.command,
                verdict=run.result.verdict,
            )
        )
    results = Results(scale, tuple(measurements))
    return (
        Reproduction(
            experiment=experiment.name,
            title=experiment.title,
            paper_place=experiment.paper,
            scale=scale,
            claims=findings(experiment, results),
            runs=tuple(runs),
            failures=tuple(failures),
            notes=experiment.notes,
        ),
        results,
    )


def findings(experiment: Experiment, results: Results) -> tuple[ClaimFinding, ...]:
    """Every claim held against the results."""
    found = []
    for claim in experiment.claims:
        measured = judge(claim, results)
        value = None if measured.value is None else float(f"{measured.value:.6g}")
        found.append(
            ClaimFinding(
                claim=claim.claim, paper=claim.paper, measured=measured.text, value=value, holds=measured.holds
            )
        )
    return tuple(found)
