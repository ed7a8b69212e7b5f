# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The trace schemas: what the contract promises of the columns."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telemetry.schema import (
    CONGESTION,
    FLOWS,
    GOODPUT,
    OPTIONAL_SCHEMAS,
    QUEUES,
    SCHEMAS,
    SIGNALS,
    Column,
    TraceSchema,
    check_of,
    fits,
    usual_rows,
)

ALL = {**SCHEMAS, **OPTIONAL_SCHEMAS}


def test_column_names_are_those_of_the_contract() -> None:
    """The traces have these columns in this order."""
    assert FLOWS.column_names == tuple(
        [
            "flow_id",
            "src",
            "dst",
            "tag",
            "size_bytes",
            "start_us",
            "finish_us",
            "fct_us",
            "ideal_fct_us",
            "slowdown",
            "packets_sent",
            "packets_resent",
            "bytes_resent",
            "timeouts",
            "naks",
            "paused_us",
            "corrupted",
        ]
    )
    assert QUEUES.column_names == ("time_us", "switch", "port", "class", "depth_bytes", "high_water_bytes")
    assert SIGNALS.column_names == tuple(
        [
            "sent_us",
            "received_us",
            "host",
            "flow_id",
            "switch",
            "cause",
            "pause_us",
            "queue_depth_bytes",
            "cacheable",
            "obeyed",
            "paused_until_us",
        ]
    )
    assert GOODPUT.column_names == ("from_us", "until_us", "flow_id", "delivered_bytes")
    assert CONGESTION.column_names == ("time_us", "flow_id", "cwnd_bytes", "rate_bps", "rtt_us")


@pytest.mark.parametrize("schema", ALL.values(), ids=list(ALL))
def test_columns_are_distinct_and_say_what_they_mean(schema: TraceSchema) -> None:
    """No name twice, no column without a meaning, and a unit in the name agrees with the unit column."""
    assert len(set(schema.column_names)) == len(schema.columns)
    for column in schema.columns:
        assert column.meaning
        assert column.name.endswith("_us") == (column.unit == "µs")
        assert column.name.endswith("_bytes") <= (column.unit == "B")


@pytest.mark.parametrize("schema", ALL.values(), ids=list(ALL))
def test_an_empty_frame_has_the_columns(schema: TraceSchema) -> None:
    """The empty frame carries names and types."""
    frame = schema.empty()
    assert frame.height == 0
    assert tuple(frame.columns) == schema.column_names
    assert all(frame.schema[column.name] == column.dtype for column in schema.columns)


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        (pl.UInt32, 0, True),
        (pl.UInt32, -1, False),
        (pl.UInt32, 1 << 32, False),
        (pl.UInt32, 1.5, False),
        (pl.UInt32, True, False),
        (pl.Int8, -1, True),
        (pl.Int8, 128, False),
        (pl.Float64, 3, True),
        (pl.Float64, math.nan, False),
        (pl.Float64, "3", False),
        (pl.String, "h1", True),
        (pl.String, 1, False),
        (pl.Boolean, False, True),
        (pl.Boolean, 0, False),
        (pl.Boolean, None, False),
    ],
)
def test_a_column_knows_what_it_can_hold(dtype: type[pl.DataType], value: object, expected: bool) -> None:
    """Values of another kind, out of range or not finite are refused."""
    column = Column("x", dtype, "", "x")
    assert fits(value, column) is check_of(column)(value) is expected


def test_null_fits_only_where_the_column_says_so() -> None:
    """Null is a value of nullable columns alone."""
    assert fits(None, Column("x", pl.Float64, "", "x", nullable=True))


@pytest.mark.parametrize("schema", ALL.values(), ids=list(ALL))
@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.integers(-300, 2**65)))
def test_a_columns_own_check_says_what_fits_says(schema: TraceSchema, value: object) -> None:
    """Whatever the value: the check of a column is only sooner done."""
    for column in (*schema.columns, *(replace(each, nullable=True) for each in schema.columns)):
        assert check_of(column)(value) is fits(value, column)


_ORDINARY = {pl.Float64: 1.5, pl.String: "h1", pl.Boolean: True}


@pytest.mark.parametrize("schema", ALL.values(), ids=list(ALL))
@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.integers(-300, 2**65)))
def test_a_row_that_is_usual_fits(schema: TraceSchema, value: object) -> None:
    """One of ordinary values is; with another value in any place it is only if that fits."""
    is_usual = usual_rows(schema.columns)
    ordinary = [_ORDINARY.get(column.dtype, 1) for column in schema.columns]
    assert is_usual(tuple(ordinary))
    assert not is_usual((*ordinary, value))
    for place, column in enumerate(schema.columns):
        row = (*ordinary[:place], value, *ordinary[place + 1 :])
        assert not is_usual(row) or fits(value, column)
