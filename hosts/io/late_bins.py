# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Lateness over time: of all departures in each interval, their number and how late the latest was.

Intervals are those of softswitch (softswitch/src/process/late_bins.h), in wall ns from an epoch; one without a
departure is left out.
"""

from dataclasses import dataclass

from wire.dilation import Dilation

_MODEL_NS = 10_000
_LEAST_WALL_NS = 10_000_000


@dataclass(frozen=True, slots=True)
class LateBin:
    """One interval, in wall ns."""

    end_ns: int
    departures: int
    max_ns: int


class LateBins:
    """Gathers intervals until somebody takes them."""

    def __init__(self, epoch_ns: int, width_ns: int) -> None:
        """Of departures before `epoch_ns` nothing is kept."""
        self._epoch_ns = epoch_ns
        self._width_ns = width_ns
        self._end_ns = epoch_ns
        self._departures = self._max_ns = 0
        self._ended: list[LateBin] = []

    def record(self, sent_ns: int, late_ns: int) -> None:
        """One more departure; they come in order of time."""
        if sent_ns >= self._end_ns:
            self._end()
            passed = (sent_ns - self._epoch_ns) // self._width_ns
            self._end_ns = self._epoch_ns + (passed + 1) * self._width_ns
        elif sent_ns < self._epoch_ns:
            return
        self._departures += 1
        if late_ns > self._max_ns:
            self._max_ns = late_ns

    def take(self, *, is_over: bool = False) -> list[LateBin]:
        """Intervals that have ended since the last time; if all is over, the running one too."""
        if is_over:
            self._end()
        ended, self._ended = self._ended, []
        return ended

    def _end(self) -> None:
        if self._departures:
            self._ended.append(LateBin(self._end_ns, self._departures, self._max_ns))
        self._departures = self._max_ns = 0


def late_bin_ns(dilation: Dilation) -> int:
    """Width of an interval in wall ns: the sampling interval of queues, but not so many that they make the run late."""
    return max(_LEAST_WALL_NS, dilation.wall_ns(_MODEL_NS))
