# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Search for the highest packet rate that a device forwards without loss, by trials at different rates.

The search follows RFC 2544, adapted to a machine with other work: a rate that fails is tried once more. Frames count
only if they arrive shortly after the last one was sent. Otherwise frames that wait in the kernel's buffers, which hold
tens of thousands, would count as forwarded at the offered rate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

LONGEST_DRAIN_SHARE = 0.05
"""Longest time between the last frame sent and the last frame received, as a share of the sending time."""

HELD_UP_SHARE = 0.95
"""Share of the requested rate below which the generator itself limited the trial."""


@dataclass(frozen=True)
class Trial:
    """A trial: `sent` frames offered in `send_ns`; the last frame arrived `drain_ns` after the last was sent."""

    sent: int
    received: int
    send_ns: int
    drain_ns: int

    @property
    def offered_pps(self) -> float:
        return self.sent * 1e9 / self.send_ns

    @property
    def carried_pps(self) -> float:
        """Received frames per second, from the first frame sent to the last frame received."""
        return self.received * 1e9 / (self.send_ns + max(0, self.drain_ns))

    @property
    def is_lossless(self) -> bool:
        return self.received >= self.sent and self.drain_ns <= LONGEST_DRAIN_SHARE * self.send_ns


@dataclass(frozen=True)
class LosslessRate:
    """The result of a search."""

    pps: float
    overloaded_pps: float
    """Rate of received frames while the generator sent as fast as it could."""

    is_generators: bool
    """Whether the generator was the limit, so that the true rate may be higher."""


def find_lossless_rate(offer: Callable[[int], Trial], trials: int, known: LosslessRate | None = None) -> LosslessRate:
    """Bisect the offered rate and return the highest one without loss. `offer(0)` sends as fast as possible.

    `known` is the result of an earlier search, which is never lowered.
    """
    overloaded = offer(0)
    best_pps = known.pps if known else 0.0
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
