# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Lateness over time: the number of departures and their maximum lateness in each interval.

Intervals are the same as in softswitch (its c/process/late_bins.h), in wall ns from an epoch. Intervals
without departures are left out.
"""

from dataclasses import dataclass

from sfc_testbed.wire.dilation import Dilation

_MODEL_NS = 10_000
_LEAST_WALL_NS = 10_000_000


@dataclass(frozen=True, slots=True)
class LateBin:
    """The departures of one interval, with times in wall ns."""

    end_ns: int
    departures: int
    max_ns: int


class LateBins:
    """A collector of intervals of lateness."""

    def __init__(self, epoch_ns: int, width_ns: int) -> None:
        """Collect intervals of `width_ns`; departures before `epoch_ns` are ignored."""
        self._epoch_ns = epoch_ns
        self._width_ns = width_ns
        self._end_ns = epoch_ns
        self._departures = self._max_ns = 0
        self._bins: list[LateBin] = []

    def record(self, sent_ns: int, late_ns: int) -> None:
        """Record a departure; departures must be recorded in order of time."""
        if sent_ns >= self._end_ns:
            self._end()
            number = (sent_ns - self._epoch_ns) // self._width_ns
            self._end_ns = self._epoch_ns + (number + 1) * self._width_ns
        elif sent_ns < self._epoch_ns:
            return
        self._departures += 1
        if late_ns > self._max_ns:
            self._max_ns = late_ns

    def take(self, *, is_final: bool = False) -> list[LateBin]:
        """Return and remove the ended intervals; with `is_final`, end and include the current one."""
        if is_final:
            self._end()
        bins, self._bins = self._bins, []
        return bins

    def _end(self) -> None:
        if self._departures:
            self._bins.append(LateBin(self._end_ns, self._departures, self._max_ns))
        self._departures = self._max_ns = 0


def late_bin_ns(dilation: Dilation) -> int:
    """Return the width of an interval in wall ns: the sampling interval of queues, but at least 10 ms.

    With shorter intervals, the recording itself could delay the run.
    """
    return max(_LEAST_WALL_NS, dilation.wall_ns(_MODEL_NS))
