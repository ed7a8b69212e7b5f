# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Measures the tables of an experiment over its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from sfc_testbed.analysis.formatting import NOTHING
from sfc_testbed.reproduction.model.experiment import Column, NotMeasured, Results, TableSpec
from sfc_testbed.reproduction.record import FigureTable


def measured_table(table: TableSpec, by_seed: Sequence[Results]) -> FigureTable:
    """Return a table with the median over the seeds in each cell. A cell is `-` if a seed has no value for it."""
    headings = ("scheme", *(column.heading for column in table.columns))
    rows = tuple((scheme, *(_cell(column, scheme, by_seed) for column in table.columns)) for scheme in table.schemes)
    return FigureTable(caption=table.caption, headings=headings, rows=rows)


def _cell(column: Column, scheme: str, by_seed: Sequence[Results]) -> str:
    try:
        values = [column.figure.measure(results.at(scheme, column.where)) for results in by_seed]
    except NotMeasured:
        return NOTHING
    return column.figure.write(median(values))
