# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Parses words of the prompt into numbers: sizes, durations and rates. Invalid words raise VerbError."""

from __future__ import annotations

import re
from math import isfinite

from wire.dilation import Dilation

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([a-zA-Z]*)")
_SIZES = {"": 1, "b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}
_WALL_RATES = {"k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_DURATIONS_US = {"": 1.0, "us": 1.0, "ms": 1_000.0, "s": 1_000_000.0}


class VerbError(ValueError):
    """A one-line error: a verb was used wrongly, or its result is a failure."""


def size_bytes(word: str) -> int:
    """Parse a size such as `250KB`, `1.5MB` or `64000` into bytes; a KB has 1000 bytes."""
    return round(_quantity(word, _SIZES, "a size such as 250KB"))


def duration_us(word: str) -> float:
    """Parse a duration in model time such as `50us`, `1ms` or `50` into microseconds; the default unit is us."""
    return _quantity(word, _DURATIONS_US, "a duration such as 50us")


def seconds(word: str) -> float:
    """Parse a duration in wall time such as `5`, `5s` or `500ms` into seconds."""
    unit = word if word[-1:].isalpha() else f"{word}s"
    return _quantity(unit, _DURATIONS_US, "a duration such as 5s") / 1e6


def gigabits(word: str) -> float:
    """Parse a rate in Gb/s such as `40` or `2.5`."""
    return _quantity(word, {"": 1.0}, "a rate in Gb/s")


def wall_bps(word: str, dilation: Dilation) -> int:
    """Parse a rate into bits/s of the wall clock: `5` is in model Gb/s, `10M` in wall bits/s as in Mininet."""
    if word[-1:].lower() in _WALL_RATES:
        return round(_quantity(word, _WALL_RATES, "a rate such as 10M"))
    return dilation.wall_bps(gigabits(word) * 1e9)


def _quantity(word: str, units: dict[str, int] | dict[str, float], expected: str) -> float:
    match = _NUMBER.fullmatch(word)
    if match is None or match[2].lower() not in units:
        raise VerbError(f"{word!r} is not {expected}")
    value = float(match[1]) * units[match[2].lower()]
    if not isfinite(value):
        raise VerbError(f"{word!r} is too large")
    return value
