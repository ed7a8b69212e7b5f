# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the trace schemas and their columns."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.telemetry.schema import (
    CONGESTION,
    FLOWS,
    GOODPUT,
    OPTIONAL_SCHEMAS,
    QUEUES,
    SCHEMAS,
    SIGNALS,
    Column,
    TraceSchema,
    fits,
    row_check,
)

ALL = {**SCHEMAS, **OPTIONAL_SCHEMAS}


def test_column_names_and_their_order_are_stable() -> None:
    """Scripts of users read the traces by these names. The flows trace may get more figures."""
    flows = [
        "flow_id", "src", "dst", "tag", "size_bytes", "start_us", "finish_us", "fct_us", "ideal_fct_us", "slowdown",
        "packets_sent", "packets_resent", "bytes_resent", "timeouts", "naks", "paused_us", "corrupted",
    ]  # fmt: skip
    assert [name for name in FLOWS.column_names if name in flows] == flows
    assert QUEUES.column_names == ("time_us", "switch", "port", "class", "depth_bytes", "high_water_bytes")
    assert SIGNALS.column_names == (
        "sent_us", "received_us", "host", "flow_id", "switch", "cause", "pause_us", "queue_depth_bytes", "cacheable",
        "obeyed", "paused_until_us",
    )  # fmt: skip
    assert GOODPUT.column_names == ("from_us", "until_us", "flow_id", "delivered_bytes")
    assert CONGESTION.column_names == ("time_us", "flow_id", "cwnd_bytes", "rate_bps", "rtt_us")


@pytest.mark.parametrize("schema", ALL.values(), ids=list(ALL))
def test_columns_have_distinct_names_a_meaning_and_a_unit(schema: TraceSchema) -> None:
    """A unit at the end of the name must agree with the unit of the column."""
    assert len(set(schema.column_names)) == len(schema.columns)
    for column in schema.columns:
        assert column.meaning
        assert column.name.endswith("_us") == (column.unit == "µs")
        assert column.name.endswith("_bytes") <= (column.unit == "B")


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("UInt32", 0, True),
        ("UInt32", -1, False),
        ("UInt32", 1 << 32, False),
        ("UInt32", 1.5, False),
        ("UInt32", True, False),
        ("Int8", -1, True),
        ("Int8", 128, False),
        ("Float64", 3, True),
        ("Float64", math.nan, False),
        ("Float64", "3", False),
        ("String", "h1", True),
        ("String", 1, False),
        ("Boolean", False, True),
        ("Boolean", 0, False),
        ("Boolean", None, False),
    ],
)
def test_values_fit_a_column_or_not(kind: str, value: object, expected: bool) -> None:
    """Values of another type, out of range or not finite do not fit."""
    assert fits(value, Column("x", kind, "", "x")) is expected


_ORDINARY = {"Float64": 1.5, "String": "h1", "Boolean": True}


@pytest.mark.parametrize("schema", ALL.values(), ids=list(ALL))
@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.integers(-300, 2**65)))
def test_a_usual_row_fits(schema: TraceSchema, value: object) -> None:
    """A row of ordinary values is usual. If one value is replaced, the row is usual only if the new value fits."""
    is_usual = row_check(schema.columns).is_usual
    ordinary = [_ORDINARY.get(column.kind, 1) for column in schema.columns]
    assert is_usual(tuple(ordinary))
    assert not is_usual((*ordinary, value))
    for place, column in enumerate(schema.columns):
        row = (*ordinary[:place], value, *ordinary[place + 1 :])
        assert not is_usual(row) or fits(value, column)


@pytest.mark.parametrize("schema", ALL.values(), ids=list(ALL))
def test_a_null_is_usual_where_the_column_can_hold_it(schema: TraceSchema) -> None:
    is_usual = row_check(schema.columns).is_usual
    ordinary = [_ORDINARY.get(column.kind, 1) for column in schema.columns]
    for place, column in enumerate(schema.columns):
        assert is_usual((*ordinary[:place], None, *ordinary[place + 1 :])) == column.nullable
