# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A trace in pieces: the segments that a run writes while it goes on, joined to one file at its end.

A segment is a trace file of its own, replaced in one step, so a killed process leaves whole ones. One that was damaged
all the same is told of and left out. Knows no clock and no run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from telemetry.atomic_file import replace_file
from telemetry.reader import TraceError, read_trace
from telemetry.schema import TraceSchema

_SUFFIX = ".parquet"
_GROUP_ROWS = 1 << 17
"""Of a joined file: the same rows are the same bytes, wherever a run happened to end a segment."""


def segment_path(folder: Path, number: int) -> Path:
    """Where a segment stands; they are read in the order of their numbers."""
    return folder / f"{number:06d}{_SUFFIX}"


def segment_paths(folder: Path) -> list[Path]:
    """The segments that a folder holds, if there is one, in order."""
    if not folder.is_dir():
        return []
    found = [path for path in folder.iterdir() if path.suffix == _SUFFIX and path.stem.isdigit()]
    return sorted(found, key=lambda path: int(path.stem))


def join_segments(folder: Path, schema: TraceSchema, path: Path) -> list[str]:
    """Writes all rows of a folder's segments to the trace `path`; gives a sentence for each that cannot be read.

    Holds a few segments in memory at a time, however many there are.
    """
    segments = segment_paths(folder)
    try:
        _write_joined(segments, schema, path)
        return []
    except (OSError, pl.exceptions.PolarsError):
        whole, problems = _readable(segments, schema)
        if not problems:
            raise
    _write_joined(whole, schema, path)
    return problems


def read_segments(folder: Path, schema: TraceSchema) -> tuple[pl.DataFrame, list[str]]:
    """All rows of a folder's segments as one frame, and a sentence for each that cannot be read."""
    frames, problems = [schema.empty()], []
    for path in segment_paths(folder):
        try:
            frames.append(read_trace(path, schema))
        except TraceError as error:
            problems.append(_told(error, schema))
    return pl.concat(frames), problems


def _write_joined(segments: Sequence[Path], schema: TraceSchema, path: Path) -> None:
    rows = pl.scan_parquet(list(segments), glob=False) if segments else schema.empty().lazy()
    ordered = rows.select(schema.column_names)
    replace_file(
        path,
        lambda partial: ordered.sink_parquet(
            partial, metadata=schema.metadata, maintain_order=True, row_group_size=_GROUP_ROWS
        ),
    )


def _readable(segments: Sequence[Path], schema: TraceSchema) -> tuple[list[Path], list[str]]:
    whole, problems = [], []
    for path in segments:
        try:
            read_trace(path, schema)
            whole.append(path)
        except TraceError as error:
            problems.append(_told(error, schema))
    return whole, problems


def _told(error: TraceError, schema: TraceSchema) -> str:
    return f"Rows of the {schema.name} trace are lost: {error}."
