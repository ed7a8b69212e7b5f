# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Sweeps: a file of axes, schemes and seeds becomes jobs, and each run becomes a folder that is written once.

A folder's name contains the scheme, the point on the axes and the seed. It ends in a digest of everything that
determines the run (`testbed.sweep.effect`) and a digest of the code. The digest ignores settings that the scheme does
not read, so jobs that differ only in them share a run. A sweep can be resumed, or extended by editing its file. After a
change of the code, runs are repeated beside the old ones. `testbed.sweep.run` executes the jobs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import Field, ValidationError, field_validator

from sfc_testbed.analysis.results.comparison import result_row
from sfc_testbed.analysis.results.result import RESULT_FILE, ResultError, RunResult, read_result
from sfc_testbed.analysis.results.swept import AXIS, JOBS, with_quantities
from sfc_testbed.request.checks import StrictModel, refusal
from sfc_testbed.request.network_file import SETTING, read_network_file
from sfc_testbed.request.quantities import in_unit
from sfc_testbed.request.seeds import parse_seeds
from sfc_testbed.request.settings import checked_value
from sfc_testbed.request.shown import shortened, shown
from sfc_testbed.request.spec import FLOW_LIST, ClockName, P4Program, RunSpec, variant_of
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.jobs.effort import Effort, effort_of
from sfc_testbed.testbed.plan.dilations import MAX_DILATION
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.sweep.effect import effect_digest
from sfc_testbed.testbed.sweep.yaml_file import read_yaml
from sfc_testbed.testbed.system.code import code_digest

MOST_JOBS = 100_000
_ASKED_DIGITS = 16
_CODE_DIGITS = 8
_MOST_READABLE = 120
"""Maximum length of a folder's name before the digests, in characters. File systems allow 255 bytes."""
_LONGEST_NAME = 100
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{_LONGEST_NAME - 1}}}")
_FILES = ("sizes", SETTING)
"""The settings that may name a file."""
LOAD_BALANCING = "load_balancing"
"""The axis that is no setting."""
_MOST_NAMED = 3
"""Maximum number of values of an axis in the label of a shared run."""


class SweepFile(StrictModel):
    """The YAML file of a sweep. `axes` are `--set` keys with values, and `load_balancing` with names.

    All combinations are run for every scheme and seed.
    """

    name: str
    scenario: str = FLOW_LIST
    schemes: tuple[str, ...] = Field(min_length=1, strict=False)
    seeds: tuple[int, ...] = Field((1,), min_length=1, strict=False)
    """A list, or a text such as 1..5."""
    flows: str | None = None
    """A flow list, which replaces the flows of the scenario. The path is relative to the YAML file."""
    topology: str | None = None
    load_balancing: str | None = None
    axes: dict[str, Annotated[tuple[Any, ...], Field(min_length=1, strict=False)]] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)
    faults: tuple[str, ...] = Field((), strict=False)
    scale: str = "ci"
    clock: ClockName = "virtual"
    switch: str = "auto"
    dilation: Annotated[int, Field(ge=1, le=MAX_DILATION)] | None = None
    duration_ms: float | None = None

    @field_validator("duration_ms", mode="before")
    @classmethod
    def _read_duration(cls, duration: object) -> object:
        return in_unit(duration, "ms") if isinstance(duration, str) else duration

    @field_validator("seeds", mode="before")
    @classmethod
    def _read_seeds(cls, seeds: object) -> object:
        return parse_seeds(str(seeds)) if isinstance(seeds, str | int) else seeds

    @field_validator("name")
    @classmethod
    def _can_name_a_folder(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"{shown(name)} cannot name the folder of the results: use at most {_LONGEST_NAME} letters, digits, "
                "'.', '_' and '-', the first a letter or digit, as in degree-and-seed"
            )
        return name


@dataclass(frozen=True)
class SweepJob:
    """A point on the axes with a scheme and a seed: its request, and the name of its run's folder, `WORDS.KEY`."""

    request: RunSpec
    place: Mapping[str, Any]
    name: str
    effort: Effort

    @property
    def key(self) -> str:
        """The digests of the run and of the code, as `ASKED-CODE`. Jobs with the same key share a run."""
        return _key(self.name)

    def is_other_version(self, folder_name: str) -> bool:
        """Return whether a folder has the same run, made by other code."""
        key = _key(folder_name)
        return key != self.key and key.startswith(self.key[: _ASKED_DIGITS + 1])


