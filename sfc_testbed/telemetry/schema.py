# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The columns of the traces of a run, derived from the classes of their rows (`telemetry.rows`).

Writers, readers and the tables in docs/traces.md use these schemas. Samples of queues and links are recorded as arrays
and have no row class, so their columns are listed in this module. A change that breaks readers of old files must raise
the version of its trace.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from numbers import Integral, Real
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import polars as pl

from sfc_testbed.telemetry.row_check import RowCheck
from sfc_testbed.telemetry.rows import CongestionRow, FlowRow, GoodputRow, LatenessRow, SignalRow

SCHEMA_KEY = "sfc-testbed.schema"
VERSION_KEY = "sfc-testbed.version"

WHOLE_BUFFER = -1
"""Port and class in the rows of the queues trace that describe the whole shared buffer."""


@dataclass(frozen=True)
class Column:
    """A column of a trace."""

    name: str
    kind: str
    """The name of the data type in polars, which need not be loaded for the schema."""
    unit: str
    meaning: str
    nullable: bool = False
    attribute: str = ""
    """The attribute of a row object that has the value; empty if rows are added only as data frames."""

    @property
    def dtype(self) -> type[pl.DataType]:
        dtype: type[pl.DataType] = getattr(pl, self.kind)
        return dtype


_KINDS: Mapping[type, str] = {float: "Float64", str: "String", bool: "Boolean"}
_INTEGER_RANGES: Mapping[str, tuple[int, int]] = {
    "Int8": (-(1 << 7), (1 << 7) - 1),
    "Int16": (-(1 << 15), (1 << 15) - 1),
    "UInt32": (0, (1 << 32) - 1),
    "UInt64": (0, (1 << 64) - 1),
}


def fits(value: object, column: Column) -> bool:
    """Whether a column can hold a value without changing it (an integer in a float column is fine).

    The concrete types come first because checks of abstract types are slow.
    """
    if value is None:
        return column.nullable
    if column.kind == "String":
        return isinstance(value, str)
    if column.kind == "Boolean":
        return isinstance(value, bool)
    if column.kind == "Float64":
        return isinstance(value, (float, Real)) and math.isfinite(value)
    low, high = _INTEGER_RANGES[column.kind]
    return isinstance(value, (int, Integral)) and not isinstance(value, bool) and low <= int(value) <= high


def row_check(columns: Sequence[Column]) -> RowCheck:
    """Return the check of a trace's rows."""
    return RowCheck(
        [column.kind for column in columns],
        [column.nullable for column in columns],
        [_INTEGER_RANGES.get(column.kind, (0, 0)) for column in columns],
    )


@dataclass(frozen=True)
class TraceSchema:
    """The schema of a trace: its name, version and columns in file order."""

    name: str
    version: int
    meaning: str
    columns: tuple[Column, ...]

    @property
    def file_name(self) -> str:
        """The name of the trace's file in a run folder."""
        return f"{self.name}.parquet"

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def dtypes(self) -> dict[str, type[pl.DataType]]:
        """The polars type of each column by name, in file order."""
        return {column.name: column.dtype for column in self.columns}

    @property
    def metadata(self) -> dict[str, str]:
        return {SCHEMA_KEY: self.name, VERSION_KEY: str(self.version)}

    def empty(self) -> pl.DataFrame:
        """Return a data frame with these columns and no rows."""
        return pl.DataFrame(schema=self.dtypes)


def conformed(frame: pl.DataFrame, schema: TraceSchema) -> pl.DataFrame:
    """Return a data frame's columns in file order. Raise ValueError unless they are exactly the trace's columns."""
    if set(frame.columns) != set(schema.column_names):
        raise ValueError(f"{schema.name} frame: {_difference(set(schema.column_names), set(frame.columns))}")
    ordered = frame.select(schema.column_names).cast(pl.Schema(schema.dtypes))
    for column in schema.columns:
        if not column.nullable and ordered[column.name].null_count():
            raise ValueError(f"{schema.name}.{column.name} cannot hold null")
    return ordered


