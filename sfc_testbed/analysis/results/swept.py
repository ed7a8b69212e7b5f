# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The stored results of a sweep: a table with one row per job. Several jobs may share a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PolarsError
from pydantic import BaseModel, ConfigDict, ValidationError

from sfc_testbed.analysis.formatting import amount
from sfc_testbed.analysis.results.comparison import shared_warnings
from sfc_testbed.analysis.results.quantities import COLUMN, Measurements, measured_in, names_of_extensions
from sfc_testbed.analysis.results.result import MAX_FILE_BYTES, RESULT_FILE, ResultError
from sfc_testbed.request.bounded_file import FileRefused, read_bounded_text
from sfc_testbed.request.spec import P4Program

SWEEP_FILE = "sweep.json"
TABLE_FILE = "results.parquet"
JOBS = "jobs"
"""The folder of the runs in the folder of a sweep."""
AXIS = "axis."
"""The prefix of the columns with the values of a swept setting."""

_NEEDED = {
    *("job", "scheme", "seed", "verdict", "flows_total", "flows_completed", "traffic_class", "slowdown_p50"),
    *("slowdown_p99", "max_buffer_bytes", "drops", "bts_sent", "wall_s"),
}


class _SweepSettings(BaseModel):
    """The fields of sweep.json that a page shows."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    scenario: str
    program: P4Program | None = None


_NO_FIGURES = {"job", "seed", "wall_s"}
"""Columns that may differ although two runs are the same."""


@dataclass(frozen=True)
class Sweep:
    """A sweep that has at least one result."""

    name: str
    scenario: str
    table: pl.DataFrame
    program: str = ""
    """File and hash of the P4 program of all its runs; empty for the testbed's own program."""
    folder: Path = Path()

    @property
    def axes(self) -> tuple[str, ...]:
        return axes_of(self.table)

    @property
    def quantities(self) -> tuple[str, ...]:
        """The names of the quantities of extensions that the table has, whether or not the extensions are loaded."""
        return tuple(name.removeprefix(COLUMN) for name in self.table.columns if name.startswith(COLUMN))

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """The label of each run, by its job: the scheme, the values of the axes that affect it, and the seed."""
        rows_of: dict[str, list[dict[str, Any]]] = {}
        for row in self.table.iter_rows(named=True):
            rows_of.setdefault(row["job"], []).append(row)
        return {job: self._label(rows) for job, rows in rows_of.items()}

    def _label(self, rows: Sequence[Mapping[str, Any]]) -> str:
        values = {axis: rows[0][AXIS + axis] for axis in self.axes}
        read = [axis for axis, value in values.items() if all(row[AXIS + axis] == value for row in rows)]
        seed = [f"seed {rows[0]['seed']}"] if self.has_seeds else []
        return ", ".join([rows[0]["scheme"], *(f"{axis.rpartition('.')[2]} {values[axis]}" for axis in read), *seed])

    @cached_property
    def has_seeds(self) -> bool:
        """Whether there are several seeds."""
        return self.table["seed"].n_unique() > 1

    @cached_property
    def seed_changes_nothing(self) -> bool:
        """Whether there are several seeds, and jobs that differ only in the seed agree in every figure.

        Runs that failed alike do not show that.
        """
        rows = self.table.iter_rows(named=True)
        failed = any(row["verdict"] == "invalid" or row.get("flows_unfinished") for row in rows)
        return self.has_seeds and not failed and all(len(figures) == 1 for figures in self._figures_by_place.values())

    @property
    def _figures_by_place(self) -> dict[str, set[str]]:
        """The different figures of the jobs, by scheme and values of the axes."""
        keys = ["scheme", *(name for name in self.table.columns if name.startswith(AXIS))]
        figures_of: dict[str, set[str]] = {}
        for row in self.table.iter_rows(named=True):
            figures = {name: value for name, value in row.items() if name not in _NO_FIGURES}
            figures_of.setdefault(str([row[key] for key in keys]), set()).add(str(figures))
        return figures_of

    @property
    def runs(self) -> pl.DataFrame:
        """The table with one row per run."""
        return self.table.unique("job", keep="first", maintain_order=True)


