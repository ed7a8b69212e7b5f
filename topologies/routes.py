# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Routes from the wiring: for every switch, which ports lead on a shortest path to each ToR."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from topologies.model import Topology


@dataclass(frozen=True, slots=True)
class Route:
    """A prefix and the ports that lead there; more than one is an ECMP group."""

    prefix: IPv4Network
    ports: tuple[int, ...]


def distances(topology: Topology, destination: str) -> Mapping[str, int]:
    """Hops from every switch to one switch (breadth first)."""
    found = {destination: 0}
    waiting = deque([destination])
    while waiting:
        here = waiting.popleft()
        for port in topology.ports[here]:
            if not port.peer_is_host and port.peer.node not in found:
                found[port.peer.node] = found[here] + 1
                waiting.append(port.peer.node)
    return found


def routes(topology: Topology) -> Mapping[str, tuple[Route, ...]]:
    """The routes of each switch: a /32 for each of its hosts, the /16 of every other ToR over all shortest paths."""
    tables: dict[str, list[Route]] = {switch.name: [] for switch in topology.switches}
    for host in topology.hosts:
        link = topology.host_link[host.name]
        port = link.b if link.a.node == host.name else link.a
        tables[port.node].append(Route(IPv4Network((host.ip, 32)), (port.number,)))
    for tor in topology.switches:
        if tor.prefix is None:
            continue
        hops = distances(topology, tor.name)
        for switch in topology.switches:
            if switch.name == tor.name or switch.name not in hops:
                continue
            ports = tuple(
                port.number
                for port in topology.ports[switch.name]
                if not port.peer_is_host and hops.get(port.peer.node) == hops[switch.name] - 1
            )
            tables[switch.name].append(Route(tor.prefix, ports))
    return {name: tuple(table) for name, table in tables.items()}
