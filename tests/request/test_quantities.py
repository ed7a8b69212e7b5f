# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Quantities with units: sizes, rates and times, exact and in the unit that a name states."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.request.quantities import has_unit, in_unit, unit_of


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("250KB", "bytes", 250_000),
        ("64KiB", "bytes", 65_536),
        ("1.5mb", "bytes", 1_500_000),
        ("400G", "bps", 400_000_000_000),
        ("25Gbps", "bps", 25_000_000_000),
        ("100 Gbit/s", "bps", 100_000_000_000),
        ("2.5G", "gbps", 2.5),
        ("1.5us", "ns", 1_500),
        ("20us", "ms", 0.02),
        ("0.1ns", "ns", 0.1),
        ("3 µs", "ns", 3_000),
        ("2s", "us", 2_000_000),
    ],
)
def test_a_quantity_becomes_a_number_of_the_unit(text: str, unit: str, value: float) -> None:
    assert has_unit(text)
    assert in_unit(text, unit) == value
    assert type(in_unit(text, unit)) is type(value)


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("2ms", "bytes", "a size such as 250KB or 64KiB"),
        ("250KB", "bps", "a rate such as 400G or 25Gbps"),
        ("250KB", "ns", "a time such as 20us or 1.5ms"),
        ("4m", "ms", "a time"),
        ("-5us", "us", "a time"),
        ("1e3us", "us", "a time"),
        ("10GBps", "bps", "a rate"),
        ("G", "bps", "a rate"),
        ("", "bps", "a rate"),
        ("٣us", "us", "a time"),
    ],
)
def test_another_quantity_is_refused_with_an_example(text: str, unit: str, expected: str) -> None:
    with pytest.raises(ValueError, match=f"must be {expected}"):
        in_unit(text, unit)


@given(st.integers(0, 10**9))
def test_the_value_is_exact(number: int) -> None:
    assert in_unit(f"{number}us", "ns") == 1_000 * number
    assert in_unit(f"{number}.125KB", "bytes") == 1_000 * number + 125


def test_the_end_of_a_name_states_its_unit() -> None:
    names = ("message_bytes", "host_rate_bps", "host_rates_bps", "window_us", "degree", "bytes", "q_th")
    assert [unit_of(name) for name in names] == ["bytes", "bps", "bps", "us", None, "bytes", None]
