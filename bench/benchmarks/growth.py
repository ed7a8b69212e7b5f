# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Growth of a virtual run's CPU time with hosts, packets and incast degree, one varied at a time, as an exponent each.

The exponent is the slope of a least-squares fit through the logarithms of size and cost: 1 is proportional growth, 0 is
no growth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression, median

import numpy as np

from bench.instruments.benchmark import Benchmark, Figure
from bench.instruments.simulated import Simulated, incast_request, simulated

_HOSTS_PER_TOR = 16
_SPINES = 8
_DEGREE = 32
_USUAL_HOSTS = 128


@dataclass
class GrowthBenchmark(Benchmark):
    """Incasts with the scheme sfc. All points of an axis are measured once per round; medians over rounds count."""

    name = "growth"
    summary = "CPU time of virtual incasts against hosts, packets and degree, with the exponent of each"

    hosts: Sequence[int] = (64, 128, 256, 512, 1024)
    message_bytes: Sequence[int] = (62_500, 125_000, 250_000, 500_000, 1_000_000)
    degrees: Sequence[int] = (8, 16, 32, 64)
    rounds: int = 3

    def run(self) -> list[Figure]:
        usual_bytes = self.message_bytes[len(self.message_bytes) // 2]
        total_bytes = _DEGREE * usual_bytes
        return [
            *self._axis(
                "hosts",
                {size: _settings(hosts=size, message_bytes=usual_bytes) for size in self.hosts},
                f"{_DEGREE}:1 x {usual_bytes:,} B",
            ),
            *self._axis(
                "packets",
                {_DEGREE * size // 1000: _settings(message_bytes=size) for size in self.message_bytes},
                f"{_DEGREE}:1, {_USUAL_HOSTS} hosts, longer messages",
            ),
            *self._axis(
                "degree",
                {size: _settings(degree=size, message_bytes=total_bytes // size) for size in self.degrees},
                f"{_USUAL_HOSTS} hosts, {total_bytes // 1_000_000} MB in all",
            ),
        ]

    def _axis(self, name: str, points: dict[int, Sequence[str]], description: str) -> list[Figure]:
        measurements: dict[int, list[Simulated]] = {size: [] for size in points}
        for _ in range(self.rounds):
            for size, settings in points.items():
                measurements[size].append(simulated(incast_request(*settings)))
        costs_s = {size: median(run.cpu_s for run in runs) for size, runs in measurements.items()}
        figures = [
            Figure(
                f"{name}: {size:,}", costs_s[size], "s of CPU", note=f"{runs[0].counters.packets.sent:,} host packets"
            )
            for size, runs in measurements.items()
        ]
        return [
            *figures,
            Figure(
                f"{name}: exponent",
                exponent(list(costs_s), list(costs_s.values())),
                note=f"{description}; medians of {self.rounds}",
            ),
        ]


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the exponent of a fit of cost ~ size ^ exponent."""
    return float(linear_regression(np.log(sizes).tolist(), np.log(costs).tolist()).slope)


def _settings(message_bytes: int, hosts: int = _USUAL_HOSTS, degree: int = _DEGREE) -> Sequence[str]:
    tors = hosts // _HOSTS_PER_TOR
    shape = (f"topology.tors={tors}", f"topology.spines={_SPINES}", f"topology.hosts_per_tor={_HOSTS_PER_TOR}")
    return (*shape, f"degree={degree}", f"message_bytes={message_bytes}")
