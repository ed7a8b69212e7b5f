# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads trace files and reports precisely why a file cannot be read.

Files of other releases are readable: a column that a release did not write is read as null if it can be null, and an
unknown column is ignored. Other changes of a trace raise its version.

A long trace does not have to fit into memory: `scan_trace` returns it as a query, and polars then reads only the
columns and rows that the query needs, a part at a time.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TypeAlias, TypeVar

import polars as pl

from sfc_testbed.request.spec import writer_of
from sfc_testbed.request.stored_versions import version_refused, written_by
from sfc_testbed.telemetry.schema import SCHEMA_KEY, VERSION_KEY, TraceSchema

AnyRows = TypeVar("AnyRows", "pl.DataFrame", "pl.LazyFrame")

Rows: TypeAlias = "pl.DataFrame | pl.LazyFrame"
"""The rows of a trace, or a query for them."""

_LONG_BYTES = 1 << 20
"""File size up to which `scan_trace` reads a trace into memory, where it takes about ten times this size.

A trace is queried many times, and queries on rows in memory are faster.
"""


class TraceError(Exception):
    """A trace file is missing or damaged, or has an unexpected schema or an unsupported version."""


def read_trace(path: Path, schema: TraceSchema) -> pl.DataFrame:
    """Return the rows of a trace file, with columns in schema order.

    Raise TraceError, whose message contains the file and the reason, if the file cannot be read.
    """
    if not path.is_file():
        raise TraceError(f"{path}: no such trace")
    try:
        metadata = pl.read_parquet_metadata(path)
        frame = conforming(pl.read_parquet(path, glob=False), schema)  # the name may contain brackets
    except (OSError, pl.exceptions.PolarsError) as error:
        raise TraceError(f"{path}: not a whole Parquet file ({error})") from error
    _check(path, schema, metadata, frame.schema, frame.null_count())
    return frame


def scan_trace(path: Path, schema: TraceSchema) -> pl.LazyFrame:
    """Return a query for the rows of a trace file, with columns in schema order.

    Raise TraceError if the file cannot be read. The whole file is checked now, not when the query is evaluated.
    """
    if not path.is_file():
        return read_trace(path, schema).lazy()
    state = path.stat()
    if state.st_size <= _LONG_BYTES:
        return _read_once(path, schema, (state.st_ino, state.st_size, state.st_mtime_ns)).lazy()
    try:
        metadata = pl.read_parquet_metadata(path)
        rows = conforming(pl.scan_parquet(path, glob=False), schema)
        columns = rows.collect_schema()
        nulls = answer(rows.select(pl.all().null_count()))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise TraceError(f"{path}: not a whole Parquet file ({error})") from error
    _check(path, schema, metadata, columns, nulls)
    return rows


@lru_cache(maxsize=8)
def _read_once(path: Path, schema: TraceSchema, state: tuple[int, int, int]) -> pl.DataFrame:
    """Return the rows of a short trace. The result of a run and its page need the same rows one after the other.

    `state` tells versions of the file apart.
    """
    return read_trace(path, schema)


def answer(query: pl.LazyFrame) -> pl.DataFrame:
    """Evaluate a query with only a part of the trace in memory at a time."""
    return query.collect(engine="streaming")


def conforming(rows: AnyRows, schema: TraceSchema) -> AnyRows:
    """Return the columns of a trace in schema order: absent columns that can be null as nulls, without unknown columns.

    Other absent columns stay absent.
    """
    names = set(rows.collect_schema().names())
    return rows.select(
        pl.col(column.name) if column.name in names else pl.lit(None, column.dtype).alias(column.name)
        for column in schema.columns
        if column.name in names or column.nullable
    )


def _check(path: Path, schema: TraceSchema, metadata: dict[str, str], columns: pl.Schema, nulls: pl.DataFrame) -> None:
    """Raise TraceError unless a file has this schema. `nulls` is one row with the nulls per column."""
    name, version = metadata.get(SCHEMA_KEY), metadata.get(VERSION_KEY)
    if name is None:
        raise TraceError(f"{path}: not a trace of this testbed (no {SCHEMA_KEY} in its metadata)")
    if name != schema.name:
        raise TraceError(f"{path}: a {name} trace, expected {schema.name}")
    if version != str(schema.version):
        number = int(version) if version is not None and version.isdecimal() else version
        raise TraceError(f"{path}: {version_refused(name, number, schema.version, writer_of(path))}")
    for column in schema.columns:
        dtype = columns.get(column.name)
        if dtype is None:
            raise TraceError(f"{path}: column {column.name} is missing{written_by(writer_of(path))}")
        if dtype != column.dtype:
            raise TraceError(f"{path}: column {column.name} is {dtype}, expected {column.dtype()}")
    for column in schema.columns:
        if nulls[column.name][0] and not column.nullable:
            raise TraceError(f"{path}: column {column.name} has {nulls[column.name][0]} nulls, expected none")
