# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Routes from the wiring: for every switch, which ports lead on a shortest path to each ToR; the links of a path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from topologies.model import Link, Port, Topology


@dataclass(frozen=True, slots=True)
class Route:
    """A prefix and the ports that lead there; more than one is an ECMP group."""

    prefix: IPv4Network
    ports: tuple[int, ...]


def routes(topology: Topology) -> Mapping[str, tuple[Route, ...]]:
    """The routes of each switch."""
    return {switch.name: routes_of(topology, switch.name) for switch in topology.switches}


def routes_of(topology: Topology, switch: str) -> tuple[Route, ...]:
    """The routes of one: a /32 for each of its hosts, the /16 of every other ToR over all shortest paths."""
    port_of = {port.peer.node: port.number for port in topology.ports[switch] if port.peer_is_host}
    local = [Route(IPv4Network((host.ip, 32)), (port_of[host.name],)) for host in topology.hosts_of(switch)]
    between = [port for port in topology.ports[switch] if not port.peer_is_host]
    remote = []
    for tor in topology.switches:
        if tor.prefix is None or tor.name == switch:
            continue
        hops = topology.hops[tor.name]
        if switch in hops:
            nearer = tuple(port.number for port in between if hops.get(port.peer.node) == hops[switch] - 1)
            remote.append(Route(tor.prefix, nearer))
    return (*local, *remote)


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

    def across_fabric(self, tor: str) -> Mapping[str, tuple[Link, ...]]:
        """From every switch that reaches it to one ToR."""
        if tor not in self._towards:
            self._towards[tor] = self._links_towards(tor)
        return self._towards[tor]

    def _links_towards(self, tor: str) -> Mapping[str, tuple[Link, ...]]:
        topology = self._topology
        hops = topology.hops[tor]
        found: dict[str, tuple[Link, ...]] = {tor: ()}
        for here in hops:
            if here != tor:
                nearer = [port for port in topology.ports[here] if hops.get(port.peer.node) == hops[here] - 1]
                found[here] = (topology.link_at[Port(here, nearer[0].number)], *found[nearer[0].peer.node])
        return found
