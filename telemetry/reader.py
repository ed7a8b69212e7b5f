# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads trace files back and says clearly what is wrong with one that cannot be read. Computes nothing."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from telemetry.schema import SCHEMA_KEY, VERSION_KEY, TraceSchema


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
    _check_columns(path, frame, schema)
    return frame


def _check_schema(path: Path, metadata: dict[str, str], schema: TraceSchema) -> None:
    name, version = metadata.get(SCHEMA_KEY), metadata.get(VERSION_KEY)
    if name is None:
        raise TraceError(f"{path}: not a trace of this testbed (no {SCHEMA_KEY} in its metadata)")
    if name != schema.name:
        raise TraceError(f"{path}: a {name} trace, expected {schema.name}")
    if version != str(schema.version):
        raise TraceError(f"{path}: {name} version {version}, this release reads version {schema.version}")


def _check_columns(path: Path, frame: pl.DataFrame, schema: TraceSchema) -> None:
    for column in schema.columns:
        found = frame.schema.get(column.name)
        if found is None:
            raise TraceError(f"{path}: column {column.name} is missing")
        if found != column.dtype:
            raise TraceError(f"{path}: column {column.name} is {found}, expected {column.dtype()}")
    if tuple(frame.columns) != schema.column_names:
        raise TraceError(f"{path}: columns are {', '.join(frame.columns)}; expected {', '.join(schema.column_names)}")
