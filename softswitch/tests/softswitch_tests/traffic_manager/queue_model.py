# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A reference model of a port's queues and wire in Python, with fractions, for comparison with the C code.

Written from the contract in `c/traffic/{traffic_manager,telemetry}.h`, not from the code; clarity before speed.
"""

from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Arrival:
    """The arrival of a packet for a port and class."""

    time_ns: int
    port: int
    class_: int
    size: int


@dataclass
class PortModel:
    port: int
    rate_bps: int
    free: Fraction = Fraction(0)
    queues: list[deque[int]] = field(default_factory=lambda: [deque() for _ in range(8)])
    departures: list[tuple[int, int]] = field(default_factory=list)
    """The departures as (due_ns, size)."""
    changes: list[tuple[int, int, int, int]] = field(default_factory=list)
    """The changes of depth as (time_ns, port, class, bytes)."""

    def run(self, arrivals: list[Arrival]) -> None:
        """Process all arrivals of this port in order of time; at equal times a start comes before an arrival."""
        for arrival in arrivals:
            self._start_until(arrival.time_ns)
            if not any(self.queues) and floor(self.free) < arrival.time_ns:
                self.free = Fraction(arrival.time_ns)
            self.queues[arrival.class_].append(arrival.size)
            self.changes.append((arrival.time_ns, self.port, arrival.class_, arrival.size))
            self._start_until(arrival.time_ns)
        self._start_until(None)

    def _start_until(self, time_ns: int | None) -> None:
        while any(self.queues) and (time_ns is None or floor(self.free) <= time_ns):
            class_ = max(c for c in range(8) if self.queues[c])
            size = self.queues[class_].popleft()
            self.changes.append((floor(self.free), self.port, class_, -size))
            if self.rate_bps:
                self.free += Fraction(8 * size * NS_PER_S, self.rate_bps)
            self.departures.append((floor(self.free), size))


Row = tuple[int, int, int, int, int, int]
"""A telemetry row: (time_ns, port, class, part, depth_bytes, high_water_bytes). Part 0 is the whole class."""


def telemetry_rows(changes: list[tuple[int, int, int, int]], sample_ns: int, end_ns: int) -> list[Row]:
    """Return the rows of all intervals that end by `end_ns`, from the depths at the end of each instant."""
    by_time: dict[int, list[tuple[int, int, int]]] = {}
    for time_ns, port, class_, size in changes:
        by_time.setdefault(time_ns, []).append((port, class_, size))
    depth: dict[tuple[int, int], int] = {}
    rows: list[Row] = []
    for start_ns in range(0, end_ns - sample_ns + 1, sample_ns):
        high = dict(depth)
        total_high = sum(depth.values())
        for time_ns in sorted(t for t in by_time if start_ns <= t < start_ns + sample_ns):
            for port, class_, size in by_time[time_ns]:
                depth[port, class_] = depth.get((port, class_), 0) + size
            for queue, held in depth.items():
                high[queue] = max(high.get(queue, 0), held)
            total_high = max(total_high, sum(depth.values()))
        stamp = start_ns + sample_ns
        rows += [(stamp, *queue, 0, depth[queue], high[queue]) for queue in sorted(high) if high[queue]]
        rows.append((stamp, -1, -1, -1, sum(depth.values()), total_high))
    return rows
