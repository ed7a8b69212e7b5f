# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The page of a sweep: a summary, a plot over each axis, and a table of all jobs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from sfc_testbed.analysis.formatting import format_bytes, format_number
from sfc_testbed.analysis.plots.over_axes import AxisLine, place_text, plot_over_axis
from sfc_testbed.analysis.report.first_sentence import PERCENTILES, of_sweep
from sfc_testbed.analysis.report.html_pages import REPORT_FILE, place_figures, render, write_csv
from sfc_testbed.analysis.report.page_tables import DataTable
from sfc_testbed.analysis.results.over_seeds import Estimate, estimate_of
from sfc_testbed.analysis.results.swept import (
    AXIS,
    SWEEP_FILE,
    TABLE_FILE,
    Sweep,
    read_sweep_results,
    shared_runs,
    warnings_of,
)
from sfc_testbed.place import command_name
from sfc_testbed.telemetry.atomic_file import replace_text

CSV_FILE = "results.csv"
_MOST_LINES = 8
_MOST_ROWS = 500
_MEANS = (
    "Means over {} seeds; bars are their 95 % confidence intervals (Student's t), a point without one is the same with "
    "every seed. Lines are drawn beside each other."
)

Row = Mapping[str, Any]
Place = tuple[str, ...]


@dataclass(frozen=True)
class _Group:
    """Jobs of one scheme that differ only in one axis and in the seed."""

    scheme: str
    others: Place
    rows: Sequence[Row]

    @property
    def runs(self) -> frozenset[str]:
        return frozenset(row["job"] for row in self.rows)


def write_sweep_page(folder: Path, failures: Sequence[str] = ()) -> Path:
    """Write report.html, a PNG per figure and results.csv from a sweep's folder into it, and return the page's path.

    `failures`: one text for each job without a result. Raises ResultError if the sweep cannot be read.
    """
    sweep = read_sweep_results(folder)
    drawn = _drawn(sweep)
    program = [f"P4 program of the switches: {sweep.program}."] if sweep.program else []
    write_csv(folder / CSV_FILE, flat(sweep.table))
    html = render(
        "sweep.html.j2",
        sweep=sweep,
        first=of_sweep(sweep),
        notes=[*program, *shared_runs(sweep.table), *warnings_of(sweep)],
        failures=failures,
        plots=place_figures(
            folder,
            {name: figure for name, (figure, _) in drawn.items()},
            {name: caption for name, (_, caption) in drawn.items()},
        ),
        table=_job_table(sweep),
        files=(TABLE_FILE, CSV_FILE, SWEEP_FILE),
    )
    replace_text(folder / REPORT_FILE, html)
    return folder / REPORT_FILE


def sweep_figures(sweep: Sweep) -> dict[str, Figure]:
    """Return the figures of a sweep's page by name."""
    return {name: figure for name, (figure, _) in _drawn(sweep).items()}


AVERAGED = ("slowdown_p50", "slowdown_p99", "max_buffer_bytes")
"""The figures whose means over seeds tables of a sweep show."""


@dataclass(frozen=True)
class Means:
    """The means over the seeds of one scheme at one place on the axes."""

    scheme: str
    place: Sequence[Any]
    seeds: int
    figures: Mapping[str, Estimate | None]
    """An estimate is None if a run has no such figure because flows did not finish."""


def means_of(sweep: Sweep) -> Iterator[Means]:
    """Yield the means for each scheme and place, in the order of the table."""
    rows_of: dict[tuple[str, Place], list[Row]] = {}
    for row in sweep.table.iter_rows(named=True):
        place = tuple(place_text(row[AXIS + axis]) for axis in sweep.axes)
        rows_of.setdefault((row["scheme"], place), []).append(row)
    for (scheme, _), rows in rows_of.items():
        figures = {name: _mean(rows, name) for name in AVERAGED}
        yield Means(scheme, [rows[0][AXIS + axis] for axis in sweep.axes], len(rows), figures)


def _drawn(sweep: Sweep) -> dict[str, tuple[Figure, str]]:
    """Return a plot over each axis, and its caption, by name."""
    return {f"over-{_word(axis)}": _over(sweep, axis) for axis in sweep.axes if len(_places(sweep, axis)) > 1}


