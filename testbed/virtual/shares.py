# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Who runs what of a network: racks with their hosts in runs of neighbours, the other switches dealt out in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from testbed.errors import UsageError
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


def shares(topology: Topology, workers: int) -> list[Share]:
    """One for each worker; their hosts one after the other are those of the topology. UsageError if there are too few
    racks."""
    racks = list(dict.fromkeys(host.switch for host in topology.hosts))
    if workers > len(racks):
        raise UsageError(f"--workers {workers}: the network has {len(racks)} racks, and a rack is not divided")
    owner = {rack: number * workers // len(racks) for number, rack in enumerate(racks)}
    others = [switch.name for switch in topology.switches if switch.name not in owner]
    owner |= {name: number % workers for number, name in enumerate(others)}
    switches = [[each.name for each in topology.switches if owner[each.name] == mine] for mine in range(workers)]
    return [_share(topology, owner, switches, mine) for mine in range(workers)]


def _share(topology: Topology, owner: Mapping[str, int], switches: Sequence[Sequence[str]], mine: int) -> Share:
    place = {name: number for own in switches for number, name in enumerate(own)}
    far = {}
    for link in topology.links:
        for near, end in ((link.a, link.b), (link.b, link.a)):
            if owner.get(near.node) == mine and owner.get(end.node, mine) != mine:
                far[place[near.node], near.number] = FarEnd(owner[end.node], place[end.node], end.number)
    hosts = tuple(host.name for host in topology.hosts if owner[host.switch] == mine)
    return Share(tuple(switches[mine]), hosts, far)
