# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Measures the tables of an experiment over its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from statistics import median

from sfc_testbed.analysis.formatting import NOTHING
from sfc_testbed.reproduction.model.experiment import Column, NotMeasured, Results, TableSpec
from sfc_testbed.reproduction.record import FigureTable


def measured_table(table: TableSpec, by_seed: Sequence[Results]) -> FigureTable:
    """Return a table with the median over the seeds in each cell. A cell is `-` if a seed has no value for it.

    Rows without any value are left out of a table with places: their runs are refused.
    """
    columns = [column.heading for column in table.columns]
    if not table.places:
        rows = [(scheme, *(_cell(column, scheme, by_seed) for column in table.columns)) for scheme in table.schemes]
        return FigureTable(caption=table.caption, headings=("scheme", *columns), rows=tuple(rows))
    rows = []
    for (name, place), scheme in product(table.places.items(), table.schemes):
        chosen = [replace(column, where={**column.where, **place}) for column in table.columns]
        cells = [_cell(column, scheme, by_seed) for column in chosen]
        if any(cell != NOTHING for cell in cells):
            rows.append((name, scheme, *cells))
    headings = (table.places_heading, "scheme", *columns)
    return FigureTable(caption=table.caption, headings=headings, rows=tuple(rows))


def _cell(column: Column, scheme: str, by_seed: Sequence[Results]) -> str:
    try:
        values = [column.figure.measure(results.at(scheme, column.where)) for results in by_seed]
    except NotMeasured:
        return NOTHING
    return column.figure.write(median(values))
