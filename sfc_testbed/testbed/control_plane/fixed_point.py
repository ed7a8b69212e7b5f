# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Limits of the data plane's fixed-point numbers."""

from __future__ import annotations

WORD_BITS = 32
LARGEST_WORD = (1 << WORD_BITS) - 1


class FixedPointError(ValueError):
    """A ratio that the data plane's fixed point cannot represent at this dilation; the message is one line."""


def require_word(what: str, value: int, rate_bps: int | None = None) -> int:
    """Return a value of 32 bits. Raise FixedPointError, which names the link's rate if there is one, for others."""
    if value >= 1 << WORD_BITS:
        where = "" if rate_bps is None else f" of a link of {rate_bps} bit/s"
        raise FixedPointError(f"{what}{where} is too long for the data plane")
    return value
