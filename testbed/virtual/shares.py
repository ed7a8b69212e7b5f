# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Who runs what of a network: racks with their hosts in runs of neighbours, the other switches where least is to do.

By the bytes of the flows that are planned: whoever has the most to do, all others wait for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from testbed.errors import UsageError
from testbed.flows.columns import FlowColumns
from topologies.model import Topology


@dataclass(frozen=True)
class FarEnd:
    """Where a link that leaves a share leads: a worker, a switch by its place in that one's share, a port of it."""

    worker: int
    engine: int
    port: int


@dataclass(frozen=True)
class Share:
    """Nodes of one worker, in the order of the topology."""

    switches: tuple[str, ...]
    hosts: tuple[str, ...]
    far: Mapping[tuple[int, int], FarEnd]
    """By switch (its place in this share) and port."""


def shares(topology: Topology, flows: FlowColumns, workers: int) -> list[Share]:
    """One for each worker; their hosts one after the other are those of the topology. UsageError if there are too few
    racks."""
    racks = list(dict.fromkeys(host.switch for host in topology.hosts))
    if workers > len(racks):
        raise UsageError(f"--workers {workers}: the network has {len(racks)} racks, and a rack is not divided")
    of_racks, of_others = _loads(topology, racks, flows)
    owner = dict(zip(racks, _runs(of_racks, workers), strict=True))
    busy = [
        (sum(load for rack, load in zip(racks, of_racks, strict=True) if owner[rack] == mine), mine)
        for mine in range(workers)
    ]
    heapify(busy)
    others = [switch.name for switch in topology.switches if switch.name not in owner]
    for name in others:
        load, mine = busy[0]
        owner[name] = mine
        heapreplace(busy, (load + of_others / len(others), mine))
    switches = [[each.name for each in topology.switches if owner[each.name] == mine] for mine in range(workers)]
    return [_share(topology, owner, switches, mine) for mine in range(workers)]


def _loads(topology: Topology, racks: Sequence[str], flows: FlowColumns) -> tuple[list[float], float]:
    """What each rack has to do, and all other switches together, in bytes: what each NIC and each switch handles.

    A packet costs about as much in a switch as in a NIC. Each host counts for one byte more, so that racks without
    traffic are shared out too.
    """
    place = {rack: number for number, rack in enumerate(racks)}
    rack_of = np.array([place[host.switch] for host in topology.hosts])
    src, dst, is_between = rack_of[flows.src], rack_of[flows.dst], rack_of[flows.src] != rack_of[flows.dst]

    def by_rack(
        numbers: npt.NDArray[np.int64], weights: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.float64]:
        return np.bincount(numbers, weights, minlength=len(racks)).astype(np.float64)

    nics = by_rack(src, flows.size_bytes) + by_rack(dst, flows.size_bytes)
    tors = by_rack(src, flows.size_bytes) + by_rack(dst, flows.size_bytes * is_between)
    return (by_rack(rack_of) + nics + tors).tolist(), float((flows.size_bytes * is_between).sum())


def _runs(loads: Sequence[float], workers: int) -> list[int]:
    """The worker of each rack: neighbours to one, at least one to each, cut as near to equal loads as can be."""
    before = [0.0, *accumulate(loads)]
    cuts = [0]
    for mine in range(1, workers):
        aim = before[-1] * mine / workers
        cuts.append(min(range(cuts[-1] + 1, len(loads) - workers + mine + 1), key=lambda cut: abs(before[cut] - aim)))
    return [bisect_right(cuts, number) - 1 for number in range(len(loads))]


def _share(topology: Topology, owner: Mapping[str, int], switches: Sequence[Sequence[str]], mine: int) -> Share:
    place = {name: number for own in switches for number, name in enumerate(own)}
    far = {}
    for link in topology.links:
        for near, end in ((link.a, link.b), (link.b, link.a)):
            if owner.get(near.node) == mine and owner.get(end.node, mine) != mine:
                far[place[near.node], near.number] = FarEnd(owner[end.node], place[end.node], end.number)
    hosts = tuple(host.name for host in topology.hosts if owner[host.switch] == mine)
    return Share(tuple(switches[mine]), hosts, far)
