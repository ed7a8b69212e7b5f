# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Parses words of the prompt into numbers: sizes, durations and rates. Invalid words raise VerbError."""

from __future__ import annotations

from sfc_testbed.request.quantities import read_in_unit
from sfc_testbed.wire.dilation import Dilation


class VerbError(ValueError):
    """A one-line error: a verb was used wrongly, or its result is a failure."""


def size_bytes(word: str) -> int:
    """Parse a size such as `250KB`, `1.5MB` or `64000` into bytes; the default unit is B."""
    return round(_quantity(word, "bytes", "the size"))


def duration_us(word: str) -> float:
    """Parse a duration in model time such as `50us`, `1ms` or `50` into microseconds; the default unit is us."""
    return _quantity(word, "us", "the time")


def seconds(word: str) -> float:
    """Parse a duration in wall time such as `5`, `5s` or `500ms` into seconds."""
    return _quantity(word, "s", "the time")


def gigabits(word: str) -> float:
    """Parse a rate such as `40` or `2.5G` into Gb/s, which is the default unit."""
    return _quantity(word, "gbps", "the rate")


def wall_bps(word: str, dilation: Dilation) -> int:
    """Parse a rate into bits/s of the wall clock: `5` is in model Gb/s, `10M` in wall bits/s as in Mininet."""
    if word[-1:].isalpha():
        return round(_quantity(word, "bps", "the rate"))
    return dilation.wall_bps(gigabits(word) * 1e9)


def _quantity(word: str, unit: str, name: str) -> float:
    """Return a number of `unit`, which a word without a unit is in."""
    try:
        return read_in_unit(word, unit)
    except ValueError as error:
        raise VerbError(f"{name} {error}") from error
