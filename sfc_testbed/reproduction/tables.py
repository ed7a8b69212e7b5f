# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Measures the tables of an experiment over its seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from statistics import median
from typing import Any

from sfc_testbed.analysis.formatting import NOTHING
from sfc_testbed.reproduction.model.experiment import Column, NotMeasured, Results, TableSpec
from sfc_testbed.reproduction.record import FigureTable


def measured_table(table: TableSpec, by_seed: Sequence[Results]) -> FigureTable:
    """Return a table with the median over the seeds in each cell. A cell is `-` if a seed has no value for it.

    A table with places leaves out rows without any value, whose runs are refused.
    """
    schemes, places = table.schemes or ("",), table.places or {"": {}}
    rows = []
    for (name, place), scheme in product(places.items(), schemes):
        cells = [_cell(column, scheme or column.scheme, {**column.where, **place}, by_seed) for column in table.columns]
        if not table.places or any(cell != NOTHING for cell in cells):
            rows.append((*([name] if table.places else []), *([scheme] if table.schemes else []), *cells))
    headings = (
        *([table.places_heading] if table.places else []),
        *(["scheme"] if table.schemes else []),
        *(column.heading for column in table.columns),
    )
    return FigureTable(caption=table.caption, headings=headings, rows=tuple(rows))


def _cell(column: Column, scheme: str, place: Mapping[str, Any], by_seed: Sequence[Results]) -> str:
    try:
        values = [column.figure.measure(results.at(scheme, place)) for results in by_seed]
    except NotMeasured:
        return NOTHING
    return column.figure.write(median(values))
