# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Routes from the wiring: for every switch, which ports lead on a shortest path to each ToR; the links of a path."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from topologies.model import Link, Port, Topology


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


class Paths:
    """Shortest paths between hosts as links in the order in which a packet crosses them, the first of equals."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._towards: dict[str, Mapping[str, tuple[Link, ...]]] = {}

    def between(self, src: str, dst: str) -> tuple[Link, ...]:
        """From one host to another."""
        topology = self._topology
        fabric = self.across_fabric(topology.host[dst].switch)[topology.host[src].switch]
        return (topology.host_link[src], *fabric, topology.host_link[dst])

    def across_fabric(self, target: str) -> Mapping[str, tuple[Link, ...]]:
        """From every switch that reaches it to one switch."""
        if target not in self._towards:
            self._towards[target] = self._links_towards(target)
        return self._towards[target]

    def _links_towards(self, target: str) -> Mapping[str, tuple[Link, ...]]:
        topology = self._topology
        hops = distances(topology, target)
        found: dict[str, tuple[Link, ...]] = {target: ()}
        for here in sorted(hops, key=hops.__getitem__):
            if here != target:
                nearer = [port for port in topology.ports[here] if hops.get(port.peer.node) == hops[here] - 1]
                found[here] = (topology.link_at[Port(here, nearer[0].number)], *found[nearer[0].peer.node])
        return found
