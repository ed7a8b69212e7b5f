# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Speed of the C switches of a virtual run without its hosts: a C program replays the frames that the hosts sent."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.instruments.benchmark import Benchmark, Figure
from bench.instruments.native import answer, tool
from bench.instruments.recorded import record_switches
from bench.instruments.simulated import incast_request
from sfc_testbed.testbed.targets.common.commands import PROGRAM
from softswitch.build import build_library

SETTINGS = ("topology.tors=8", "topology.hosts_per_tor=16", "topology.spines=16", "degree=64")
"""64 of 128 hosts send 250 KB each."""


@dataclass
class FabricBenchmark(Benchmark):
    """CPU time of one thread per replayed frame, without the set-up of the switches."""

    name = "fabric"
    summary = "packets/s of only the switches of a virtual 64:1 incast, driven from C"

    settings: tuple[str, ...] = SETTINGS
    rounds: int = 9

    def run(self) -> list[Figure]:
        with tempfile.TemporaryDirectory(prefix="sfc-bench-") as name:
            network, frames = record_switches(incast_request(*self.settings), Path(name))
            result = answer([tool("replay"), str(build_library(PROGRAM)), network, frames, str(self.rounds)], 600.0)
        per_packet_ns = median(result["cpu_ns"]) / result["frames"]
        note = f"{result['frames']:,} frames from hosts, {result['departures']:,} to hosts, digest {result['digest']}"
        return [
            Figure("rate", 1e9 / per_packet_ns, "host packets/s", note=note),
            Figure("cost", per_packet_ns, "ns a host packet", note="all switches on its path together"),
        ]
