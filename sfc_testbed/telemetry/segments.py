# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Segments of a trace: files that a run writes while it is active and joins to one trace at its end.

A segment is itself a trace file and is replaced in one step, so a killed process leaves only complete segments. If a
segment is damaged nevertheless, it is reported and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import polars as pl

from sfc_testbed.telemetry.atomic_file import replace_file
from sfc_testbed.telemetry.reader import TraceError, conforming, read_trace
from sfc_testbed.telemetry.schema import TraceSchema, conformed

_SUFFIX = ".parquet"
_GROUP_ROWS = 1 << 17
"""Rows per row group of a joined file. With a fixed size, equal rows give equal files however they are segmented."""


def segment_path(folder: Path, number: int) -> Path:
    """Return the path of a segment. Segments are read in the order of their numbers."""
    return folder / f"{number:06d}{_SUFFIX}"


def segment_paths(folder: Path) -> list[Path]:
    """Return the segments in a folder in order, or an empty list if there is no such folder."""
    if not folder.is_dir():
        return []
    segments = [path for path in folder.iterdir() if path.suffix == _SUFFIX and path.stem.isdigit()]
    return sorted(segments, key=lambda path: int(path.stem))


def join_segments(folder: Path, schema: TraceSchema, path: Path) -> list[str]:
    """Write all rows of a folder's segments to the trace `path`. Return a sentence for each segment that is damaged.

    Only a few segments are in memory at a time, however many there are.
    """
    segments = segment_paths(folder)
    try:
        _write_rows(scan_segments(segments, schema), schema, path)
        return []
    except (OSError, pl.exceptions.PolarsError):
        readable, problems = readable_segments(folder, schema)
        if not problems:
            raise
    _write_rows(scan_segments(readable, schema), schema, path)
    return problems


def readable_segments(folder: Path, schema: TraceSchema) -> tuple[list[Path], list[str]]:
    """Return the segments in a folder that can be read, and a sentence for each segment that is damaged."""
    return readable_files(segment_paths(folder), lambda path: read_trace(path, schema), schema)


def readable_files(
    paths: Iterable[Path], read: Callable[[Path], pl.DataFrame], schema: TraceSchema
) -> tuple[list[Path], list[str]]:
    """Return the files that `read` can read, and a sentence for each file that is damaged."""
    readable, problems = [], []
    for path in paths:
        try:
            read(path)
            readable.append(path)
        except TraceError as error:
            problems.append(_describe_loss(error, schema))
    return readable, problems


def read_segments(folder: Path, schema: TraceSchema) -> tuple[pl.DataFrame, list[str]]:
    """Return all rows of a folder's segments as one data frame, and a sentence for each segment that is damaged."""
    readable, problems = readable_segments(folder, schema)
    return scan_segments(readable, schema).collect(), problems


def scan_segments(segments: Sequence[Path], schema: TraceSchema) -> pl.LazyFrame:
    """Return a query for the rows of segments."""
    return conforming(pl.scan_parquet(list(segments), glob=False), schema) if segments else schema.empty().lazy()


def write_parts(parts: Iterator[pl.DataFrame], schema: TraceSchema, path: Path) -> None:
    """Write the trace `path` from data frames with its columns. Only a few of them are in memory at a time."""
    from polars.io.plugins import register_io_source  # polars is loaded only when it is needed

    rows = register_io_source(lambda *_: (conformed(part, schema) for part in parts), schema=pl.Schema(schema.dtypes))
    _write_rows(rows, schema, path)


def _write_rows(rows: pl.LazyFrame, schema: TraceSchema, path: Path) -> None:
    replace_file(
        path,
        lambda partial: rows.sink_parquet(
            partial, metadata=schema.metadata, maintain_order=True, row_group_size=_GROUP_ROWS
        ),
    )


def _describe_loss(error: TraceError, schema: TraceSchema) -> str:
    return f"Rows of the {schema.name} trace are lost: {error}."
