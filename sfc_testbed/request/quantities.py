# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Quantities with units as people write them, such as 250KB, 400G or 1.5ms, for every part that reads text.

A KB has 1000 bytes and a KiB 1024. Upper and lower case mean the same, except for the "b" of a rate: 10GBps would be
bytes per second and is refused. The value is exact: an int if it is whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple

from sfc_testbed.request.shown import shown

_QUANTITY = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,12})?) ?([a-zµ/]+)", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,12})?")
_RATE_NAMES = ("", "bps", "bit/s", "b/s")


class _Kind(NamedTuple):
    """A kind of quantity."""

    example: str
    factors: Mapping[str, Decimal]
    """The size of each unit in the kind's base unit: bytes, bits/s or seconds."""


_SIZE = _Kind(
    "a size such as 250KB or 64KiB",
    {
        "b": Decimal(1),
        **{f"{prefix}b": Decimal(1000) ** power for power, prefix in enumerate("kmgt", start=1)},
        **{f"{prefix}ib": Decimal(1024) ** power for power, prefix in enumerate("kmgt", start=1)},
    },
)
_RATE = _Kind(
    "a rate such as 400G or 25Gbps",
    {
        f"{prefix}{name}": Decimal(1000) ** power
        for power, prefix in enumerate(("", "k", "m", "g", "t"))
        for name in _RATE_NAMES
        if prefix or name
    },
)
_TIME = _Kind(
    "a time such as 20us or 1.5ms",
    {"ns": Decimal("1e-9"), "us": Decimal("1e-6"), "µs": Decimal("1e-6"), "ms": Decimal("1e-3"), "s": Decimal(1)},
)

_UNITS: Mapping[str, tuple[_Kind, Decimal]] = MappingProxyType(
    {
        "bytes": (_SIZE, Decimal(1)),
        "bps": (_RATE, Decimal(1)),
        "gbps": (_RATE, Decimal(10) ** 9),
        **{unit: (_TIME, _TIME.factors[unit]) for unit in ("ns", "us", "ms", "s")},
    }
)
"""The kind of quantity of each unit that ends a name, and the unit in the kind's base unit."""


def unit_of(name: str) -> str | None:
    """Return the unit that ends a name, such as `ns` for `host_delay_ns`, or the name `bytes`; None if it states none.

    A list has the plural: `host_rates_bps`.
    """
    unit = name.rpartition("_")[2]
    return unit if unit in _UNITS and (unit != name or name == "bytes") else None


def has_unit(text: str) -> bool:
    """Whether a text is a number with letters after it."""
    return _QUANTITY.fullmatch(text) is not None


def in_unit(text: str, unit: str) -> int | float:
    """Return a quantity as a number of a unit: bytes, bps, gbps, ns, us, ms or s.

    Raises ValueError, which completes a sentence that begins with the name of the quantity.
    """
    kind, base = _UNITS[unit]
    match = _QUANTITY.fullmatch(text)
    factor = None if match is None else kind.factors.get(match[2].lower())
    if match is None or factor is None or (kind is _RATE and "B" in match[2]):
        raise ValueError(f"must be {kind.example}, not {shown(text)}")
    value = Decimal(match[1]) * factor / base
    return int(value) if value == value.to_integral_value() else float(value)


def read_in_unit(value: str | float, unit: str) -> int | float:
    """Return a number of a unit from a number, or from a text with or without a unit. Raises ValueError, as above."""
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        return in_unit(value, unit)
    number = float(value)
    return int(number) if number.is_integer() else number
