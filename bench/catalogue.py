# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""All benchmarks by name, from the shortest to the longest."""

from __future__ import annotations

from collections.abc import Mapping

from bench.benchmarks.bookkeeping import BookkeepingBenchmark
from bench.benchmarks.control import ControlBenchmark
from bench.benchmarks.fabric import FabricBenchmark
from bench.benchmarks.flood import FloodBenchmark
from bench.benchmarks.growth import GrowthBenchmark
from bench.benchmarks.growth_flows import GrowthFlowsBenchmark
from bench.benchmarks.loop import LoopBenchmark
from bench.benchmarks.nic import NicBenchmark
from bench.benchmarks.peers import PeersBenchmark
from bench.benchmarks.pipeline import PipelineBenchmark
from bench.benchmarks.simulation import SimulationBenchmark
from bench.benchmarks.size import SizeBenchmark
from bench.benchmarks.startup import StartupBenchmark
from bench.benchmarks.switch import SwitchBenchmark
from bench.benchmarks.wire import WireBenchmark
from bench.instruments.benchmark import Benchmark

BENCHMARKS: Mapping[str, type[Benchmark]] = {
    benchmark.name: benchmark
    for benchmark in (
        PipelineBenchmark,
        NicBenchmark,
        FabricBenchmark,
        LoopBenchmark,
        ControlBenchmark,
        WireBenchmark,
        FloodBenchmark,
        SimulationBenchmark,
        BookkeepingBenchmark,
        GrowthFlowsBenchmark,
        PeersBenchmark,
        GrowthBenchmark,
        SwitchBenchmark,
        StartupBenchmark,
        SizeBenchmark,
    )
}
