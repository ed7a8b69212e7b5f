# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Virtual runs as whole commands, with start and end, compared with other simulators that carry the same flows.

htsim runs NDP and ns-3 runs TCP; against them we run the scheme sfc. htsim_uec runs NSCC, whose packets take random
paths; against it we run ndp, whose packets do the same. The HPCC simulator runs the same protocols as our scheme
pfc+hpcc. None of them executes a P4 program.
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
    HtsimUec,
    Ns3,
    Ours,
    Peer,
    RaceError,
    Spent,
    data_packets,
    listed,
    permutation,
)
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import FLOW_LIST, RunSpec
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.testbed.plan.plan import plan_run

WORKERS = 2
PEERS: Sequence[type[Peer]] = (Htsim, HtsimUec, HpccSimulator, Ns3)
TARGETS = (1.2, 1.8)
"""How many times as fast as each peer we should be by wall time, with one worker and with `WORKERS`."""
HOSTS = 1024
"""The hosts of the permutation, each of which sends one message of `MESSAGE_BYTES`."""
MESSAGE_BYTES = 250_000


@dataclass(frozen=True)
class Work:
    """A virtual run, and the simulators that carry the same flows."""

    name: str
    spec: RunSpec
    peers: Sequence[type[Peer]]
    flows: Sequence[FlowRequest] = ()
    """The flows of the run; if there are none, those of the specification's scenario."""

    def written(self, folder: Path) -> RunSpec:
        """Return the specification of the run, whose flows may be in a file in `folder`."""
        return listed(self.spec, self.flows, folder) if self.flows else self.spec


def incast(*settings: str, scheme: str, duration_ms: float) -> RunSpec:
    """Return a 64:1 incast over a Clos of 128 hosts whose links all have 100 Gb/s."""
    words = ("degree=64", "placement=spread", "receiver=h1", *settings)
    return _clos("incast", *words, tors=8, scheme=scheme, duration_ms=duration_ms)


def _permutation() -> Work:
    """Return a work in which each host of 64 racks sends a message to another rack, and receives one."""
    pairs = permutation(HOSTS)
    flows = [FlowRequest(f"h{src + 1}", f"h{dst + 1}", MESSAGE_BYTES, 0, "permutation") for src, dst in pairs]
    spec = _clos(FLOW_LIST, tors=64, scheme="ndp", duration_ms=10)
    return Work(f"permutation of {HOSTS:,} hosts x {MESSAGE_BYTES // 1000} KB", spec, (HtsimUec,), flows)


def _clos(scenario: str, *settings: str, tors: int, scheme: str, duration_ms: float) -> RunSpec:
    network = (f"tors={tors}", "hosts_per_tor=16", "spines=16", "fabric_rate_bps=100000000000")
    words = (*(f"topology.{word}" for word in network), *settings)
    return RunSpec(
        scenario,
        scheme=scheme,
        clock="virtual",
        topology="clos",
        duration_ms=duration_ms,
        settings=parse_settings(words),
    )


WORKS = (
    Work("64:1 x 2.5 MB", incast("message_bytes=2500000", scheme="sfc", duration_ms=100), (Htsim,)),
    Work("64:1 x 12.5 MB", incast("message_bytes=12500000", scheme="sfc", duration_ms=400), (Htsim,)),
    _permutation(),
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
    Work("64:1 x 250 KB", incast("message_bytes=250000", scheme="sfc", duration_ms=100), (Ns3,)),
)


@dataclass
class PeersBenchmark(Benchmark):
    """Contestants run in turn; figures are medians. Skipped without any peer or if one fails."""

    name = "peers"
    summary = "whole virtual runs, compared with other simulators (set in environment variables)"

    works: Sequence[Work] = WORKS
    rounds: int = 3

    def run(self) -> list[Figure]:
        absent = [f"{peer.variable} is not set ({peer.name})" for peer in PEERS if not os.environ.get(peer.variable)]
        if len(absent) == len(PEERS):
            raise Skipped(", ".join(absent))
        try:
            return [figure for work in self.works for figure in self._figures(work)]
        except RaceError as error:
            raise Skipped(str(error)) from error

    def _figures(self, work: Work) -> Iterator[Figure]:
        """Run the work and yield the times of each contestant, and the ratio of each peer's times to ours."""
        peers = [peer(path) for peer in work.peers if (path := os.environ.get(peer.variable))]
        if not peers:
            return
        ours = [Ours(workers) for workers in (1, WORKERS) if workers <= (os.cpu_count() or 1)]
        spent, packets = self._race(work, [*ours, *peers])
        for contestant, times in spent.items():
            note = f"{packets:,} data packets; median of {self.rounds}"
            yield Figure(f"{work.name}: {contestant.name}, wall time", times.wall_s, "s", note=note)
            yield Figure(f"{work.name}: {contestant.name}, CPU time", times.cpu_s, "s", note=note)
        for peer in peers:
            for mine, bound in zip(ours, TARGETS, strict=False):
                name = f"{work.name}: {peer.name} / {mine.name}"
                target = Target(bound, "at least")
                yield Figure(f"{name}, wall time", spent[peer].wall_s / spent[mine].wall_s, target=target)
                yield Figure(f"{name}, CPU time", spent[peer].cpu_s / spent[mine].cpu_s)

    def _race(self, work: Work, contestants: Sequence[Contestant]) -> tuple[Mapping[Contestant, Spent], int]:
        """Return the median times of each contestant, and the number of data packets."""
        times: dict[Contestant, list[Spent]] = {contestant: [] for contestant in contestants}
        with tempfile.TemporaryDirectory(prefix="sfc-bench-") as written:
            plan = plan_run(work.written(Path(written)))
            for _ in range(self.rounds):
                for contestant, spent in times.items():
                    with tempfile.TemporaryDirectory(prefix="sfc-bench-") as folder:
                        spent.append(contestant.race(plan, Path(folder)))
        medians = {
            contestant: Spent(median(each.wall_s for each in spent), median(each.cpu_s for each in spent))
            for contestant, spent in times.items()
        }
        return medians, data_packets(plan)
