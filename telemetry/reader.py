# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads trace files back and says clearly what is wrong with one that cannot be read. Computes nothing.

A long trace does not have to fit into memory: `scan_trace` gives it as a query, of which polars reads the columns and
rows that an answer needs, some at a time.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from telemetry.schema import SCHEMA_KEY, VERSION_KEY, TraceSchema

Rows = pl.DataFrame | pl.LazyFrame
"""Of a trace: all of them, or a query for them."""

_LONG_BYTES = 1 << 20
"""Of a file: a shorter one is read at once, some ten times as much in memory, since it is asked many times."""


class TraceError(Exception):
    """A trace file is missing, damaged, of another kind or of a version that this release does not read."""


def read_trace(path: Path, schema: TraceSchema) -> pl.DataFrame:
    """The rows of a trace file, columns in schema order.

    Raises TraceError, whose message names the file and the reason.
    """
    if not path.is_file():
        raise TraceError(f"{path}: no such trace")
    try:
        metadata = pl.read_parquet_metadata(path)
        frame = pl.read_parquet(path, glob=False)  # a bracket in a name is a bracket
    except (OSError, pl.exceptions.PolarsError) as error:
        raise TraceError(f"{path}: not a whole Parquet file ({error})") from error
    _check_schema(path, metadata, schema)
    _check_columns(path, frame.schema, schema)
    _check_nulls(path, frame.null_count(), schema)
    return frame


def scan_trace(path: Path, schema: TraceSchema) -> pl.LazyFrame:
    """The same as a query, columns in schema order.

    Raises TraceError as above: that all of it can be read is tried now.
    """
    if not path.is_file() or path.stat().st_size <= _LONG_BYTES:
        return read_trace(path, schema).lazy()
    try:
        metadata = pl.read_parquet_metadata(path)
        rows = pl.scan_parquet(path, glob=False)
        columns = rows.collect_schema()
        nulls = answer(rows.select(pl.all().null_count()))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise TraceError(f"{path}: not a whole Parquet file ({error})") from error
    _check_schema(path, metadata, schema)
    _check_columns(path, columns, schema)
    _check_nulls(path, nulls, schema)
    return rows


def answer(query: pl.LazyFrame) -> pl.DataFrame:
    """What a query comes to, a piece of the trace in memory at a time."""
    return query.collect(engine="streaming")


def _check_schema(path: Path, metadata: dict[str, str], schema: TraceSchema) -> None:
    name, version = metadata.get(SCHEMA_KEY), metadata.get(VERSION_KEY)
    if name is None:
        raise TraceError(f"{path}: not a trace of this testbed (no {SCHEMA_KEY} in its metadata)")
    if name != schema.name:
        raise TraceError(f"{path}: a {name} trace, expected {schema.name}")
    if version != str(schema.version):
        raise TraceError(f"{path}: {name} version {version}, this release reads version {schema.version}")


def _check_columns(path: Path, columns: pl.Schema, schema: TraceSchema) -> None:
    for column in schema.columns:
        found = columns.get(column.name)
        if found is None:
            raise TraceError(f"{path}: column {column.name} is missing")
        if found != column.dtype:
            raise TraceError(f"{path}: column {column.name} is {found}, expected {column.dtype()}")
    if tuple(columns) != schema.column_names:
        raise TraceError(f"{path}: columns are {', '.join(columns)}; expected {', '.join(schema.column_names)}")


def _check_nulls(path: Path, nulls: pl.DataFrame, schema: TraceSchema) -> None:
    """Refuse a trace with nulls where its schema has none. `nulls`: one row with the number of nulls per column."""
    for column in schema.columns:
        if nulls[column.name][0] and not column.nullable:
            raise TraceError(f"{path}: column {column.name} has {nulls[column.name][0]} nulls, expected none")
