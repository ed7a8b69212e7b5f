# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Words of the prompt to numbers: sizes, durations, rates. A wrong one is a VerbError of one line."""

from __future__ import annotations

import re
from math import isfinite

from wire.dilation import Dilation

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([a-zA-Z]*)")
_SIZES = {"": 1, "b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}
_WALL_RATES = {"k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_DURATIONS_US = {"": 1.0, "us": 1.0, "ms": 1_000.0, "s": 1_000_000.0}


class VerbError(ValueError):
    """A verb used wrongly, or what it was to show not being so, in one line."""


def size_bytes(word: str) -> int:
    """`250KB`, `1.5MB`, `64000`; a KB has 1000 bytes."""
    return round(_quantity(word, _SIZES, "a size such as 250KB"))


def duration_us(word: str) -> float:
    """`50us`, `1ms`, `50` (us): model time."""
    return _quantity(word, _DURATIONS_US, "a duration such as 50us")


def seconds(word: str) -> float:
    """`5`, `5s`, `500ms`: wall time of a person who watches."""
    unit = word if word[-1:].isalpha() else f"{word}s"
    return _quantity(unit, _DURATIONS_US, "a duration such as 5s") / 1e6


def gigabits(word: str) -> float:
    """`40`, `2.5`: Gb/s."""
    return _quantity(word, {"": 1.0}, "a rate in Gb/s")


def wall_bps(word: str, dilation: Dilation) -> int:
    """`5` (model Gb/s), or as Mininet has it `10M` (bits/s of the wall clock)."""
    if word[-1:].lower() in _WALL_RATES:
        return round(_quantity(word, _WALL_RATES, "a rate such as 10M"))
    return dilation.wall_bps(gigabits(word) * 1e9)


def _quantity(word: str, units: dict[str, int] | dict[str, float], what: str) -> float:
    found = _NUMBER.fullmatch(word)
    if found is None or found[2].lower() not in units:
        raise VerbError(f"{word!r} is not {what}")
    value = float(found[1]) * units[found[2].lower()]
    if not isfinite(value):
        raise VerbError(f"{word!r} is too large")
    return value
