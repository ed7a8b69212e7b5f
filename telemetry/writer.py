# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Collects rows of one trace in memory and writes them as Parquet.

Owns the promise that what was measured survives: a flush may happen at any time, the file on disk is always whole, and
leaving the context flushes even when an exception or Ctrl-C ends it. Knows no clock: times arrive in model µs.
"""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from types import TracebackType

import polars as pl

from telemetry.atomic_file import replace_file
from telemetry.schema import TraceSchema, fits

DEFAULT_CHUNK_ROWS = 65_536


class TraceWriter:
    """Writes one trace. Rows become a columnar frame every `chunk_rows` rows, which keeps long runs small in memory.

    The file exists from the first `flush` on; `close` (or leaving the context) always leaves one, if only with the
    columns and no row.
    """

    def __init__(self, path: Path, schema: TraceSchema, *, chunk_rows: int = DEFAULT_CHUNK_ROWS) -> None:
        if chunk_rows < 1:
            raise ValueError(f"chunk_rows must be at least 1, not {chunk_rows}")
        self.path = path
        self.schema = schema
        self._chunk_rows = chunk_rows
        self._columns = frozenset(schema.column_names)
        self._values_of = attrgetter(*schema.column_names)
        self._rows: list[tuple[object, ...]] = []
        self._frames: list[pl.DataFrame] = []
        self._frame_rows = 0

    def __enter__(self) -> TraceWriter:
        return self

    def append(self, row: object) -> None:
        """Adds one row. Raises ValueError unless it is of the trace's class and each value fits its column."""
        if self.schema.row is None or not isinstance(row, self.schema.row):
            raise ValueError(f"not a row of {self.schema.name}: {row!r}")
        values = self._values_of(row)
        for column, value in zip(self.schema.columns, values, strict=True):
            if not fits(value, column):
                raise ValueError(f"{self.schema.name}.{column.name} cannot hold {value!r}")
        self._rows.append(values)
        if len(self._rows) >= self._chunk_rows:
            self._gather()

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

    def __len__(self) -> int:
        return self._frame_rows + len(self._rows)

    def frame(self) -> pl.DataFrame:
        """All rows so far."""
        self._gather()
        if not self._frames:
            return self.schema.empty()
        self._frames = [pl.concat(self._frames)]
        return self._frames[0]

    def flush(self) -> None:
        """Writes all rows so far; the old file, if any, is replaced in one step. Rows are kept for later flushes."""
        write_trace(self.path, self.schema, self.frame())

    def close(self) -> None:
        """Writes the file a last time."""
        self.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _gather(self) -> None:
        """Turns the rows since the last chunk into a frame."""
        rows, self._rows = self._rows, []
        if rows:
            self._keep(pl.DataFrame(rows, schema=dict(self.schema.dtypes), orient="row"))

    def _keep(self, frame: pl.DataFrame) -> None:
        self._frames.append(frame)
        self._frame_rows += frame.height


def write_trace(path: Path, schema: TraceSchema, frame: pl.DataFrame) -> None:
    """Writes one frame as a whole trace file with the schema's name and version inside, in one step."""
    replace_file(path, lambda partial: frame.write_parquet(partial, metadata=schema.metadata))


def _difference(expected: frozenset[str], names: set[str]) -> str:
    missing, unknown = sorted(expected - names), sorted(names - expected)
    parts = [f"missing {', '.join(missing)}"] * bool(missing) + [f"unknown {', '.join(unknown)}"] * bool(unknown)
    return "; ".join(parts)
