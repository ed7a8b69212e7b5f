# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Virtual runs as whole commands, with start and end, compared with htsim, ns-3 and the HPCC simulator.

htsim runs NDP and ns-3 runs TCP; against them we run the scheme sfc. The HPCC simulator runs the same protocols as our
scheme pfc+hpcc, with the same flow list. None of them executes a P4 program.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.instruments.benchmark import Benchmark, Figure, Skipped, Target
from bench.instruments.contestants import (
    Contestant,
    HpccSimulator,
    Htsim,
    Ns3,
    Ours,
    Peer,
    RaceError,
    Spent,
    data_packets,
)
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.plan.plan import plan_run

WORKERS = 2
TARGETS: Mapping[type[Peer], tuple[float, float]] = {Htsim: (1.2, 2.0), HpccSimulator: (1.0, 1.7), Ns3: (8.0, 8.0)}
"""How many times as fast as each peer we should be, with one worker and with `WORKERS`."""


@dataclass(frozen=True)
class Work:
    """A virtual run, and the simulators that carry the same flows."""

    name: str
    spec: RunSpec
    peers: Sequence[type[Peer]]


def incast(*settings: str, scheme: str, duration_ms: float) -> RunSpec:
    """Return a 64:1 incast over a Clos of 128 hosts whose links all have 100 Gb/s."""
    network = ("tors=8", "hosts_per_tor=16", "spines=16", "fabric_rate_bps=100000000000")
    words = (*(f"topology.{word}" for word in network), "degree=64", "placement=spread", "receiver=h1", *settings)
    return RunSpec(
        "incast",
        scheme=scheme,
        clock="virtual",
        topology="clos",
        duration_ms=duration_ms,
        settings=parse_settings(words),
    )


WORKS = (
    Work("64:1 x 12.5 MB", incast("message_bytes=12500000", scheme="sfc", duration_ms=400), (Htsim, Ns3)),
    Work(
        "64:1 x 250 KB x 20 rounds",
        incast("rounds=20", "round_interval_us=2000", scheme="pfc+hpcc", duration_ms=100),
        (HpccSimulator,),
    ),
    Work(
        "hadoop-50, 32 hosts",
        RunSpec("hadoop-50", scheme="pfc+hpcc", clock="virtual", settings={"transport.base_rtt_ns": 10_800}),
        (HpccSimulator,),
    ),
)


@dataclass
class PeersBenchmark(Benchmark):
    """Contestants run in turn; figures are medians. Skipped without any peer or if one fails."""

    name = "peers"
    summary = "whole virtual runs, compared with htsim, ns-3 and the HPCC simulator (set in environment variables)"

    works: Sequence[Work] = WORKS
    rounds: int = 3

    def run(self) -> list[Figure]:
        absent = [f"{peer.variable} is not set ({peer.name})" for peer in TARGETS if not os.environ.get(peer.variable)]
        if len(absent) == len(TARGETS):
            raise Skipped(", ".join(absent))
        try:
            return [figure for work in self.works for figure in self._figures(work)]
        except RaceError as error:
            raise Skipped(str(error)) from error

    def _figures(self, work: Work) -> Iterator[Figure]:
        """Run the work and yield the rate of each contestant, and our ratio to each peer."""
        peers = [peer(path) for peer in work.peers if (path := os.environ.get(peer.variable))]
        if not peers:
            return
        ours = [Ours(workers) for workers in (1, WORKERS) if workers <= (os.cpu_count() or 1)]
        spent, packets = self._race(work, [*ours, *peers])
        for contestant, times in spent.items():
            note = f"{times.wall_s:.2f} s, {times.cpu_s:.2f} s of CPU; {packets:,} packets; medians of {self.rounds}"
            yield Figure(f"{work.name}: {contestant.name}", packets / times.cpu_s, "data packets/s of CPU", note=note)
        for peer in peers:
            for mine, bound in zip(ours, TARGETS[type(peer)], strict=False):
                ratio = spent[peer].wall_s / spent[mine].wall_s
                note = f"by wall time; by CPU time {spent[peer].cpu_s / spent[mine].cpu_s:.2f}"
                yield Figure(f"{work.name}: {mine.name} / {peer.name}", ratio, "", Target(bound, "at least"), note)

    def _race(self, work: Work, contestants: Sequence[Contestant]) -> tuple[Mapping[Contestant, Spent], int]:
        """Return the median times of each contestant, and the number of data packets."""
        plan = plan_run(work.spec)
        times: dict[Contestant, list[Spent]] = {contestant: [] for contestant in contestants}
        for _ in range(self.rounds):
            for contestant, spent in times.items():
                with tempfile.TemporaryDirectory(prefix="sfc-bench-") as folder:
                    spent.append(contestant.race(plan, Path(folder)))
        medians = {
            contestant: Spent(median(each.wall_s for each in spent), median(each.cpu_s for each in spent))
            for contestant, spent in times.items()
        }
        return medians, data_packets(plan)
