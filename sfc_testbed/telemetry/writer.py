# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes the rows of a trace to Parquet files, in segments, as they are measured.

Measurements survive the end of a run: a flush is possible at any time, and every file on disk is complete. Only the
rows of one segment are in memory. Times are model µs.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Literal

import polars as pl

from sfc_testbed.telemetry.atomic_file import replace_file
from sfc_testbed.telemetry.schema import TraceSchema, conformed, fits, row_check
from sfc_testbed.telemetry.segments import segment_path

DEFAULT_SEGMENT_ROWS = 16_384
"""Rows per segment: a few hundred KB of Python objects, written in a few ms."""


RowValues = tuple[object, ...]
"""The values of a row in the order of the columns."""


def row_values(schema: TraceSchema) -> Callable[[object], RowValues]:
    """Return a function that returns the values of an object with the trace's attributes.

    The function raises ValueError unless each value fits its column.
    """
    is_usual = row_check(schema.columns).is_usual
    values_of = attrgetter(*(column.attribute for column in schema.columns))

    def checked(row: object) -> RowValues:
        try:
            values: RowValues = values_of(row)
        except AttributeError as error:
            raise ValueError(f"not a row of {schema.name}: {row!r}") from error
        if not is_usual(values):
            for column, value in zip(schema.columns, values, strict=True):
                if not fits(value, column):
                    raise ValueError(f"{schema.name}.{column.name} cannot hold {value!r}")
        return values

    return checked


class SegmentWriter:
    """A writer of one trace as segments in a folder, which it creates on the first write.

    When a segment has `segment_rows` rows, it is written for the last time and its rows are removed from memory. Until
    then, a flush writes the segment with the rows that it has so far.
    """

    def __init__(self, folder: Path, schema: TraceSchema, *, segment_rows: int = DEFAULT_SEGMENT_ROWS) -> None:
        self.folder = folder
        self.schema = schema
        self._segment_rows = segment_rows
        self._values_of = row_values(schema)
        self._rows: list[RowValues] = []
        self._frames: list[pl.DataFrame] = []
        self._frame_rows = 0
        self._rows_written = 0
        self._segments = 0
        self._is_flushed = True

    def append(self, row: object) -> None:
        """Add an object with the trace's attributes as a row. Raise ValueError unless each value fits its column."""
        self.append_values(self._values_of(row))

    def append_values(self, values: RowValues) -> None:
        """Add a row from the values that `row_values` returned for it."""
        self._rows.append(values)
        self._on_rows_added()

    def append_frame(self, frame: pl.DataFrame) -> None:
        """Add all rows of a data frame. Raise ValueError unless it has exactly the trace's columns, in any order."""
        ordered = conformed(frame, self.schema)
        self._convert_rows()
        self._add_frame(ordered)
        self._on_rows_added()

    def __len__(self) -> int:
        return self._rows_written + self.rows_in_memory

    @property
    def rows_in_memory(self) -> int:
        """The number of rows in the current segment, which is not full."""
        return self._frame_rows + len(self._rows)

    def flush(self) -> None:
        """Write the rows that are not on disk yet."""
        if self._is_flushed:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self._convert_rows()
        self._frames = [pl.concat(self._frames)]
        write_trace(segment_path(self.folder, self._segments), self.schema, self._frames[0], compression="lz4")
        self._is_flushed = True

    def _on_rows_added(self) -> None:
        self._is_flushed = False
        if self._frame_rows + len(self._rows) >= self._segment_rows:
            self.flush()
            self._segments += 1
            self._rows_written += self._frame_rows
            self._frames, self._frame_rows = [], 0

    def _convert_rows(self) -> None:
        """Convert the rows that were added since the last call to a data frame."""
        rows, self._rows = self._rows, []
        if rows:
            self._add_frame(pl.DataFrame(rows, schema=dict(self.schema.dtypes), orient="row"))

    def _add_frame(self, frame: pl.DataFrame) -> None:
        self._frames.append(frame)
        self._frame_rows += frame.height


def write_trace(
    path: Path, schema: TraceSchema, frame: pl.DataFrame, *, compression: Literal["zstd", "lz4"] = "zstd"
) -> None:
    """Write a data frame as a trace file with the schema's name and version, in one step."""
    replace_file(path, lambda partial: frame.write_parquet(partial, metadata=schema.metadata, compression=compression))
