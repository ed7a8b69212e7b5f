# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Shortest-path routes: the ports of every switch that lead to each ToR, and the links of paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from math import inf

from sfc_testbed.topologies.distances import distances_of
from sfc_testbed.topologies.model import MAX_WIDE_TORS, Link, Port, Topology, TopologyError

_ANY = -1
"""Label of a ToR for which every route is right: the switch itself, and addresses that no ToR has."""
_NONE = -2
"""Label of a ToR that the switch does not reach."""
_MIXED = -3


@dataclass(frozen=True, slots=True)
class Route:
    """A prefix and the ports that lead to it; several ports form an ECMP group."""

    prefix: IPv4Network
    ports: tuple[int, ...]


def routes(topology: Topology) -> Mapping[str, tuple[Route, ...]]:
    return {switch.name: routes_of(topology, switch.name) for switch in topology.switches}


def routes_of(topology: Topology, switch: str) -> tuple[Route, ...]:
    """Return the routes of one switch: a /32 for each of its hosts, and each other ToR's prefix on all shortest paths.

    In a network of very many ToRs, neighbouring prefixes with the same ports have one route.
    """
    port_of = {port.peer.node: port.number for port in topology.ports[switch] if port.peer_is_host}
    local = [Route(IPv4Network((host.ip, 32)), (port_of[host.name],)) for host in topology.hosts_of(switch)]
    if len(topology.tors) > MAX_WIDE_TORS:
        return (*local, *_aggregated(topology, switch))
    return (*local, *(Route(prefix, ports) for prefix, ports in ports_to_tors(topology, switch).items()))


def ports_to_tors(topology: Topology, switch: str) -> dict[IPv4Network, tuple[int, ...]]:
    """Return the ports on shortest paths to each other ToR that the switch reaches, by the ToR's prefix."""
    labels, groups = _labels(topology, switch)
    return {
        tor.prefix: groups[label]
        for tor, label in zip(topology.tors, labels, strict=True)
        if label >= 0 and tor.prefix is not None
    }


def _labels(topology: Topology, switch: str) -> tuple[Sequence[int], Sequence[tuple[int, ...]]]:
    """Return a label for each ToR, and the ports of each label from 0."""
    numbers = [port.number for port in distances_of(topology).ports(switch)]
    groups: dict[tuple[int, ...], int] = {}
    by_row: dict[bytes, int] = {}
    labels = []
    for tor, row in zip(topology.tors, distances_of(topology).nearer(switch), strict=True):
        key = row.tobytes()
        if key not in by_row:
            ports = tuple(number for number, is_nearer in zip(numbers, row.tolist(), strict=True) if is_nearer)
            by_row[key] = groups.setdefault(ports, len(groups)) if ports else _NONE
        labels.append(_ANY if tor.name == switch else by_row[key])
    return labels, tuple(groups)


def _aggregated(topology: Topology, switch: str) -> Iterator[Route]:
    """Yield one route for each largest aligned block of prefixes with the same ports."""
    labels, groups = _labels(topology, switch)
    size = 1 << (len(labels) - 1).bit_length()
    levels = [[*labels, *[_ANY] * (size - len(labels))]]
    while len(levels[-1]) > 1:
        below = levels[-1]
        levels.append([_merged(below[place], below[place + 1]) for place in range(0, len(below), 2)])
    first = topology.tors[0].prefix
    assert first is not None
    waiting = [(len(levels) - 1, 0)]
    while waiting:
        level, place = waiting.pop()
        label = levels[level][place]
        if label == _MIXED:
            waiting += [(level - 1, 2 * place + 1), (level - 1, 2 * place)]
        elif label >= 0:
            begin = int(first.network_address) + (place << level) * first.num_addresses
            yield Route(IPv4Network((begin, first.prefixlen - level)), groups[label])


def _merged(one: int, other: int) -> int:
    """Return the label of two neighbouring blocks."""
    if one == other or other == _ANY:
        return one
    return other if one == _ANY else _MIXED


