# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a sweep is: a file of axes, schemes and seeds becomes jobs, each a folder that is written once.

A job's name is a digest of everything that decides it: what is asked for, the flows (whose sizes may come from a file)
and the code. So a sweep can be resumed, and grown by editing its file, and after a change of the code its jobs are run
again beside the old ones. Knows nothing of who runs the jobs (`testbed.sweep.run`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import BaseModel, Field, ValidationError

from analysis.results.result import RESULT_FILE, ResultError, RunResult, read_result
from analysis.results.row import result_row
from scenarios.model.flow import Flow
from testbed.errors import UsageError
from testbed.plan.overrides import as_settings
from testbed.plan.plan import ClockName, RunRequest, plan_run
from testbed.plan.request import MAX_DILATION
from testbed.sweep.yaml_file import read_yaml
from testbed.system.code import code_digest
from wire.input.validation import STRICT, refusal

JOBS = "jobs"
TABLE = "results.parquet"
MOST_JOBS = 100_000
_ASKED_DIGITS = 16
_CODE_DIGITS = 8


class SweepFile(BaseModel):
    """The YAML file. `axes` are `--set` keys with their values; every combination is run for every scheme and seed."""

    model_config = STRICT

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    scenario: str
    schemes: tuple[str, ...] = Field(min_length=1, strict=False)
    seeds: tuple[int, ...] = Field((1,), min_length=1, strict=False)
    axes: dict[str, Annotated[tuple[Any, ...], Field(min_length=1, strict=False)]] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)
    faults: tuple[str, ...] = Field((), strict=False)
    scale: str = "ci"
    clock: ClockName = "virtual"
    switch: str = "auto"
    dilation: Annotated[int, Field(ge=1, le=MAX_DILATION)] | None = None
    duration_ms: float | None = None


@dataclass(frozen=True)
class SweepJob:
    """One run: its request, where it stands on the axes, and its folder's name, `ASKED-CODE`."""

    request: RunRequest
    place: Mapping[str, Any]
    name: str

    def is_other_version(self, folder_name: str) -> bool:
        """Whether a folder is of the same job, run by other code."""
        return folder_name != self.name and folder_name.startswith(self.name[: _ASKED_DIGITS + 1])

    @property
    def label(self) -> str:
        """For people."""
        parts = [self.request.scheme, *(f"{key}={value}" for key, value in self.place.items())]
        return " ".join([*parts, f"seed={self.request.seed}"])


def read_sweep(path: Path) -> SweepFile:
    """The sweep of a file. UsageError, one line, for a file that is missing or wrong."""
    try:
        content = read_yaml(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path}: a sweep is a mapping with name, scenario, schemes, seeds and axes")
    try:
        return SweepFile.model_validate(content)
    except ValidationError as error:
        raise UsageError(f"{path}: {refusal(error)}") from error


def jobs_of(sweep: SweepFile) -> list[SweepJob]:
    """All jobs, in the order of the file, seeds changing fastest. UsageError if one cannot be planned, or is double."""
    count = prod(len(values) for values in (*sweep.axes.values(), sweep.schemes, sweep.seeds))
    if count > MOST_JOBS:
        raise UsageError(f"sweep {sweep.name}: {count} jobs, of which a sweep has at most {MOST_JOBS}")
    jobs = []
    for values in product(*sweep.axes.values()):
        place = dict(zip(sweep.axes, values, strict=True))
        for scheme, seed in product(sweep.schemes, sweep.seeds):
            request = RunRequest(
                sweep.scenario,
                scheme=scheme,
                switch=sweep.switch,
                clock=sweep.clock,
                dilation=sweep.dilation,
                scale=sweep.scale,
                seed=seed,
                duration_ms=sweep.duration_ms,
                faults=sweep.faults,
                settings=as_settings({**sweep.settings, **place}),
            )
            jobs.append(SweepJob(request, place, _name(request, plan_run(request).flows)))
    if len({job.name for job in jobs}) < len(jobs):
        raise UsageError(f"sweep {sweep.name}: two of its {len(jobs)} jobs are the same; a value or scheme is repeated")
    return jobs


def _name(request: RunRequest, flows: Sequence[Flow]) -> str:
    asked = hashlib.sha256(json.dumps(asdict(request), sort_keys=True, default=str).encode())
    for flow in flows:
        asked.update(repr(astuple(flow)).encode())
    return f"{asked.hexdigest()[:_ASKED_DIGITS]}-{code_digest()[:_CODE_DIGITS]}"


def unfinished(folder: Path, jobs: Sequence[SweepJob]) -> list[SweepJob]:
    """The jobs whose folder is not there yet."""
    return [job for job in jobs if not (folder / JOBS / job.name / RESULT_FILE).exists()]


def _result_of(folder: Path) -> RunResult:
    try:
        return read_result(folder)
    except ResultError as error:
        raise UsageError(f"{error}; without that job's folder it runs again") from error


def results_table(folder: Path, jobs: Sequence[SweepJob]) -> pl.DataFrame:
    """A row for every finished job: where it stands and its figures. UsageError for a result that cannot be read."""
    rows = []
    for job in jobs:
        if (folder / JOBS / job.name / RESULT_FILE).exists():
            result = _result_of(folder / JOBS / job.name)
            rows.append(
                {"job": job.name, **{f"axis.{key}": value for key, value in job.place.items()}, **result_row(result)}
            )
    return pl.DataFrame(rows, infer_schema_length=None)
