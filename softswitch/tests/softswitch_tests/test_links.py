# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the conversion of Mininet's link parameters."""

import pytest

from softswitch.links import delay_ns, queue_depth, rate_bps, unsupported_parameters


@pytest.mark.parametrize(("bw", "bits_per_s"), [(None, None), (10, 10_000_000), (0.5, 500_000), ("1", 1_000_000)])
def test_bw_is_in_megabits_per_second(bw: object, bits_per_s: int | None) -> None:
    assert rate_bps({"bw": bw}) == bits_per_s


@pytest.mark.parametrize(
    ("delay", "ns"),
    [
        (None, None),
        ("5ms", 5_000_000),
        ("0.5ms", 500_000),
        ("20us", 20_000),
        ("1s", 1_000_000_000),
        ("300ns", 300),
        ("2msecs", 2_000_000),
        ("3sec", 3_000_000_000),
        ("7", 7_000),
        (7, 7_000),
        ("0ms", 0),
    ],
)
def test_delay_has_the_units_of_tc(delay: object, ns: int | None) -> None:
    """A number without a unit is in microseconds."""
    assert delay_ns({"delay": delay}) == ns


@pytest.mark.parametrize("delay", ["fast", "-1ms", "5 m", "1.2.3ms", ""])
def test_invalid_delay_is_refused(delay: str) -> None:
    with pytest.raises(ValueError, match="is not a time"):
        delay_ns({"delay": delay})


@pytest.mark.parametrize("bw", ["much", 0, -1])
def test_invalid_rate_is_refused(bw: object) -> None:
    """Zero is refused too, because no frame could leave."""
    with pytest.raises(ValueError, match=r"much|not a rate"):
        rate_bps({"bw": bw})


def test_unsupported_link_parameters_are_listed() -> None:
    assert unsupported_parameters({"bw": 10, "loss": 2, "jitter": None, "max_queue_size": 100}) == ["loss=2"]


@pytest.mark.parametrize(
    ("link", "packets"),
    [({}, None), ({"bw": 1}, 64), ({"max_queue_size": 10}, 10), ({"bw": 1, "max_queue_size": "5"}, 5)],
)
def test_queue_has_the_size_of_the_link_or_bmv2s_with_a_rate(link: dict[str, object], packets: int | None) -> None:
    assert queue_depth(link) == packets


def test_invalid_queue_is_refused() -> None:
    with pytest.raises(ValueError, match="max_queue_size=-1"):
        queue_depth({"max_queue_size": -1})