def _difference(expected: set[str], names: set[str]) -> str:
    missing, unknown = sorted(expected - names), sorted(names - expected)
    parts = [f"missing {', '.join(missing)}"] * bool(missing) + [f"unknown {', '.join(unknown)}"] * bool(unknown)
    return "; ".join(parts)


def columns_of(row: Any) -> Iterator[Column]:
    """Yield the columns that a row class defines, in the order of its fields. Fields of a nested class are columns."""
    for name, hint in get_type_hints(row, include_extras=True).items():
        kind, *meanings = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        value, is_nullable = _without_none(kind)
        if is_dataclass(value):
            for column in columns_of(value):
                nullable = is_nullable or column.nullable
                yield replace(column, nullable=nullable, attribute=f"{name}.{column.attribute}")
        else:
            [meaning] = meanings
            column_kind = ("UInt64" if meaning.bits == 64 else "UInt32") if value is int else _KINDS[value]
            yield Column(name, column_kind, meaning.unit, meaning.text, is_nullable, attribute=name)


def _without_none(kind: Any) -> tuple[Any, bool]:
    """Return a type without None, and whether it included None."""
    options = [option for option in get_args(kind) or (kind,) if option is not type(None)]
    return options[0], type(None) in get_args(kind)


def _row_schema(name: str, version: int, row: type) -> TraceSchema:
    """Return the schema of a trace whose rows are added one by one. The docstring of the row class is its meaning."""
    return TraceSchema(name, version, " ".join(str(row.__doc__).split()), tuple(columns_of(row)))


FLOWS = _row_schema("flows", 1, FlowRow)

QUEUES = TraceSchema(
    "queues",
    1,
    "For each sampling interval and switch, the trace has a row for the whole buffer (`port` and `class` are -1), and "
    "a row for each queue (a class of a port) that held packets in the interval.",
    (
        Column("time_us", "Float64", "µs", "end of the sampling interval"),
        Column("switch", "String", "", "name of the switch"),
        Column("port", "Int16", "", "egress port, from 1; -1: the whole shared buffer"),
        Column("class", "Int8", "", "traffic class, 0 to 7, 7 highest; -1: the whole shared buffer"),
        Column("depth_bytes", "UInt32", "B", "bytes queued at `time_us`"),
        Column("high_water_bytes", "UInt32", "B", "most bytes queued at any time in the interval"),
    ),
)

LINKS = TraceSchema(
    "links",
    1,
    "For each sampling interval, the trace has a row for each switch port whose link carried frames in the interval.",
    (
        Column("time_us", "Float64", "µs", "end of the sampling interval"),
        Column("switch", "String", "", "name of the switch"),
        Column("port", "Int16", "", "port, from 1"),
        Column("sent_bytes", "UInt32", "B", "bytes of the frames that the port began to send in the interval"),
        Column("received_bytes", "UInt32", "B", "bytes of the frames that arrived at the port in the interval"),
        Column(
            "lost_bytes", "UInt32", "B", "bytes of the frames that the link lost, counted at this port", nullable=True
        ),
    ),
)

SIGNALS = _row_schema("signals", 1, SignalRow)
GOODPUT = _row_schema("goodput", 1, GoodputRow)
LATENESS = _row_schema("lateness", 1, LatenessRow)
CONGESTION = _row_schema("cc", 1, CongestionRow)

SCHEMAS: Mapping[str, TraceSchema] = {
    schema.name: schema for schema in (FLOWS, QUEUES, LINKS, SIGNALS, GOODPUT, LATENESS)
}
"""The traces that every run has, by name."""

OPTIONAL_SCHEMAS: Mapping[str, TraceSchema] = {CONGESTION.name: CONGESTION}
"""The traces that a run has only if its settings ask for them, by name."""
