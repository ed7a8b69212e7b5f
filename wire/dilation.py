# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Time dilation: the one place that turns model units into wall units and back (docs/sources.md#time-dilation).

With factor D every duration is multiplied by D and every rate divided by D; bytes stay. "Wall" is CLOCK_MONOTONIC in
a live run and the event queue's time in a virtual one.
"""

from dataclasses import dataclass

from wire.units import NS_PER_US

_TENTHS = (10, 15, 20, 30, 50, 70)


@dataclass(frozen=True, slots=True)
class Dilation:
    """How much slower than the model the wall runs."""

    factor: int = 1
    """D, an integer of at least 1."""

    def __post_init__(self) -> None:
        if not isinstance(self.factor, int) or self.factor < 1:
            raise ValueError(f"dilation factor must be an integer >= 1, not {self.factor!r}")

    def wall_ns(self, model_ns: float) -> int:
        """Model duration (ns) as a wall duration, rounded to whole ns."""
        return round(model_ns * self.factor)

    def wall_bps(self, model_bps: float) -> int:
        """Model rate (bits/s) as a wall rate; a rate that would vanish becomes 1 bit/s."""
        if model_bps <= 0:
            raise ValueError(f"a rate must be positive, not {model_bps!r}")
        return max(1, round(model_bps / self.factor))

    def model_ns(self, wall_ns: int) -> float:
        """Wall duration (ns) as a model duration in ns."""
        return wall_ns / self.factor

    def model_us(self, wall_ns: int) -> float:
        """Wall duration (ns) as a model duration in us."""
        return wall_ns / (self.factor * NS_PER_US)


def next_step(least: float) -> int:
    """The smallest factor of at least so much that people would write: 1, 1.5, 2, 3, 5 or 7 times a power of ten."""
    if not 0 <= least < float("inf"):
        raise ValueError(f"a dilation factor cannot be {least!r}")
    magnitude = 1
    while True:
        for tenths in _TENTHS:
            factor, rest = divmod(tenths * magnitude, 10)
            if not rest and factor >= least:
                return factor
        magnitude *= 10
