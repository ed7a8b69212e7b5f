# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Message sizes by name or file: the distributions that come with the testbed, and the testbed's file format.

The format is CSV with the columns `size_bytes,cumulative_percent,steps`. Sizes and percentages rise, from 0 % to 100 %.
Between two rows the size is linear in the percentage. A row with `steps` n > 1 is followed by n - 1 further points,
equally spaced in percent and in 1 / size, as Google's RPC table is inside each octave (docs/sources.md#message-sizes).
A `#` begins a comment.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from sfc_testbed.request.bounded_file import FileRefused, read_bounded_text
from sfc_testbed.request.shown import shortened, shown
from sfc_testbed.scenarios.traffic.cdf_files import parse_cdf
from sfc_testbed.scenarios.traffic.distribution import Knot, SizeDistribution, SizeError, from_knots
from sfc_testbed.scenarios.traffic.numbers import decimal, rows_of, size_bytes, whole

DATA = Path(__file__).parent / "data"
COLUMNS = ("size_bytes", "cumulative_percent", "steps")
WORKLOADS = ("hadoop", "rpc", "websearch", "storage", "solar", "cache", "data-mining")
"""The distributions that come with the testbed."""

MAX_FILE_BYTES = 10_000_000


def parse_sizes(name: str, lines: Iterable[str]) -> SizeDistribution:
    """Parse the CSV format. SizeError names the invalid line."""
    rows = rows_of(lines)
    header = next(rows, None)
    if header is None or header.words != COLUMNS:
        line = 1 if header is None else header.line
        raise SizeError(f"sizes {name}: line {line}: the first row must be {','.join(COLUMNS)}")
    knots = []
    for row in rows:
        try:
            size, percent, steps = row.words
            knot = Knot(whole(str(size_bytes(size))), float(decimal(percent)), whole(steps), row.line)
            if knot.size_bytes < 0 or knot.percent < 0:
                raise ValueError("a negative number")
        except ValueError as error:
            raise SizeError(f"sizes {name}: line {row.line}: not a row of three numbers: {shown(row.text)}") from error
        knots.append(knot)
    return from_knots(name, knots)


@cache
def load_sizes(name: str) -> SizeDistribution:
    """Load a named distribution, or a file in the CSV format or with rows of `size share`."""
    path = DATA / f"{name}.csv" if name in WORKLOADS else Path(name)
    try:
        lines = read_bounded_text(path, MAX_FILE_BYTES).splitlines()
    except FileNotFoundError as error:
        raise SizeError(
            f"sizes: unknown workload or file {shown(name)}; choose from {', '.join(WORKLOADS)}, or give a file's path"
        ) from error
    except FileRefused as error:
        raise SizeError(f"sizes {shortened(name)}: the file {error}") from error
    first = next(rows_of(lines), None)
    return parse_sizes(name, lines) if first is not None and first.words == COLUMNS else parse_cdf(name, lines)
