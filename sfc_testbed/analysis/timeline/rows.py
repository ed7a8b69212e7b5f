# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Model times of traces as whole nanoseconds, and long traces in batches."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

import polars as pl

LONGEST_NS = 1 << 62
"""A time that Perfetto can still draw, in ns: 146 years."""

_BATCH_ROWS = 65_536


def in_ns(column: str) -> pl.Expr:
    """Return a `_us` column as whole ns in a `_ns` column. Times before model time 0 become 0."""
    ns = (pl.col(column) * 1000).round().cast(pl.Int64).clip(0, LONGEST_NS)
    return ns.alias(f"{column.removesuffix('_us')}_ns")


def as_ns(time_us: float) -> int:
    """Return a time in µs as whole ns that Perfetto can draw."""
    return min(max(0, round(time_us * 1000)), LONGEST_NS) if isfinite(time_us) else LONGEST_NS


def batches(query: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield the rows of a trace in the order of its file, a limited number at a time."""
    offset = 0
    while (batch := query.slice(offset, _BATCH_ROWS).collect()).height:
        yield batch
        offset += batch.height
