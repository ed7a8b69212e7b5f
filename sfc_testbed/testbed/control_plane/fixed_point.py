# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Limits of the data plane's fixed-point numbers."""

from __future__ import annotations

from math import log

from sfc_testbed.wire.dilation import Dilation

WORD_BITS = 32
LARGEST_WORD = (1 << WORD_BITS) - 1
LEAST_HALVINGS = 8
"""The least number of halvings: below it the rounding error exceeds 6 %."""
_Q24 = 1 << 24


class FixedPointError(ValueError):
    """A ratio that the data plane's fixed point cannot represent at this dilation; the message is one line."""


def require_word(what: str, value: int, rate_bps: int | None = None) -> int:
    """Return a value of 32 bits. Raise FixedPointError, which names the link's rate if there is one, for others."""
    if value >= 1 << WORD_BITS:
        where = "" if rate_bps is None else f" of a link of {rate_bps} bit/s"
        raise FixedPointError(f"{what}{where} is too long for the data plane")
    return value


def halvings_per_us_q24(setting: str, tau_ns: int, dilation: Dilation, estimator: str) -> int:
    """Return how often an estimator with this time constant halves its value per wall us, in 2^-24."""
    halvings = round(_Q24 * 1000 / (dilation.wall_ns(tau_ns) * log(2)))
    if not LEAST_HALVINGS <= halvings <= LARGEST_WORD:
        word = "long" if halvings < LEAST_HALVINGS else "short"
        raise FixedPointError(f"{setting} {tau_ns} is too {word} for {estimator}")
    return halvings
