# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Time dilation: conversion between model units and wall units (docs/sources.md#time-dilation).

With factor D every duration is multiplied by D and every rate is divided by D; sizes in bytes stay the same. "Wall"
is CLOCK_MONOTONIC in a live run and the time of the event queue in a virtual one.
"""

from dataclasses import dataclass

from sfc_testbed.wire.units import NS_PER_US

_TENTHS = (10, 15, 20, 30, 50, 70)


@dataclass(frozen=True, slots=True)
class Dilation:
    """The factor by which a run is slower than the network that it models."""

    factor: int = 1
    """D, an integer of at least 1."""

    def __post_init__(self) -> None:
        if not isinstance(self.factor, int) or self.factor < 1:
            raise ValueError(f"dilation factor must be an integer >= 1, not {self.factor!r}")

    def wall_ns(self, model_ns: float) -> int:
        """Convert a model duration (ns) to a wall duration, rounded to whole ns."""
        return round(model_ns * self.factor)

    def wall_bps(self, model_bps: float) -> int:
        """Convert a model rate (bits/s) to a wall rate of at least 1 bit/s. Raise ValueError unless it is positive."""
        if model_bps <= 0:
            raise ValueError(f"a rate must be positive, not {model_bps!r}")
        return max(1, round(model_bps / self.factor))

    def model_ns(self, wall_ns: int) -> float:
        """Convert a wall duration (ns) to a model duration in ns."""
        return wall_ns / self.factor

    def model_us(self, wall_ns: int) -> float:
        """Convert a wall duration (ns) to a model duration in us."""
        return wall_ns / (self.factor * NS_PER_US)


def next_step(least: float) -> int:
    """Return the smallest round factor that is at least `least`.

    Round factors are integers that are 1, 1.5, 2, 3, 5 or 7 times a power of ten.
    """
    if not 0 <= least < float("inf"):
        raise ValueError(f"a dilation factor cannot be {least!r}")
    magnitude = 1
    while True:
        for tenths in _TENTHS:
            factor, rest = divmod(tenths * magnitude, 10)
            if not rest and factor >= least:
                return factor
        magnitude *= 10