def flat(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with lists converted to text, because CSV has no lists."""
    nested = [name for name, kind in table.schema.items() if kind.is_nested()]
    return table.with_columns(pl.Series(name, [str(value) for value in table[name].to_list()]) for name in nested)


def _places(sweep: Sweep, axis: str) -> list[Any]:
    """Return the values of an axis: numbers in ascending order, others in file order."""
    by_text: dict[str, Any] = {str(value): value for value in sweep.table[AXIS + axis].to_list()}
    values = list(by_text.values())
    return sorted(values) if all(isinstance(value, (int, float)) for value in values) else values


def _word(axis: str) -> str:
    """Return the axis name in a form that is safe in file names."""
    return re.sub(r"\W+", "-", axis)


def _over(sweep: Sweep, axis: str) -> tuple[Figure, str]:
    """Return the plot over an axis, and its caption."""
    places = _places(sweep, axis)
    others = [other for other in sweep.axes if other != axis and len(_places(sweep, other)) > 1]
    groups, is_cut = _shown(list(_groups(sweep, others)))
    figure_name, title = _tail(sweep.table)
    lines = [_line(group, groups, axis, others, places, figure_name) for group in groups]
    classes = ", ".join(sweep.table["traffic_class"].unique(maintain_order=True))
    figure = plot_over_axis(axis, places, lines, slowdown_title=f"{title} FCT slowdown ({classes})")
    words = [f"{title} slowdown of {classes} flows and peak buffer, over {axis}."]
    if sweep.seed_changes_nothing:
        words.append("The seed changes nothing.")
    elif sweep.has_seeds:
        words.append(_MEANS.format(sweep.table["seed"].n_unique()))
    if any(any(line.are_unfinished) for line in lines):
        words.append("A cross marks runs that did not finish all flows; they have no figures.")
    if is_cut:
        fixed = ", ".join(f"{name} {value}" for name, value in zip(others, groups[0].others, strict=True))
        words.append(f"At {fixed}; the table has the other places.")
    return figure, " ".join(words)


def _groups(sweep: Sweep, others: Sequence[str]) -> Iterator[_Group]:
    """Yield one group per scheme and place on the other axes; a single group if the scheme ignores those axes."""
    rows_of: dict[tuple[str, Place], list[Row]] = {}
    for row in sweep.table.iter_rows(named=True):
        place = tuple(place_text(row[AXIS + other]) for other in others)
        rows_of.setdefault((row["scheme"], place), []).append(row)
    seen: set[frozenset[str]] = set()
    for (scheme, place), rows in rows_of.items():
        group = _Group(scheme, place, rows)
        if group.runs not in seen:
            seen.add(group.runs)
            yield group


def _shown(groups: list[_Group]) -> tuple[list[_Group], bool]:
    """Return the groups to plot, and whether some are left out. Too many groups are cut to the first place."""
    if len(groups) <= _MOST_LINES:
        return groups, False
    return [group for group in groups if group.others == groups[0].others], True


def _line(
    group: _Group, groups: Sequence[_Group], axis: str, others: Sequence[str], places: Sequence[Any], slowdown: str
) -> AxisLine:
    own = [other.others for other in groups if other.scheme == group.scheme]
    differs = [len({place[number] for place in own}) > 1 for number in range(len(others))]
    where = [
        f"{name.rpartition('.')[2]} {value}"
        for name, value, is_read in zip(others, group.others, differs, strict=True)
        if is_read
    ]
    at_place = [[row for row in group.rows if row[AXIS + axis] == place] for place in places]
    return AxisLine(
        label=", ".join([group.scheme, *where]),
        scheme=group.scheme,
        slowdowns=[_mean(rows, slowdown) for rows in at_place],
        buffers_bytes=[_mean(rows, "max_buffer_bytes") for rows in at_place],
        are_unfinished=[_are_unfinished(rows) for rows in at_place],
    )


def _are_unfinished(rows: Sequence[Row]) -> bool:
    """Return whether flows of any of these runs did not finish. Tables of older releases do not say."""
    return any(row.get("flows_unfinished") for row in rows)


def _mean(rows: Sequence[Row], name: str) -> Estimate | None:
    """Return the mean over some runs; None if they have no values, or if flows of one did not finish."""
    return None if _are_unfinished(rows) else estimate_of([row[name] for row in rows])


def _tail(table: pl.DataFrame) -> tuple[str, str]:
    """Return the highest percentile that every finished job has, else the median: its column and its title."""
    finished = table.filter(pl.col("flows_unfinished") == 0) if "flows_unfinished" in table.columns else table
    for name, title in PERCENTILES.items():
        if name in table.columns and finished[name].null_count() == 0:
            return name, title
    return "slowdown_p50", "Median"


def _job_table(sweep: Sweep) -> DataTable:
    more = sweep.table.height - _MOST_ROWS
    return DataTable(
        "Jobs",
        (
            "scheme",
            *sweep.axes,
            "seed",
            "verdict",
            "flows",
            "P50",
            "P99",
            "peak buffer",
            "drops / resent",
            "BTS",
            "wall s",
            "folder",
        ),
        [_job_cells(sweep, row) for row in sweep.table.head(_MOST_ROWS).iter_rows(named=True)],
        f"P50 and P99: slowdown of the main traffic class. Write a run's page with {command_name()} report FOLDER."
        + (f" {more:,} more jobs are in {CSV_FILE}." if more > 0 else ""),
    )


def _job_cells(sweep: Sweep, row: Row) -> list[str]:
    return [
        row["scheme"],
        *(place_text(row[AXIS + axis]) for axis in sweep.axes),
        str(row["seed"]),
        row["verdict"],
        f"{row['flows_completed']:,} / {row['flows_total']:,}",
        *(format_number(row[name]) for name in ("slowdown_p50", "slowdown_p99")),
        format_bytes(row["max_buffer_bytes"]),
        f"{format_number(row['drops'])} / {format_number(row.get('resent'))}",
        format_number(row["bts_sent"]),
        format_number(row["wall_s"]),
        f"jobs/{row['job']}",
    ]
