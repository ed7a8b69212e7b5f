# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of units, dilation and addresses."""

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.wire.addresses import pack_mac, parse_ip, parse_mac
from sfc_testbed.wire.dilation import Dilation, next_step
from sfc_testbed.wire.units import bandwidth_delay_bytes, serialization_ns


def test_serialization_rounds_up() -> None:
    """Rounding down would exceed the rate of the wire."""
    assert serialization_ns(1000, 100_000_000_000) == 80
    assert serialization_ns(1, 3_000_000_000) == 3


@given(st.integers(1, 10_000), st.integers(0, 10**12))
def test_dilation_there_and_back_keeps_whole_model_nanoseconds(factor: int, model_ns: int) -> None:
    dilation = Dilation(factor)
    assert dilation.wall_ns(model_ns) == model_ns * factor
    assert dilation.model_ns(dilation.wall_ns(model_ns)) == pytest.approx(model_ns)
    assert dilation.model_us(dilation.wall_ns(model_ns)) == pytest.approx(model_ns / 1000)


def test_dilation_divides_rates_and_keeps_the_bdp() -> None:
    dilation = Dilation(1000)
    assert dilation.wall_bps(100_000_000_000) == 100_000_000
    assert bandwidth_delay_bytes(dilation.wall_bps(100_000_000_000), dilation.wall_ns(10_000)) == 125_000
    assert Dilation(1000).wall_bps(1) == 1


@pytest.mark.parametrize("factor", [0, -1, 1.5])
def test_dilation_factors_must_be_integers_of_at_least_one(factor: int) -> None:
    with pytest.raises(ValueError, match="dilation factor"):
        Dilation(factor)


def test_dilation_refuses_a_rate_that_is_not_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        Dilation(2).wall_bps(0)


@given(st.integers(0, 2**48 - 1), st.integers(0, 2**32 - 1))
def test_addresses_are_read_from_text(mac: int, ip: int) -> None:
    assert parse_mac(pack_mac(mac).hex(":")) == mac
    assert parse_ip(str(IPv4Address(ip))) == ip


@pytest.mark.parametrize("text", ["", "00:00:00:00:00", "0:0:0:0:0:0", "zz:00:00:00:00:00", "00-00-00-00-00-00"])
def test_bad_mac_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_mac(text)


@pytest.mark.parametrize(
    ("least", "step"),
    [(0, 1), (1, 1), (1.2, 2), (4, 5), (6, 7), (7.5, 10), (11, 15), (15, 15), (16, 20), (8_001, 10_000), (12e3, 15e3)],
)
def test_a_factor_is_rounded_up_to_a_step(least: float, step: int) -> None:
    """Steps are integers that are 1, 1.5, 2, 3, 5 or 7 times a power of ten."""
    assert next_step(least) == step


@given(st.floats(1, 1e9))
def test_a_step_is_never_less_and_at_most_twice_as_much(least: float) -> None:
    assert least <= next_step(least) <= 2 * least


@pytest.mark.parametrize("least", [-1.0, float("inf"), float("nan")])
def test_negative_and_infinite_factors_are_refused(least: float) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        next_step(least)
