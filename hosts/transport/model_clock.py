# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Conversion of wall instants and durations to model µs, the unit of times in traces."""

from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.units import NS_PER_US


class ModelClock:
    """The model time of a run. It reads no clock."""

    __slots__ = ("_us_ns", "start_ns")

    def __init__(self, dilation: Dilation, start_ns: int = 0) -> None:
        self._us_ns: int = dilation.factor * NS_PER_US
        self.start_ns = start_ns
        """The wall instant of model time 0."""

    def instant_us(self, wall_ns: int) -> float:
        """Return the model time of a wall instant."""
        return (wall_ns - self.start_ns) / self._us_ns

    def duration_us(self, wall_ns: int) -> float:
        """Return the model time of a wall duration."""
        return wall_ns / self._us_ns
