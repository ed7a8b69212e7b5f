# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Time that Mininet takes to start and stop a network of many hosts."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Mapping

from bench.instruments.benchmark import Benchmark, Figure, Skipped, Target
from bench.instruments.network import require_root
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.shapes import Clos, PaperSimulation, PaperTestbed

NETWORKS: Mapping[int, Topology] = {
    48: PaperTestbed().build(),
    192: Clos(tors=8, spines=4, hosts_per_tor=24).build(),
    512: PaperSimulation().build(),
}
MOST_SECONDS = 60.0
"""Target for the start and the stop of the largest network together."""


class StartupBenchmark(Benchmark):
    """Seconds per network. Needs root and Mininet."""

    name = "startup"
    summary = "seconds to start and stop Mininet networks of 48, 192 and 512 hosts"

    def run(self) -> list[Figure]:
        require_root()
        if importlib.util.find_spec("mininet") is None:
            raise Skipped("Mininet is not installed")
        return [self._measure(count) for count in NETWORKS]

    def _measure(self, count: int) -> Figure:
        from sfc_testbed.testbed.live.emulation import emulation

        began_s = time.perf_counter()
        with emulation(NETWORKS[count]):
            started_s = time.perf_counter()
        ended_s = time.perf_counter()
        note = f"{started_s - began_s:.1f} s up, {ended_s - started_s:.1f} s down"
        target = Target(MOST_SECONDS, "at most") if count == max(NETWORKS) else None
        return Figure(f"{count} hosts", ended_s - began_s, "s", target=target, note=note)
