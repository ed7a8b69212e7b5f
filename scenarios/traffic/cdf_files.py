# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Cumulative distributions as other simulators and traffic generators publish them: rows of `size share`.

Their shares are percentages or fractions of 1. Files of ns-2 have a column that is not used between size and share.
Files of Homa begin with the mean size. The HPCC simulator's files have percentages, and are written here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from sfc_testbed.request.shown import shown
from sfc_testbed.scenarios.traffic.distribution import Knot, SizeDistribution, SizeError, from_knots
from sfc_testbed.scenarios.traffic.numbers import Row, decimal, is_number, rows_of, size_bytes

_ROW = "`size share`, or `size unused share`"
_BYTES = "sizes are read as bytes (some files of this form count packets)"
_TWO, _THREE = 2, 3
_MOST_DIGITS = 15
_PERCENT = 100


def parse_cdf(name: str, lines: Iterable[str]) -> SizeDistribution:
    """Parse rows of `size share`. SizeError names the invalid line."""
    rows = list(rows_of(lines))
    notes = []
    if len(rows) > 1 and not any(map(is_number, rows[0].words)):
        header = rows.pop(0)
        notes.append(f"line {header.line} is taken for the names of the columns: {shown(header.text)}")
    elif len(rows) > 1 and len(rows[0].words) == 1 and is_number(rows[0].text):
        first = rows.pop(0)
        notes.append(f"line {first.line} has a single number, such as a mean size, and is not used: {first.text}")
        notes.append(_BYTES)
    columns = len(rows[0].words) if rows else _TWO
    points = [_point(name, row, columns) for row in rows]
    if columns == _THREE:
        _check_third_column(name, points)
        notes += ["the second of three columns is not used", _BYTES]
    if points and rows[-1].text.endswith("%") and points[-1][1] != 100:
        raise SizeError(f"sizes {name}: line {rows[-1].line}: the last share must be 100%, not {rows[-1].words[-1]}")
    if points and _is_whole_share(points[-1][0]) and points[-1][1] > _PERCENT:
        raise SizeError(f"sizes {name}: line {rows[-1].line}: the share comes first; write the size first")
    fractional = sum(size != size.to_integral_value() for size, _ in points)
    if fractional:
        notes.append(f"{fractional} sizes are not whole and are rounded to the nearest byte")
    knots = [
        Knot(int(size.to_integral_value()), float(share), line=row.line)
        for (size, share), row in zip(points, rows, strict=True)
    ]
    sizes = from_knots(name, knots)
    return replace(sizes, notes=(*notes, *sizes.notes))


def _point(name: str, row: Row, columns: int) -> tuple[Decimal, Decimal]:
    """Return size and share of a row."""
    try:
        if len(row.words) != columns or columns not in (_TWO, _THREE):
            raise ValueError(f"not {columns} columns")
        *_, last = row.words
        size, share = size_bytes(row.words[0]), decimal(last.removesuffix("%").rstrip())
        if size < 0 or share < 0 or size.adjusted() >= _MOST_DIGITS:
            raise ValueError("not a size and a share")
    except ValueError as error:
        raise SizeError(f"sizes {name}: line {row.line}: not {_ROW}: {shown(row.text)}") from error
    return size, share


def _check_third_column(name: str, points: Sequence[tuple[Decimal, Decimal]]) -> None:
    """Refuse rows of the testbed's own format without its header: their third column has steps."""
    if len({share for _, share in points}) == 1:
        raise SizeError(
            f"sizes {name}: the third of three columns must have the shares; rows of size, percentage and steps need "
            "the first row size_bytes,cumulative_percent,steps"
        )


def _is_whole_share(number: Decimal) -> bool:
    return number in (1, 100)


def format_hpcc_cdf(distribution: SizeDistribution) -> str:
    """Format the distribution as the HPCC simulator's CDF file.

    The simulator refuses equal values in a column. So a step at a size begins one byte below that size.
    """
    points: list[tuple[int, float]] = []
    for size, percent in zip(distribution.sizes, distribution.percents, strict=True):
        if points and points[-1][0] == size:
            _, before = points.pop()
            if not points or points[-1][0] < size - 1:
                points.append((size - 1, before))
        points.append((size, percent))
    return "".join(f"{size} {percent:.6g}\n" for size, percent in points)
