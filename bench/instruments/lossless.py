# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The highest packet rate that something forwards without losing any, found by trials.

Owns the search; must not know what is tried. As in RFC 2544, but on a machine that has other work too: a rate that
fails is tried once more, and frames may still be on their way for a moment when the last one has been sent, not longer,
so that the kernel's buffers (tens of thousands of frames) cannot pass for speed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

LONGEST_DRAIN_SHARE = 0.05
"""Of the time of sending, the longest that frames may take to come through after the last was sent."""

HELD_UP_SHARE = 0.95
"""A generator that reached less than this of the rate it was asked for is itself the limit."""


@dataclass(frozen=True)
class Trial:
    """What came of offering `sent` frames over `send_ns`; the last came through `drain_ns` after the last was sent."""

    sent: int
    received: int
    send_ns: int
    drain_ns: int

    @property
    def offered_pps(self) -> float:
        return self.sent * 1e9 / self.send_ns

    @property
    def carried_pps(self) -> float:
        """Frames that came through over the time that took."""
        return self.received * 1e9 / (self.send_ns + max(0, self.drain_ns))

    @property
    def is_lossless(self) -> bool:
        return self.received >= self.sent and self.drain_ns <= LONGEST_DRAIN_SHARE * self.send_ns


@dataclass(frozen=True)
class LosslessRate:
    """The outcome of a search."""

    pps: float
    overloaded_pps: float
    """What came through when as much as possible was offered."""

    is_generators: bool
    """Whether the generator could not offer more, so that the true rate lies higher."""


def find_lossless_rate(
    offer: Callable[[int], Trial], trials: int, floor_pps: float = 0.0, known: LosslessRate | None = None
) -> LosslessRate:
    """Bisects the offered rate; `offer(0)` offers as much as it can.

    `floor_pps` is a rate already known to pass. `known` is an earlier search's outcome, which this one may only raise.
    """
    overloaded = offer(0)
    best_pps = max(floor_pps, known.pps if known else 0.0)
    if overloaded.is_lossless:
        return LosslessRate(max(best_pps, overloaded.offered_pps), overloaded.carried_pps, True)
    carried_pps = max(overloaded.carried_pps, known.overloaded_pps if known else 0.0)
    low_pps, high_pps = best_pps, max(1.2 * carried_pps, 1.05 * best_pps)
    for _ in range(trials):
        rate = int((low_pps + high_pps) / 2) if low_pps else int(0.6 * high_pps)
        trial = _best_of_two(offer, rate)
        if trial.is_lossless:
            low_pps = best_pps = max(best_pps, trial.offered_pps)
            if trial.offered_pps < HELD_UP_SHARE * rate:
                return LosslessRate(best_pps, carried_pps, True)
        else:
            high_pps = min(high_pps, rate)
    return LosslessRate(best_pps, carried_pps, False)


def _best_of_two(offer: Callable[[int], Trial], rate: int) -> Trial:
    first = offer(rate)
    return first if first.is_lossless else offer(rate)
