# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Divides a network among workers: runs of neighbouring racks with their hosts, other switches to the least loaded.

The load is the time that the bytes of the planned flows take, because all workers wait for the most loaded one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from sfc_testbed.scenarios.model.flow_table import FlowTable
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.topologies.model import Topology

_SENDER_COST, _RECEIVER_COST = 1.6, 0.75
"""The time that a data packet and its acknowledgement take at the sender and at the receiver, relative to a switch."""


@dataclass(frozen=True)
class FarEnd:
    """The far end of a link that leaves a share: a worker, a switch (its index in that worker's share), and a port."""

    worker: int
    engine: int
    port: int


@dataclass(frozen=True)
class Share:
    """The nodes of one worker, in the order of the topology."""

    switches: tuple[str, ...]
    hosts: tuple[str, ...]
    far: Mapping[tuple[int, int], FarEnd]
    """The far ends of links to other shares, by switch (as its index in this share) and port."""


def shares(topology: Topology, flows: FlowTable, workers: int) -> list[Share]:
    """Return a share for each worker. The shares' hosts in sequence have the topology's order.

    Raises UsageError if there are fewer racks than workers.
    """
    racks = racks_of(topology)
    if workers > len(racks):
        raise UsageError(f"--workers {workers}: the network has {len(racks)} racks, and each worker needs at least one")
    owner = _division(topology, racks, flows, workers)[0]
    switches = [[switch.name for switch in topology.switches if owner[switch.name] == mine] for mine in range(workers)]
    return [_share(topology, owner, switches, mine) for mine in range(workers)]


def racks_of(topology: Topology) -> list[str]:
    """Return the switches that have hosts, in the order of the hosts."""
    return list(dict.fromkeys(host.switch for host in topology.hosts))


def largest_share(topology: Topology, flows: FlowTable, workers: int) -> float:
    """Return the load of the most loaded worker as a fraction of the whole load; at most one worker per rack."""
    loads = _division(topology, racks_of(topology), flows, workers)[1]
    return max(loads) / sum(loads)


def _division(
    topology: Topology, racks: Sequence[str], flows: FlowTable, workers: int
) -> tuple[dict[str, int], list[float]]:
    """Return the worker of each switch, and the load of each worker."""
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
    return owner, [load for load, _ in busy]


def _loads(topology: Topology, racks: Sequence[str], flows: FlowTable) -> tuple[list[float], float]:
    """Return the load of each rack and of all other switches together: the bytes that NICs and switches handle.

    The bytes of NICs are weighted with their costs. Each host adds one byte, so that racks without traffic are divided
    evenly too.
    """
    place = {rack: number for number, rack in enumerate(racks)}
    rack_of = np.array([place[host.switch] for host in topology.hosts])
    src, dst, is_between = rack_of[flows.src], rack_of[flows.dst], rack_of[flows.src] != rack_of[flows.dst]

    def by_rack(
        numbers: npt.NDArray[np.int64], weights: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.float64]:
        return np.bincount(numbers, weights, minlength=len(racks)).astype(np.float64)

    nics = _SENDER_COST * by_rack(src, flows.size_bytes) + _RECEIVER_COST * by_rack(dst, flows.size_bytes)
    tors = by_rack(src, flows.size_bytes) + by_rack(dst, flows.size_bytes * is_between)
    return (by_rack(rack_of) + nics + tors).tolist(), float((flows.size_bytes * is_between).sum())


def _runs(loads: Sequence[float], workers: int) -> list[int]:
    """Return the worker of each rack: at least one rack per worker, neighbours together, loads as equal as possible."""
    before = [0.0, *accumulate(loads)]
    cuts = [0]
    for mine in range(1, workers):
        aim = before[-1] * mine / workers
        cuts.append(min(range(cuts[-1] + 1, len(loads) - workers + mine + 1), key=lambda cut: abs(before[cut] - aim)))
    return [bisect_right(cuts, number) - 1 for number in range(len(loads))]


def _share(topology: Topology, owner: Mapping[str, int], switches: Sequence[Sequence[str]], mine: int) -> Share:
    place = {name: number for worker_switches in switches for number, name in enumerate(worker_switches)}
    far = {}
    for link in topology.links:
        for near, end in ((link.a, link.b), (link.b, link.a)):
            if owner.get(near.node) == mine and owner.get(end.node, mine) != mine:
                far[place[near.node], near.number] = FarEnd(owner[end.node], place[end.node], end.number)
    hosts = tuple(host.name for host in topology.hosts if owner[host.switch] == mine)
    return Share(tuple(switches[mine]), hosts, far)
