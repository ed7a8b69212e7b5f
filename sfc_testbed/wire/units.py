# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Unit arithmetic in integers: rates in bits/s, times in ns, sizes in bytes."""

from typing import Final

NS_PER_US: Final = 1_000
NS_PER_MS: Final = 1_000_000
NS_PER_S: Final = 1_000_000_000


def serialization_ns(size_bytes: int, rate_bps: int) -> int:
    """Return the time that a frame occupies a wire, in ns, rounded up so that the rate is never exceeded."""
    return -(-size_bytes * 8 * NS_PER_S // rate_bps)


def bandwidth_delay_bytes(rate_bps: int, rtt_ns: int) -> int:
    """Return the BDP of a path in bytes: 125 000 for 100 Gb/s and a round trip of 10 us."""
    return rate_bps * rtt_ns // (8 * NS_PER_S)


def two_digits(value: int) -> int:
    """Round a positive number to its two leading digits: 10 211 gives 10 000."""
    unit = _unit_of_second_digit(value)
    return (value + unit // 2) // unit * unit


def two_digits_up(value: int) -> int:
    """Round a positive number up to its two leading digits: 10 211 gives 11 000."""
    unit = _unit_of_second_digit(value)
    return -(-value // unit) * unit


def _unit_of_second_digit(value: int) -> int:
    unit: int = 10 ** max(0, len(str(value)) - 2)
    return unit