def sweep_folder(sweep: SweepFile, program: P4Program | None, out: Path) -> Path:
    """Return the folder of the sweep's runs and table. A user's P4 program gets a folder of its own."""
    return out / (sweep.name if program is None else f"{sweep.name}+{program.name}")


def read_sweep(path: Path) -> SweepFile:
    """Read the sweep from a file. Raise UsageError with one line for a missing or invalid file."""
    try:
        content = read_yaml(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    return sweep_of(content, path)


def sweep_of(content: object, path: Path) -> SweepFile:
    """Return the sweep that a mapping describes. UsageError, with `path` and one line, if it is invalid.

    Files that the mapping names are relative to the folder of `path`.
    """
    if not isinstance(content, dict):
        raise UsageError(f"{path}: a sweep is a mapping with name, scenario, schemes, seeds and axes")
    try:
        sweep = SweepFile.model_validate(content)
    except ValidationError as error:
        raise UsageError(f"{path}: {refusal(error, SweepFile.model_fields)}") from error
    if sweep.flows is None and "scenario" not in sweep.model_fields_set:
        raise UsageError(f"{path}: scenario: is missing; only a sweep with `flows: FILE` needs none")

    both = next((key for key in sweep.axes if key in sweep.settings), None)
    if both is not None:
        raise UsageError(f"{path}: {shortened(both)} is an axis and a setting; leave one of them out")
    if sweep.load_balancing is not None and LOAD_BALANCING in sweep.axes:
        raise UsageError(f"{path}: {LOAD_BALANCING} is an axis and a key of the file; leave one of them out")

    def value_of(key: str, value: Any) -> Any:
        return _beside(path, value) if key in _FILES else checked_value(key, value)

    axes = {key: tuple(value_of(key, value) for value in values) for key, values in sweep.axes.items()}
    settings = {key: value_of(key, value) for key, value in sweep.settings.items()}
    files = {name: None if word is None else _beside(path, word) for name, word in _named_files(sweep)}
    return sweep.model_copy(update={"axes": axes, "settings": settings, **files})


def _named_files(sweep: SweepFile) -> Iterator[tuple[str, str | None]]:
    """Yield the fields of a sweep that may name a file. A topology without a dot is no file."""
    yield "flows", sweep.flows
    if sweep.topology is not None and "." in sweep.topology:
        yield "topology", sweep.topology


def _beside(path: Path, name: Any) -> Any:
    """Return the absolute path of a file that is named relative to the folder of `path`; other values unchanged."""
    beside = path.parent / name if isinstance(name, str) else path
    return str(beside.resolve()) if beside != path and beside.is_file() else name


def jobs_of(sweep: SweepFile, program: P4Program | None = None) -> list[SweepJob]:
    """Return all jobs in the order of the file, with seeds changing fastest.

    Raise UsageError for a job that cannot be planned or that occurs twice.
    """
    count = prod(len(values) for values in (*sweep.axes.values(), sweep.schemes, sweep.seeds))
    if count > MOST_JOBS:
        raise UsageError(f"sweep {sweep.name}: {count} jobs; a sweep may have at most {MOST_JOBS}")
    planned: list[tuple[RunSpec, Mapping[str, Any], str, Effort]] = []
    for values in product(*sweep.axes.values()):
        place = dict(zip(sweep.axes, values, strict=True))
        settings = {**sweep.settings, **{key: value for key, value in place.items() if key != LOAD_BALANCING}}
        for scheme, seed in product(sweep.schemes, sweep.seeds):
            request = RunSpec(
                sweep.scenario,
                scheme=scheme,
                switch=sweep.switch,
                clock=sweep.clock,
                dilation=sweep.dilation,
                scale=sweep.scale,
                seed=seed,
                duration_ms=sweep.duration_ms,
                topology=sweep.topology,
                flow_file=None if sweep.flows is None else Path(sweep.flows),
                faults=sweep.faults,
                settings=settings,
                network_file=read_network_file(sweep.topology, settings),
                load_balancing=place.get(LOAD_BALANCING, sweep.load_balancing),
                program=program,
            )
            plan = plan_run(request)
            key = f"{effect_digest(request, plan)[:_ASKED_DIGITS]}-{code_digest()[:_CODE_DIGITS]}"
            planned.append((request, place, key, effort_of(plan)))
    if len({repr(request) for request, *_ in planned}) < count:
        raise UsageError(f"sweep {sweep.name}: two of its {count} jobs are the same; a value or scheme is repeated")
    return _named(planned)


def _named(planned: Sequence[tuple[RunSpec, Mapping[str, Any], str, Effort]]) -> list[SweepJob]:
    """Name the jobs. The name of a shared run omits the axes in which its jobs differ."""
    places: dict[str, list[Mapping[str, Any]]] = {}
    for _, place, key, _ in planned:
        places.setdefault(key, []).append(place)
    shared = {
        key: {axis for axis in same_run[0] if any(place[axis] != same_run[0][axis] for place in same_run)}
        for key, same_run in places.items()
    }
    jobs = []
    for request, place, key, effort in planned:
        read = [axis for axis in place if axis not in shared[key]]
        words = [
            request.scheme,
            *([] if request.program is None else [f"p4-{request.program.name}"]),
            *(f"{axis.rpartition('.')[2]}-{_word(place[axis])}" for axis in read),
            f"seed-{request.seed}",
        ]
        readable = re.sub(r"[^A-Za-z0-9._+,-]+", "_", ",".join(words))
        jobs.append(SweepJob(request, place, f"{readable[:_MOST_READABLE]}.{key}", effort))
    return jobs


def _word(value: Any) -> str:
    """Return a value as text for a folder's name."""
    if isinstance(value, (list, tuple)):
        return "+".join(map(_word, value))
    return value if isinstance(value, str) else json.dumps(value)


def _key(folder_name: str) -> str:
    return folder_name.rpartition(".")[2]


def labels_of_runs(jobs: Sequence[SweepJob]) -> dict[str, str]:
    """Return a label for each run, by key: scheme, point and seed. An axis that a run does not read has all values."""
    sharing: dict[str, list[SweepJob]] = {}
    for job in jobs:
        sharing.setdefault(job.key, []).append(job)
    return {key: _label(same_run) for key, same_run in sharing.items()}


def _label(sharing: Sequence[SweepJob]) -> str:
    request = sharing[0].request
    places = [f"{axis}={_listed([job.place[axis] for job in sharing])}" for axis in sharing[0].place]
    fixed = None if LOAD_BALANCING in sharing[0].place else request.load_balancing
    variant = variant_of(request.scheme, fixed, request.program_name)
    return " ".join([variant, *places, f"seed={request.seed}"])


def _listed(values: Sequence[Any]) -> str:
    distinct = list(dict.fromkeys(map(str, values)))
    more = [f"+{len(distinct) - _MOST_NAMED}"] if len(distinct) > _MOST_NAMED else []
    return "|".join([*distinct[:_MOST_NAMED], *more])


def unfinished(folder: Path, jobs: Sequence[SweepJob]) -> list[SweepJob]:
    """Return a job for each run that has no complete folder."""
    finished = _finished(folder)
    missing: dict[str, SweepJob] = {}
    for job in jobs:
        if job.key not in finished:
            missing.setdefault(job.key, job)
    return list(missing.values())


def _finished(folder: Path) -> dict[str, Path]:
    """Return the folders of complete runs by key. The words before the key may differ after a change of the sweep."""
    if not (folder / JOBS).is_dir():
        return {}
    return {_key(path.name): path for path in (folder / JOBS).iterdir() if (path / RESULT_FILE).exists()}


def _result_of(folder: Path) -> RunResult:
    try:
        return read_result(folder)
    except ResultError as error:
        raise UsageError(f"{error}; remove that job's folder to run it again") from error


def results_table(folder: Path, jobs: Sequence[SweepJob], *, measures: bool = False) -> pl.DataFrame:
    """Return a row for every finished job: its point and its figures. UsageError for a result that cannot be read.

    `measures`: whether to add the quantities of extensions, which takes longer. A quantity whose function raised an
    error is null, and a warning says so.
    """
    finished = _finished(folder)
    figures = {
        key: result_row(_result_of(finished[key])) for key in dict.fromkeys(job.key for job in jobs) if key in finished
    }
    rows = [
        {
            "job": finished[job.key].name,
            **{f"{AXIS}{axis}": value for axis, value in job.place.items()},
            **figures[job.key],
        }
        for job in jobs
        if job.key in finished
    ]
    table = pl.DataFrame(rows, infer_schema_length=None)
    return with_quantities(table, folder / JOBS) if measures else table
