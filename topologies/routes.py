# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Shortest-path routes: the ports of every switch that lead to each ToR, and the links of paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from sfc_testbed.topologies.model import Link, Port, Topology


@dataclass(frozen=True, slots=True)
class Route:
    """A prefix and the ports that lead to it; several ports form an ECMP group."""

    prefix: IPv4Network
    ports: tuple[int, ...]


def routes(topology: Topology) -> Mapping[str, tuple[Route, ...]]:
    """Return the routes of each switch."""
    return {switch.name: routes_of(topology, switch.name) for switch in topology.switches}


def routes_of(topology: Topology, switch: str) -> tuple[Route, ...]:
    """Return the routes of one switch: a /32 for each of its hosts, and each other ToR's /16 on all shortest paths."""
    port_of = {port.peer.node: port.number for port in topology.ports[switch] if port.peer_is_host}
    local = [Route(IPv4Network((host.ip, 32)), (port_of[host.name],)) for host in topology.hosts_of(switch)]
    return (*local, *_remote_routes(topology, switch))


def _remote_routes(topology: Topology, switch: str) -> Iterator[Route]:
    """Yield the routes to each other ToR's /16 on all shortest paths."""
    between = [port for port in topology.ports[switch] if not port.peer_is_host]
    for tor in topology.switches:
        if tor.prefix is None or tor.name == switch:
            continue
        hops = topology.hops[tor.name]
        if switch in hops:
            nearer = tuple(port.number for port in between if hops.get(port.peer.node) == hops[switch] - 1)
            yield Route(tor.prefix, nearer)


def equal_cost_ports(topology: Topology) -> Mapping[str, tuple[tuple[int, ...], ...]]:
    """Return the different ECMP groups of each switch that has any: ports that share the packets to some ToR."""
    groups = {
        switch.name: tuple(
            dict.fromkeys(route.ports for route in _remote_routes(topology, switch.name) if len(route.ports) > 1)
        )
        for switch in topology.switches
    }
    return {switch: of_switch for switch, of_switch in groups.items() if of_switch}


def ports_between(topology: Topology, src: str, dst: str) -> tuple[Port, ...]:
    """Return both ends of every link on the shortest paths from one host to another, in order of distance."""
    hops = topology.hops[topology.host[dst].switch]
    links: dict[Link, None] = {topology.host_link[src]: None}
    switches = [topology.host[src].switch]
    for switch in switches:
        for port in topology.ports[switch]:
            if not port.peer_is_host and hops.get(port.peer.node) == hops[switch] - 1:
                links[topology.link_at[Port(switch, port.number)]] = None
                if port.peer.node not in switches:
                    switches.append(port.peer.node)
    links[topology.host_link[dst]] = None
    return tuple(end for link in links for end in (link.a, link.b))


class Paths:
    """Shortest paths as links in the order in which a packet crosses them; of equal paths, the first one."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._towards: dict[str, Mapping[str, tuple[Link, ...]]] = {}

    def between(self, src: str, dst: str) -> tuple[Link, ...]:
        """Return the links from one host to another."""
        topology = self._topology
        fabric = self.across_fabric(topology.host[dst].switch)[topology.host[src].switch]
        return (topology.host_link[src], *fabric, topology.host_link[dst])

    def across_fabric(self, tor: str) -> Mapping[str, tuple[Link, ...]]:
        """Return the links to a ToR from every switch that reaches it."""
        if tor not in self._towards:
            self._towards[tor] = self._links_towards(tor)
        return self._towards[tor]

    def _links_towards(self, tor: str) -> Mapping[str, tuple[Link, ...]]:
        topology = self._topology
        hops = topology.hops[tor]
        paths: dict[str, tuple[Link, ...]] = {tor: ()}
        for switch in hops:
            if switch != tor:
                nearer = [port for port in topology.ports[switch] if hops.get(port.peer.node) == hops[switch] - 1]
                paths[switch] = (topology.link_at[Port(switch, nearer[0].number)], *paths[nearer[0].peer.node])
        return paths
