# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The plots of a sweep over its axes, its means over seeds, and its table of jobs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sfc_testbed.analysis.formatting import format_bytes, format_number
from sfc_testbed.analysis.metrics.links import is_use_different
from sfc_testbed.analysis.plots.description import Plot
from sfc_testbed.analysis.plots.over_axes import AxisLine, QuantityLine, place_text, plot_over_axis, plot_quantity
from sfc_testbed.analysis.report.data_table import DataTable
from sfc_testbed.analysis.report.first_sentence import PERCENTILES
from sfc_testbed.analysis.results.over_seeds import Estimate, estimate_of
from sfc_testbed.analysis.results.quantities import COLUMN, with_unit
from sfc_testbed.analysis.results.swept import AXIS, Sweep
from sfc_testbed.place import command_name

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


_LINK_JAIN = "link_jain_index"
_AVERAGED = {"slowdown_p50": "P50", "slowdown_p99": "P99", "max_buffer_bytes": "peak buffer"}


def averaged(sweep: Sweep) -> dict[str, str]:
    """Return the figures whose means over seeds tables of a sweep show, with their headings."""
    return _AVERAGED | {f"{COLUMN}{name}": with_unit(name) for name in sweep.quantities}


def _links(sweep: Sweep) -> dict[str, str]:
    """Return the column with Jain's index of equal-cost links; none if all jobs have about the same, or it is older."""
    known = _LINK_JAIN in sweep.table.columns and is_use_different(sweep.table[_LINK_JAIN])
    return {_LINK_JAIN: "links' Jain"} if known else {}


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
    for (scheme, _), rows in _rows_of(sweep, sweep.axes).items():
        figures = {name: _mean(rows, name) for name in averaged(sweep)}
        yield Means(scheme, [rows[0][AXIS + axis] for axis in sweep.axes], len(rows), figures)


def _rows_of(sweep: Sweep, axes: Sequence[str]) -> dict[tuple[str, Place], list[Row]]:
    """Return the rows of each scheme and place on some axes, in the order of the table."""
    rows_of: dict[tuple[str, Place], list[Row]] = {}
    for row in sweep.table.iter_rows(named=True):
        place = tuple(place_text(row[AXIS + axis]) for axis in axes)
        rows_of.setdefault((row["scheme"], place), []).append(row)
    return rows_of


def over_axes(sweep: Sweep) -> dict[str, tuple[Plot, str]]:
    """Return a plot over each axis, and its caption, by name; then one for each quantity of an extension and axis."""
    axes = [axis for axis in sweep.axes if len(_places(sweep, axis)) > 1]
    drawn = {f"over-{_word(axis)}": _over(sweep, axis) for axis in axes}
    for quantity in sweep.quantities:
        drawn |= {f"{_word(quantity)}-over-{_word(axis)}": _quantity_over(sweep, quantity, axis) for axis in axes}
    return drawn


def _places(sweep: Sweep, axis: str) -> list[Any]:
    """Return the values of an axis: numbers in ascending order, others in file order."""
    by_text: dict[str, Any] = {str(value): value for value in sweep.table[AXIS + axis].to_list()}
    values = list(by_text.values())
    return sorted(values) if all(isinstance(value, (int, float)) for value in values) else values


def _word(axis: str) -> str:
    """Return the axis name in a form that is safe in file names."""
    return re.sub(r"\W+", "-", axis)


def _over(sweep: Sweep, axis: str) -> tuple[Plot, str]:
    """Return the plot over an axis, and its caption."""
    places = _places(sweep, axis)
    others = _others(sweep, axis)
    groups, fixed = _shown(sweep, others)
    figure_name, title = _tail(sweep.table)
    lines = [_line(group, groups, axis, others, places, figure_name) for group in groups]
    classes = ", ".join(sweep.table["traffic_class"].unique(maintain_order=True))
    plot = plot_over_axis(axis, places, lines, slowdown_title=f"{title} FCT slowdown ({classes})")
    first = f"{title} slowdown of {classes} flows and peak buffer, over {axis}."
    crosses = (
        "A cross marks runs that did not finish all flows; they have no figures."
        if any(any(line.are_unfinished) for line in lines)
        else ""
    )
    return plot, _caption(sweep, first, crosses, fixed)