def is_sweep(folder: Path) -> bool:
    """Return whether a folder was written by `sweep`."""
    return (folder / SWEEP_FILE).is_file() and (folder / TABLE_FILE).is_file()


def read_sweep_results(folder: Path) -> Sweep:
    """Read the results of a sweep. Raises ResultError with the file if one cannot be read or has no finished job."""
    try:
        settings = _SweepSettings.model_validate_json(read_bounded_text(folder / SWEEP_FILE, MAX_FILE_BYTES))
        table = pl.read_parquet(folder / TABLE_FILE, glob=False)
    except (FileRefused, OSError, ValueError, ValidationError, PolarsError) as error:
        reason = next(iter(str(error).splitlines()), "no details")
        raise ResultError(f"{folder}: the sweep is not readable ({reason})") from error
    missing = _NEEDED - set(table.columns)
    if missing:
        raise ResultError(f"{folder / TABLE_FILE}: no finished jobs (column {min(missing)} is missing)")
    program = settings.program
    program_text = f"{program.path}, SHA-256 {program.sha256}" if program else ""
    return Sweep(settings.name, settings.scenario, table, program_text, folder)


def with_quantities(table: pl.DataFrame, jobs: Path) -> pl.DataFrame:
    """Return a table with the quantities of the extensions in use, measured from the runs in the folder `jobs`.

    A run that is not there has no quantities, and other quantities stay as they are. Warnings say which function
    raised an error.
    """
    names = names_of_extensions()
    if not names or "job" not in table.columns:
        return table
    folders = {job: jobs / job for job in table["job"].unique(maintain_order=True)}
    known = {job: folder for job, folder in folders.items() if (folder / RESULT_FILE).is_file()}
    measured = dict(zip(known, measured_in(known.values()), strict=True))
    rows = [measured.get(job, Measurements({})) for job in table["job"]]
    table = table.with_columns(
        pl.Series(f"{COLUMN}{name}", [of.values.get(name) for of in rows], pl.Float64) for name in names
    )
    if "warnings" not in table.columns:
        return table
    earlier = [str(text).splitlines() for text in table["warnings"]]
    warnings = ["\n".join(dict.fromkeys([*lines, *of.failures])) for lines, of in zip(earlier, rows, strict=True)]
    return table.with_columns(pl.Series("warnings", warnings))


def axes_of(table: pl.DataFrame) -> tuple[str, ...]:
    """Return the names of the swept settings."""
    return tuple(name.removeprefix(AXIS) for name in table.columns if name.startswith(AXIS))


def warnings_of(sweep: Sweep) -> tuple[str, ...]:
    """Return each warning of the runs once, with the runs that have it. Tables of older releases have no warnings."""
    if "warnings" not in sweep.table.columns:
        return ()
    rows = sweep.runs.select("job", "warnings").iter_rows()
    return tuple(shared_warnings((sweep.labels[job], warnings.splitlines()) for job, warnings in rows))


def shared_runs(table: pl.DataFrame) -> tuple[str, ...]:
    """Return a sentence for each scheme whose jobs share runs because an axis does not affect it."""
    axes = axes_of(table)
    rows_of: dict[str, list[dict[str, object]]] = {}
    for row in table.iter_rows(named=True):
        rows_of.setdefault(row["scheme"], []).append(row)
    sentences = []
    for scheme, rows in rows_of.items():
        first = {row["job"]: row for row in reversed(rows)}
        unread = [axis for axis in axes if any(row[AXIS + axis] != first[row["job"]][AXIS + axis] for row in rows)]
        if unread:
            shared = amount(len(first), "run")
            sentences.append(f"{', '.join(unread)} does not affect {scheme}: its {len(rows)} jobs share {shared}.")
    return tuple(sentences)