def equal_cost_ports(topology: Topology) -> Mapping[str, tuple[tuple[int, ...], ...]]:
    """Return the different ECMP groups of each switch that has any: ports that share the packets to some ToR."""
    groups = {
        switch.name: tuple(ports for ports in _labels(topology, switch.name)[1] if len(ports) > 1)
        for switch in topology.switches
    }
    return {switch: of_switch for switch, of_switch in groups.items() if of_switch}


def ecmp_groups(table: Sequence[Route]) -> dict[tuple[int, ...], int]:
    """Return the number of the ECMP group, from 1, of each set of ports over which several ports lead to a prefix."""
    groups: dict[tuple[int, ...], int] = {}
    for route in table:
        if len(route.ports) > 1:
            groups.setdefault(route.ports, len(groups) + 1)
    return groups


def ports_between(topology: Topology, src: str, dst: str) -> tuple[Port, ...]:
    """Return both ends of every link on the shortest paths from one host to another, in order of distance."""
    hops = topology.hops_to(topology.host[dst].switch)
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


def hops_between(topology: Topology, src: str, dst: str) -> tuple[tuple[Port, ...], ...]:
    """Return the ports from which packets leave switches on shortest paths from one host to another, hop by hop.

    A hop has several ports if equal-cost paths differ there.
    """
    hops = topology.hops_to(topology.host[dst].switch)
    switches: dict[str, None] = {topology.host[src].switch: None}
    path: list[tuple[Port, ...]] = []
    while switches and topology.host[dst].switch not in switches:
        nearer = [
            (Port(switch, port.number), port.peer.node)
            for switch in switches
            for port in topology.ports[switch]
            if not port.peer_is_host and hops.get(port.peer.node, inf) == hops.get(switch, inf) - 1
        ]
        path.append(tuple(port for port, _ in nearer))
        switches = dict.fromkeys(peer for _, peer in nearer)
    return (*path, (topology.tor_port(dst),))


class Paths:
    """Shortest paths as links in the order in which a packet crosses them; of equal paths, the first one."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._steps: dict[tuple[str, str], tuple[Link, str]] = {}
        self._towards: dict[str, Mapping[str, tuple[Link, ...]]] = {}

    def between(self, src: str, dst: str) -> tuple[Link, ...]:
        """Return the links from one host to another."""
        topology = self._topology
        switch, tor = topology.host[src].switch, topology.host[dst].switch
        links = [topology.host_link[src]]
        while switch != tor:
            link, switch = self._onward(switch, tor)
            links.append(link)
        return (*links, topology.host_link[dst])

    def _onward(self, switch: str, tor: str) -> tuple[Link, str]:
        """Return the first link on the way from a switch to a ToR, and the switch at its end."""
        place = (switch, tor)
        if place not in self._steps:
            hops = distances_of(self._topology).to(tor)
            nearer = (
                port
                for port in self._topology.ports[switch]
                if not port.peer_is_host and hops(port.peer.node) == hops(switch) - 1
            )
            port = next(nearer, None)
            if port is None:
                raise TopologyError(f"there is no path from {switch} to {tor}")
            self._steps[place] = (self._topology.link_at[Port(switch, port.number)], port.peer.node)
        return self._steps[place]

    def across_fabric(self, tor: str) -> Mapping[str, tuple[Link, ...]]:
        """Return the links to a ToR from every switch that reaches it."""
        if tor not in self._towards:
            self._towards[tor] = self._links_towards(tor)
        return self._towards[tor]

    def _links_towards(self, tor: str) -> Mapping[str, tuple[Link, ...]]:
        topology = self._topology
        hops = topology.hops_to(tor)
        paths: dict[str, tuple[Link, ...]] = {tor: ()}
        for switch in hops:
            if switch != tor:
                nearer = next(port for port in topology.ports[switch] if hops.get(port.peer.node) == hops[switch] - 1)
                paths[switch] = (topology.link_at[Port(switch, nearer.number)], *paths[nearer.peer.node])
        return paths