def _quantity_over(sweep: Sweep, quantity: str, axis: str) -> tuple[Plot, str]:
    """Return the plot of a quantity of an extension over an axis, and its caption."""
    places, others = _places(sweep, axis), _others(sweep, axis)
    groups, fixed = _shown(sweep, others)
    lines = [
        QuantityLine(
            _label(group, groups, others),
            group.scheme,
            [estimate_of([row[f"{COLUMN}{quantity}"] for row in rows]) for rows in _at_places(group, axis, places)],
        )
        for group in groups
    ]
    plot = plot_quantity(axis, places, lines, title=with_unit(quantity))
    return plot, _caption(sweep, f"{quantity} over {axis}.", "", fixed)


def _others(sweep: Sweep, axis: str) -> list[str]:
    """Return the other axes that have several values."""
    return [other for other in sweep.axes if other != axis and len(_places(sweep, other)) > 1]


def _caption(sweep: Sweep, first: str, crosses: str, fixed: Mapping[str, str]) -> str:
    """Return the caption of a plot over an axis: what it shows, the meaning of its bars, and where other axes are."""
    words = [first]
    if sweep.seed_changes_nothing:
        words.append("The seed changes nothing.")
    elif sweep.has_seeds:
        words.append(_MEANS.format(sweep.table["seed"].n_unique()))
    if crosses:
        words.append(crosses)
    if fixed:
        words.append(f"At {', '.join(map(' '.join, fixed.items()))}; the table has the other places.")
    return " ".join(words)


def _groups(sweep: Sweep, others: Sequence[str]) -> Iterator[_Group]:
    """Yield one group per scheme and place on the other axes; a single group if the scheme ignores those axes."""
    seen: set[frozenset[str]] = set()
    for (scheme, place), rows in _rows_of(sweep, others).items():
        group = _Group(scheme, place, rows)
        if group.runs not in seen:
            seen.add(group.runs)
            yield group


def _shown(sweep: Sweep, others: Sequence[str]) -> tuple[list[_Group], Mapping[str, str]]:
    """Return the groups to plot. Too many are cut to the first place on the other axes, which is returned too."""
    groups = list(_groups(sweep, others))
    if len(groups) <= _MOST_LINES:
        return groups, {}
    first = groups[0].others
    return [group for group in groups if group.others == first], dict(zip(others, first, strict=True))


def _line(
    group: _Group, groups: Sequence[_Group], axis: str, others: Sequence[str], places: Sequence[Any], slowdown: str
) -> AxisLine:
    at_place = _at_places(group, axis, places)
    return AxisLine(
        label=_label(group, groups, others),
        scheme=group.scheme,
        slowdowns=[_mean(rows, slowdown) for rows in at_place],
        buffers_bytes=[_mean(rows, "max_buffer_bytes") for rows in at_place],
        are_unfinished=[_are_unfinished(rows) for rows in at_place],
    )


def _label(group: _Group, groups: Sequence[_Group], others: Sequence[str]) -> str:
    """Return the scheme, and the group's values of those other axes that affect the scheme."""
    own = [other.others for other in groups if other.scheme == group.scheme]
    differs = [len({place[number] for place in own}) > 1 for number in range(len(others))]
    where = [
        f"{name.rpartition('.')[2]} {value}"
        for name, value, is_read in zip(others, group.others, differs, strict=True)
        if is_read
    ]
    return ", ".join([group.scheme, *where])


def _at_places(group: _Group, axis: str, places: Sequence[Any]) -> list[list[Row]]:
    return [[row for row in group.rows if row[AXIS + axis] == place] for place in places]


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


def job_table(sweep: Sweep) -> DataTable:
    """Return the table of all jobs; of many jobs, the first ones."""
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
            *_links(sweep).values(),
            "drops / resent",
            "BTS",
            *map(with_unit, sweep.quantities),
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
        *(format_number(row[name]) for name in _links(sweep)),
        f"{format_number(row['drops'])} / {format_number(row.get('resent'))}",
        format_number(row["bts_sent"]),
        *(format_number(row[f"{COLUMN}{name}"]) for name in sweep.quantities),
        format_number(row["wall_s"]),
        f"jobs/{row['job']}",
    ]
