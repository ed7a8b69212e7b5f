# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How the cost of all but the packets grows with the number of flows: CPU seconds ~ flows ** exponent."""

from __future__ import annotations

from collections.abc import Sequence

from bench.benchmarks.bookkeeping import Costs, measure
from bench.benchmarks.growth import exponent
from bench.instruments.benchmark import Benchmark, Figure

COUNTS = (1_000, 10_000, 100_000, 1_000_000)


class GrowthFlowsBenchmark(Benchmark):
    """The exponent of each stage is that of the two largest counts: below them what does not grow hides it."""

    name = "growth-flows"
    summary = "growth of planning, recording and reporting with 1e3 to 1e6 flows, as an exponent"

    def __init__(self, counts: Sequence[int] = COUNTS) -> None:
        self._counts = counts

    def run(self) -> list[Figure]:
        measure(self._counts[0])  # what is loaded at the first run is none of its cost
        costs = [measure(count) for count in self._counts]
        return [
            *(_of_stage(stage, [each.seconds[stage] for each in costs], costs) for stage in costs[0].seconds),
            _of_stage("together", [each.total_s for each in costs], costs),
            Figure(
                "grown while recording",
                costs[-1].recording_bytes / 1e6,
                "MB",
                note=_listed([each.recording_bytes / 1e6 for each in costs], "MB"),
            ),
        ]


def _of_stage(name: str, seconds: Sequence[float], costs: Sequence[Costs]) -> Figure:
    slope = exponent([each.flows for each in costs[-2:]], seconds[-2:])
    return Figure(f"exponent of {name}", slope, note=_listed(seconds, "s"))


def _listed(values: Sequence[float], unit: str) -> str:
    return f"{', '.join(f'{value:.3g}' for value in values)} {unit}"
