# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""CPU time and memory of large networks as whole commands, and what one more packet costs there.

The network is a leaf-spine of 64 hosts a ToR and 64 spines, so paths are equally long at every size; a switch of
htsim_uec has fewer than 128 ports upwards. In an all-to-all, groups of 32 random hosts exchange messages, or all hosts
if the network is small enough. All groups begin at once. We run ndp against htsim_uec's NSCC, as in `peers`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench.instruments.benchmark import Benchmark, Figure, Skipped, Target
from bench.instruments.contestants import (
    Contestant,
    HtsimUec,
    Ours,
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

_HOSTS_PER_TOR = 64
_GROUP = 32
_MOST_IN_ONE_GROUP = {Ours: 1024, HtsimUec: 512}
"""The most hosts of an all-to-all of all hosts. A message takes 20 KB of memory in htsim_uec, and 6 KB here."""
MOST_TIMES_AS_DEAR = 1.5
"""The most that a further packet should cost in the largest network, in times of its cost in the smallest one."""

Pairs = Callable[[int], Iterator[tuple[int, int]]]
"""Returns sources and destinations of the messages between a number of hosts."""


def groups(hosts: int, size: int = _GROUP) -> Iterator[tuple[int, int]]:
    """Yield the pairs of an all-to-all in each group of `size` hosts."""
    order = Random(1).sample(range(hosts), hosts)
    for begin in range(0, hosts, size):
        group = order[begin : begin + size]
        yield from ((group[i], group[(i + k) % size]) for k in range(1, size) for i in range(size))


def one_group(hosts: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of an all-to-all of all hosts."""
    return groups(hosts, hosts)


@dataclass
class SizeBenchmark(Benchmark):
    """Each command runs once. Without htsim_uec, only our figures are measured."""

    name = "size"
    summary = "CPU time and memory of networks of 512 to 8,192 hosts, compared with htsim_uec if its variable is set"

    hosts: Sequence[int] = (512, 1024, 8192)
    message_bytes: int = 64_000
    """Bytes of a message of the permutation. A message of an all-to-all has a sixteenth."""

    def run(self) -> list[Figure]:
        path = os.environ.get(HtsimUec.variable)
        contestants = [Ours(1), *([HtsimUec(path)] if path else [])]
        works = (
            ("permutation", permutation, self.message_bytes),
            (f"all-to-all of {_GROUP} ranks", groups, self.message_bytes // 16),
            ("all-to-all of all hosts", one_group, self.message_bytes // 16),
        )
        try:
            figures = [
                figure
                for hosts in self.hosts
                for name, pairs, size_bytes in works
                for contestant in contestants
                if pairs is not one_group or hosts <= _MOST_IN_ONE_GROUP[type(contestant)]
                for figure in _figures(name, contestant, hosts, pairs, size_bytes)
            ]
            return [*figures, self._growth()]
        except RaceError as error:
            raise Skipped(str(error)) from error

    def _growth(self) -> Figure:
        """Return how many times as dear a further packet is in the largest network as in the smallest one.

        Both networks carry as many packets, and then three times as many.
        """
        fewest, most = self.hosts[0], self.hosts[-1]
        costs_s = {}
        for hosts in (fewest, most):
            size_bytes = self.message_bytes * most // hosts
            few, many = (_race(Ours(1), hosts, permutation, times * size_bytes) for times in (1, 3))
            costs_s[hosts] = (many[0].cpu_s - few[0].cpu_s) / (many[1] - few[1])
        return Figure(
            f"CPU time of a further data packet, {most:,} / {fewest:,} hosts",
            costs_s[most] / costs_s[fewest],
            target=Target(MOST_TIMES_AS_DEAR, "at most"),
            note=f"{costs_s[most] * 1e6:.2f} and {costs_s[fewest] * 1e6:.2f} us",
        )


def _figures(name: str, contestant: Contestant, hosts: int, pairs: Pairs, size_bytes: int) -> Iterator[Figure]:
    spent, packets = _race(contestant, hosts, pairs, size_bytes)
    name, note = f"{name}, {hosts:,} hosts x {size_bytes:,} B", f"{packets:,} data packets"
    yield Figure(f"{name}: {contestant.name}, CPU time", spent.cpu_s, "s", note=note)
    yield Figure(f"{name}: {contestant.name}, memory", spent.peak_bytes / 1e9, "GB", note=note)


def _race(contestant: Contestant, hosts: int, pairs: Pairs, size_bytes: int) -> tuple[Spent, int]:
    """Return what a command took, and the number of its data packets."""
    flows = [FlowRequest(f"h{src + 1}", f"h{dst + 1}", size_bytes, 0, "size") for src, dst in pairs(hosts)]
    shape = {"tors": hosts // _HOSTS_PER_TOR, "hosts_per_tor": _HOSTS_PER_TOR, "spines": _HOSTS_PER_TOR}
    words = [f"topology.{name}={value}" for name, value in shape.items()]
    settings = parse_settings([*words, "topology.fabric_rate_bps=100000000000"])
    with tempfile.TemporaryDirectory(prefix="sfc-bench-") as written, tempfile.TemporaryDirectory() as folder:
        spec = RunSpec(FLOW_LIST, scheme="ndp", clock="virtual", topology="clos", duration_ms=10, settings=settings)
        plan = plan_run(listed(spec, flows, Path(written)))
        return contestant.race(plan, Path(folder)), data_packets(plan)
