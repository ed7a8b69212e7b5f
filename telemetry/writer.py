# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Takes the rows of one trace as they come and writes them as Parquet, in segments first, then as one file.

Owns the promise that what was measured survives: a flush may happen at any time, every file on disk is whole, and
leaving the context writes the trace even when an exception or Ctrl-C ends it. In memory are the rows of one segment
only. Knows no clock: times arrive in model µs.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Literal

import polars as pl

from telemetry.atomic_file import replace_file
from telemetry.schema import TraceSchema, check_of, usual_rows
from telemetry.segments import join_segments, segment_path

DEFAULT_SEGMENT_ROWS = 16_384
"""A few hundred KB of Python objects, and a few ms to write."""


class SegmentWriter:
    """Writes one trace as segments into a folder, which is made when there is something to write.

    A segment that has `segment_rows` rows is written for good and its rows leave memory; a flush writes the one that
    has fewer, and again with what came since, until it has as many.
    """

    def __init__(self, folder: Path, schema: TraceSchema, *, segment_rows: int = DEFAULT_SEGMENT_ROWS) -> None:
        if segment_rows < 1:
            raise ValueError(f"segment_rows must be at least 1, not {segment_rows}")
        self.folder = folder
        self.schema = schema
        self._segment_rows = segment_rows
        self._columns = frozenset(schema.column_names)
        self._checks = tuple(check_of(column) for column in schema.columns)
        self._is_usual = usual_rows(schema.columns)
        self._values_of = attrgetter(*schema.column_names)
        self._rows: list[tuple[object, ...]] = []
        self._frames: list[pl.DataFrame] = []
        self._frame_rows = 0
        self._rows_written = 0
        self._segments = 0
        self._is_flushed = True

    def append(self, row: object) -> None:
        """Adds one row. Raises ValueError unless it is of the trace's class and each value fits its column."""
        if self.schema.row is None or not isinstance(row, self.schema.row):
            raise ValueError(f"not a row of {self.schema.name}: {row!r}")
        self.append_values(self._values_of(row))

    def append_values(self, values: Iterable[object]) -> None:
        """Adds one row, its values in the order of the columns. Raises ValueError unless each fits its column."""
        row = tuple(values)
        if not self._is_usual(row):
            for check, value in zip(self._checks, row, strict=True):
                if not check(value):
                    raise ValueError(f"{self.schema.name}.{self._misfit(row)}")
        self._rows.append(row)
        self._added()

    def append_frame(self, frame: pl.DataFrame) -> None:
        """Adds all rows of a frame that has the trace's columns, in any order. Raises ValueError on others."""
        if set(frame.columns) != self._columns:
            raise ValueError(f"{self.schema.name} frame: {_difference(self._columns, set(frame.columns))}")
        ordered = frame.select(self.schema.column_names).cast(pl.Schema(self.schema.dtypes))
        for column in self.schema.columns:
            if not column.nullable and ordered[column.name].null_count():
                raise ValueError(f"{self.schema.name}.{column.name} cannot hold null")
        self._gather()
        self._keep(ordered)
        self._added()

    def __len__(self) -> int:
        return self._rows_written + self.rows_in_memory

    @property
    def rows_in_memory(self) -> int:
        """Rows of the segment that is not full."""
        return self._frame_rows + len(self._rows)

    def flush(self) -> None:
        """Writes what is not yet on disk."""
        if self._is_flushed:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self._gather()
        self._frames = [pl.concat(self._frames)]
        write_trace(segment_path(self.folder, self._segments), self.schema, self._frames[0], compression="lz4")
        self._is_flushed = True

    def _misfit(self, row: tuple[object, ...]) -> str:
        columns = zip(self.schema.columns, self._checks, row, strict=True)
        return next(f"{column.name} cannot hold {value!r}" for column, check, value in columns if not check(value))

    def _added(self) -> None:
        self._is_flushed = False
        if self._frame_rows + len(self._rows) >= self._segment_rows:
            self.flush()
            self._segments += 1
            self._rows_written += self._frame_rows
            self._frames, self._frame_rows = [], 0

    def _gather(self) -> None:
        """Turns the rows since the last time into a frame."""
        rows, self._rows = self._rows, []
        if rows:
            self._keep(pl.DataFrame(rows, schema=dict(self.schema.dtypes), orient="row"))

    def _keep(self, frame: pl.DataFrame) -> None:
        self._frames.append(frame)
        self._frame_rows += frame.height


class TraceWriter(SegmentWriter):
    """Writes one trace: segments while it is open, `path` when it is closed, if only with the columns and no row."""

    def __init__(
        self, path: Path, schema: TraceSchema, segments: Path, *, segment_rows: int = DEFAULT_SEGMENT_ROWS
    ) -> None:
        super().__init__(segments, schema, segment_rows=segment_rows)
        self.path = path

    def __enter__(self) -> TraceWriter:
        return self

    def close(self) -> list[str]:
        """Joins the segments, which stay; gives a sentence for each that can no longer be read."""
        self.flush()
        return join_segments(self.folder, self.schema, self.path)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def write_trace(
    path: Path, schema: TraceSchema, frame: pl.DataFrame, *, compression: Literal["zstd", "lz4"] = "zstd"
) -> None:
    """Writes one frame as a whole trace file with the schema's name and version inside, in one step."""
    replace_file(path, lambda partial: frame.write_parquet(partial, metadata=schema.metadata, compression=compression))


def _difference(expected: frozenset[str], names: set[str]) -> str:
    missing, unknown = sorted(expected - names), sorted(names - expected)
    parts = [f"missing {', '.join(missing)}"] * bool(missing) + [f"unknown {', '.join(unknown)}"] * bool(unknown)
    return "; ".join(parts)
