# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""All benchmarks, by name, cheapest first."""

from __future__ import annotations

from collections.abc import Mapping

from bench.benchmark import Benchmark
from bench.nic import NicBenchmark
from bench.pipeline import PipelineBenchmark
from bench.simulation import SimulationBenchmark
from bench.startup import StartupBenchmark
from bench.switch import SwitchBenchmark
from bench.wire import WireBenchmark

BENCHMARKS: Mapping[str, type[Benchmark]] = {
    benchmark.name: benchmark
    for benchmark in (
        PipelineBenchmark,
        NicBenchmark,
        WireBenchmark,
        SimulationBenchmark,
        SwitchBenchmark,
        StartupBenchmark,
    )
}
