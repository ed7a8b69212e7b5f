# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Measures the tables of an experiment over its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from analysis.formatting import NOTHING
from reproduction.model.experiment import MeasuredColumn, NotMeasured, Results, TableSpec
from reproduction.record import FigureTable


def measured_table(table: TableSpec, by_seed: Sequence[Results]) -> FigureTable:
    """Return a table with the median over the seeds in each cell. A cell is `-` if a seed has no value for it."""
    rows = tuple(
        (scheme, *(_cell(column, table, scheme, by_seed) for column in table.columns)) for scheme in table.schemes
    )
    return FigureTable(
        caption=table.caption, headings=("scheme", *(column.name for column in table.columns)), rows=rows
    )


def _cell(column: MeasuredColumn, table: TableSpec, scheme: str, by_seed: Sequence[Results]) -> str:
    try:
        values = [column.measure(results.at(scheme, table.where)) for results in by_seed]
    except NotMeasured:
        return NOTHING
    return column.write(median(values))
