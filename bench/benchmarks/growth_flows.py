# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Growth of the cost of planning, recording and reporting with the number of flows: CPU seconds ~ flows ** exponent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.benchmarks.bookkeeping import Costs, measure
from bench.benchmarks.growth import exponent
from bench.instruments.benchmark import Benchmark, Figure


@dataclass
class GrowthFlowsBenchmark(Benchmark):
    """The exponent of each stage. Only the two largest flow counts are used, since fixed costs dominate the smaller."""

    name = "growth-flows"
    summary = "growth of planning, recording and reporting with 1e3 to 1e6 flows, as an exponent"

    counts: Sequence[int] = (1_000, 10_000, 100_000, 1_000_000)

    def run(self) -> list[Figure]:
        measure(self.counts[0])  # a warm-up run: imports and caches would count as cost
        costs = [measure(count) for count in self.counts]
        return [
            *(_growth(stage, [run.seconds[stage] for run in costs], costs) for stage in costs[0].seconds),
            _growth("together", [run.total_s for run in costs], costs),
            Figure(
                "grown while recording",
                costs[-1].recording_bytes / 1e6,
                "MB",
                note=_value_list([run.recording_bytes / 1e6 for run in costs], "MB"),
            ),
        ]


def _growth(name: str, seconds: Sequence[float], costs: Sequence[Costs]) -> Figure:
    slope = exponent([run.flows for run in costs[-2:]], seconds[-2:])
    return Figure(f"exponent of {name}", slope, note=_value_list(seconds, "s"))


def _value_list(values: Sequence[float], unit: str) -> str:
    return f"{', '.join(f'{value:.3g}' for value in values)} {unit}"
