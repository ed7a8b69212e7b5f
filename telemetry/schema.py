# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The columns of the traces of a run: name, type, unit and meaning, once.

Writers, readers and the tables in docs/traces.md all come from here. A change that a reader of old files would notice
raises that trace's version. This file must not know who fills the columns or who reads them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real

import polars as pl

SCHEMA_KEY = "sfc-testbed.schema"
VERSION_KEY = "sfc-testbed.version"

WHOLE_BUFFER = -1
"""Port and class of a queues row that speaks of the shared buffer as a whole."""


@dataclass(frozen=True)
class Column:
    """One column of a trace."""

    name: str
    dtype: type[pl.DataType]
    unit: str
    meaning: str
    nullable: bool = False


_INTEGER_RANGES: Mapping[type[pl.DataType], tuple[int, int]] = {
    pl.Int8: (-(1 << 7), (1 << 7) - 1),
    pl.Int16: (-(1 << 15), (1 << 15) - 1),
    pl.UInt32: (0, (1 << 32) - 1),
    pl.UInt64: (0, (1 << 64) - 1),
}


def fits(value: object, column: Column) -> bool:
    """Whether a column can hold a value without changing it (an integer in a float column is fine)."""
    if value is None:
        return column.nullable
    if column.dtype is pl.String:
        return isinstance(value, str)
    if column.dtype is pl.Boolean:
        return isinstance(value, bool)
    if column.dtype is pl.Float64:
        return isinstance(value, Real) and math.isfinite(value)
    low, high = _INTEGER_RANGES[column.dtype]
    return isinstance(value, Integral) and not isinstance(value, bool) and low <= int(value) <= high


@dataclass(frozen=True)
class TraceSchema:
    """One kind of trace: its name, version and columns in file order."""

    name: str
    version: int
    meaning: str
    columns: tuple[Column, ...]

    @property
    def file_name(self) -> str:
        """Name of the file in a run folder."""
        return f"{self.name}.parquet"

    @property
    def column_names(self) -> tuple[str, ...]:
        """Column names in file order."""
        return tuple(column.name for column in self.columns)

    @property
    def dtypes(self) -> dict[str, type[pl.DataType]]:
        """Column name to polars type, in file order."""
        return {column.name: column.dtype for column in self.columns}

    @property
    def metadata(self) -> dict[str, str]:
        """What a file says of itself: schema name and version."""
        return {SCHEMA_KEY: self.name, VERSION_KEY: str(self.version)}

    def empty(self) -> pl.DataFrame:
        """A frame with these columns and no row."""
        return pl.DataFrame(schema=self.dtypes)


FLOWS = TraceSchema(
    "flows",
    1,
    "One row per message (a flow is one message from one host to another).",
    (
        Column("flow_id", pl.UInt32, "", "number of the flow in this run, from 0"),
        Column("src", pl.String, "", "sending host"),
        Column("dst", pl.String, "", "receiving host"),
        Column("tag", pl.String, "", "traffic class of the scenario, such as `hadoop` or `incast`"),
        Column("size_bytes", pl.UInt64, "B", "bytes of the message, without headers"),
        Column("start_us", pl.Float64, "µs", "the message is ready to be pushed to the NIC"),
        Column(
            "finish_us", pl.Float64, "µs", "its last packet is acknowledged at the sender; null: did not finish", True
        ),
        Column("fct_us", pl.Float64, "µs", "`finish_us` - `start_us`", True),
        Column("ideal_fct_us", pl.Float64, "µs", "the same transfer at line rate in an otherwise idle network"),
        Column("slowdown", pl.Float64, "1", "`fct_us` / `ideal_fct_us`, never clamped to 1", True),
        Column("packets_sent", pl.UInt32, "packets", "data packets sent, resent ones included"),
        Column("packets_resent", pl.UInt32, "packets", "data packets sent again"),
        Column("bytes_resent", pl.UInt64, "B", "message bytes sent again"),
        Column("timeouts", pl.UInt32, "", "retransmission timeouts"),
        Column("naks", pl.UInt32, "", "negative acknowledgements received"),
        Column("paused_us", pl.Float64, "µs", "time that flow control kept the flow from sending"),
        Column("corrupted", pl.Boolean, "", "the receiver's checksum of the message did not match"),
    ),
)

QUEUES = TraceSchema(
    "queues",
    1,
    "One row per sampling interval for the whole buffer of a switch (`port` = `class` = -1), and one for each "
    "(port, class) that held anything in that interval.",
    (
        Column("time_us", pl.Float64, "µs", "end of the sampling interval"),
        Column("switch", pl.String, "", "name of the switch"),
        Column("port", pl.Int16, "", "egress port, from 1; -1: the whole shared buffer"),
        Column("class", pl.Int8, "", "traffic class, 0 to 7, 7 highest; -1: the whole shared buffer"),
        Column("depth_bytes", pl.UInt32, "B", "bytes queued at `time_us`"),
        Column("high_water_bytes", pl.UInt32, "B", "the most bytes queued at once since the sample before"),
    ),
)

SIGNALS = TraceSchema(
    "signals",
    1,
    "One row per Back-To-Sender (BTS) packet that reached a host.",
    (
        Column("sent_us", pl.Float64, "µs", "the switch made the packet"),
        Column("received_us", pl.Float64, "µs", "the host's NIC received it"),
        Column("host", pl.String, "", "the host that received it"),
        Column("flow_id", pl.UInt32, "", "flow that it names; null: the host has no such flow", True),
        Column("switch", pl.String, "", "the switch that made it"),
        Column("cause", pl.String, "", "`queue`, `cache` (answered by a sender-side ToR) or `estimator`"),
        Column("pause_us", pl.Float64, "µs", "pause that it asks for, counted from its receipt"),
        Column("queue_depth_bytes", pl.UInt32, "B", "depth of the congested queue when it was made"),
        Column("cacheable", pl.Boolean, "", "a ToR on the way may remember it"),
        Column("obeyed", pl.Boolean, "", "the host paused the flow for it"),
        Column("paused_until_us", pl.Float64, "µs", "end of the pause that it set; null: not obeyed", True),
    ),
)

GOODPUT = TraceSchema(
    "goodput",
    1,
    "One row per flow and interval (`transport.goodput_interval_ns`) in which its receiver got message bytes in order.",
    (
        Column("from_us", pl.Float64, "µs", "begin of the interval"),
        Column("until_us", pl.Float64, "µs", "end of the interval"),
        Column("flow_id", pl.UInt32, "", "the flow"),
        Column("delivered_bytes", pl.UInt64, "B", "message bytes handed over in the interval, without headers"),
    ),
)

SCHEMAS: Mapping[str, TraceSchema] = {schema.name: schema for schema in (FLOWS, QUEUES, SIGNALS, GOODPUT)}
"""Every trace of a run, by name."""
