# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Data model of a network: hosts, switches, links and addresses, independent of Mininet and switch targets.

`TopologyBuilder` builds a topology; it numbers ports and assigns addresses in one pass. The topology is immutable.
Rates and delays are in model units.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import Any, TypeVar

Derived = TypeVar("Derived")

MAX_PORT = 509
"""The highest port of a switch: v1model's port numbers have 9 bits, 510 is for recirculation and 511 for drops."""
MAX_HOSTS, MAX_SWITCHES = 65_536, 16_384
"""Our limits, so that a typing error does not fill the memory. A BTS and the MAC addresses of ports hold the
number of a switch in 16 bits."""
MAX_PLANES = 16
"""Our limit of the planes of a network."""
_WIDE_PREFIX, _NARROW_PREFIX = 16, 22
"""Lengths of the prefixes of ToRs. A /22 holds more hosts than a switch has ports, and 10.0.0.0/8 has 16,384."""
MAX_WIDE_TORS = 255
"""The most ToRs with a prefix of 16 bits each, 10.1.0.0/16 to 10.255.0.0/16."""


class TopologyError(ValueError):
    """A network that cannot be built; the message is one line."""


@dataclass(frozen=True, slots=True)
class Host:
    """A server with one NIC. The port of its ToR is its gateway for every destination."""

    name: str
    ip: IPv4Address
    mac: str
    switch: str
    gateway_ip: IPv4Address
    gateway_mac: str
    rate_bps: int
    """Rate of the host's link and therefore of its NIC."""


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch. A switch with servers is a ToR and has the prefix of their addresses."""

    name: str
    switch_id: int
    prefix: IPv4Network | None
    pass_latency_ns: int = 0
    """Latency of one pass through the pipeline, in addition to the link delays."""
    bts_latency_ns: int = 0
    """Time from the packet that triggers a BTS until the BTS is on its way to a port: mirroring and a second pass."""

    @property
    def is_tor(self) -> bool:
        return self.prefix is not None


@dataclass(frozen=True, slots=True)
class Port:
    """An end of a link: node name and port number (from 1 at switches; a host's only port is 0)."""

    node: str
    number: int


@dataclass(frozen=True, slots=True)
class Link:
    """A full-duplex link: rate per direction in bit/s, one-way propagation delay in ns."""

    a: Port
    b: Port
    rate_bps: int
    delay_ns: int

    def other(self, end: Port) -> Port:
        """Return the end opposite to one end."""
        return self.b if self.a == end else self.a


@dataclass(frozen=True, slots=True)
class SwitchPort:
    """A port of a switch, and the port at the other end of its link."""

    number: int
    peer: Port
    peer_is_host: bool
    rate_bps: int
    delay_ns: int


@dataclass(frozen=True)
class Topology:
    """A whole network. `name` and `parameters` are the shape and the parameters from which it was built."""

    name: str
    parameters: Mapping[str, object]
    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    links: tuple[Link, ...]
    notes: tuple[str, ...] = ()
    """Sentences about how the file of the network was read."""
    planes: int = 1
    """The number of equal networks without links between them. Server i has host i of each plane as a NIC."""

    @cached_property
    def host(self) -> Mapping[str, Host]:
        return {host.name: host for host in self.hosts}

    @cached_property
    def switch(self) -> Mapping[str, Switch]:
        return {switch.name: switch for switch in self.switches}

    @cached_property
    def ports(self) -> Mapping[str, tuple[SwitchPort, ...]]:
        """The ports of each switch, by number."""
        ports_by_switch: dict[str, list[SwitchPort]] = {switch.name: [] for switch in self.switches}
        for link in self.links:
            for end, peer in ((link.a, link.b), (link.b, link.a)):
                if end.node in ports_by_switch:
                    port = SwitchPort(end.number, peer, peer.node in self.host, link.rate_bps, link.delay_ns)
                    ports_by_switch[end.node].append(port)
        return {name: tuple(sorted(ports, key=lambda port: port.number)) for name, ports in ports_by_switch.items()}

    @cached_property
    def tors(self) -> tuple[Switch, ...]:
        return tuple(switch for switch in self.switches if switch.is_tor)

    @property
    def racks(self) -> tuple[tuple[Host, ...], ...]:
        """The servers under each ToR."""
        return tuple(self.hosts_of(tor.name) for tor in self.tors)

    @cached_property
    def first_plane(self) -> Topology:
        """The network of the first plane, which represents the servers."""
        if self.planes == 1:
            return self
        hosts = self.hosts[: len(self.hosts) // self.planes]
        switches = self.switches[: len(self.switches) // self.planes]
        names = {*(host.name for host in hosts), *(switch.name for switch in switches)}
        links = tuple(link for link in self.links if link.a.node in names)
        return replace(self, hosts=hosts, switches=switches, links=links, planes=1)

    @cached_property
    def plane(self) -> Mapping[str, int]:
        """The plane of each host, from 0."""
        size = len(self.hosts) // self.planes
        return {host.name: number // size for number, host in enumerate(self.hosts)}

    def hosts_in_plane_of(self, host: str) -> tuple[Host, ...]:
        """Return the hosts in the plane of a host: those that it can reach, and itself."""
        size, plane = len(self.hosts) // self.planes, self.plane[host]
        return self.hosts[plane * size : (plane + 1) * size]

    def derived(self, kind: Callable[[Topology], Derived]) -> Derived:
        """Return an object that a class of another module makes of this network. It is made once and kept."""
        if kind not in self._derived:
            self._derived[kind] = kind(self)
        made: Derived = self._derived[kind]
        return made

    @cached_property
    def _derived(self) -> dict[object, Any]:
        return {}

    def hops_to(self, tor: str) -> Mapping[str, int]:
        """Return the distance, in links, to a ToR from every switch that reaches it, nearest first."""
        if tor not in self._hops:
            self._hops[tor] = self.hops_to_any([tor])
        return self._hops[tor]

    @cached_property
    def _hops(self) -> dict[str, Mapping[str, int]]:
        return {}

    def hops_to_any(self, switches: Iterable[str]) -> Mapping[str, int]:
        """Return the distance, in links, to the nearest of some switches, from every switch that reaches one."""
        distance = dict.fromkeys(switches, 0)
        queue = deque(distance)
        while queue:
            switch = queue.popleft()
            for port in self.ports[switch]:
                if not port.peer_is_host and port.peer.node not in distance:
                    distance[port.peer.node] = distance[switch] + 1
                    queue.append(port.peer.node)
        return distance

    def hosts_of(self, switch: str) -> tuple[Host, ...]:
        """Return the servers under a ToR, in order of their numbers."""
        return self._hosts_of.get(switch, ())

    @cached_property
    def _hosts_of(self) -> Mapping[str, tuple[Host, ...]]:
        hosts: dict[str, list[Host]] = {}
        for host in self.hosts:
            hosts.setdefault(host.switch, []).append(host)
        return {switch: tuple(under) for switch, under in hosts.items()}

    @cached_property
    def link_at(self) -> Mapping[Port, Link]:
        """The link at each port."""
        return {end: link for link in self.links for end in (link.a, link.b)}

    def departure_delay_ns(self, end: Port) -> int:
        """Return the delay from a port to the other end of its link: the sending switch's pipeline and propagation."""
        switch = self.switch.get(end.node)
        return self.link_at[end].delay_ns + (switch.pass_latency_ns if switch else 0)

    @cached_property
    def link_rates_bps(self) -> tuple[int, ...]:
        """The different rates of links, from the lowest."""
        return tuple(sorted({link.rate_bps for link in self.links}))

    @cached_property
    def host_link(self) -> Mapping[str, Link]:
        return {end.node: link for link in self.links for end in (link.a, link.b) if end.node in self.host}

    def tor_port(self, host: str) -> Port:
        """Return the port of a ToR that leads to one of its servers."""
        return self.host_link[host].other(Port(host, 0))


def port_mac(switch_id: int, port: int) -> str:
    """Return the locally administered MAC address of a switch port."""
    raw = bytes((0x06, 0x00)) + switch_id.to_bytes(2, "big") + port.to_bytes(2, "big")
    return raw.hex(":")


@dataclass(frozen=True, slots=True)
class _PlannedHost:
    """A host without its addresses, which depend on the number of ToRs."""

    name: str
    switch: str
    port: int
    rate_bps: int


@dataclass
class TopologyBuilder:
    """Builder of a topology. Ports are numbered in the order in which links are added, unless a link names them."""

    name: str
    parameters: Mapping[str, object]
    pass_latency_ns: int = 0
    bts_latency_ns: int = 0
    _hosts: list[_PlannedHost] = field(default_factory=list)
    _switches: dict[str, bool] = field(default_factory=dict)
    """Whether each switch has hosts."""
    _latencies_ns: dict[str, int] = field(default_factory=dict)
    """The latencies of switches that differ from `pass_latency_ns`."""
    _links: list[Link] = field(default_factory=list)
    _next_port: dict[str, int] = field(default_factory=dict)
    _tors: int = 0
    planes: int = 1
    """The number of planes. `repeat` makes them; otherwise each has an equal part of the hosts and of the switches."""

    def repeat(self, planes: int) -> None:
        """Repeat all nodes and links so that there are `planes` equal networks; plane 2 of h1 is h1p2."""
        switches, hosts, links = dict(self._switches), list(self._hosts), list(self._links)
        for plane in range(2, planes + 1):
            for name, has_hosts in switches.items():
                copy = self.add_switch(
                    f"{name}p{plane}", has_hosts=has_hosts, pass_latency_ns=self._latencies_ns.get(name)
                )
                self._next_port[copy] = self._next_port[name]
            if len(self._hosts) + len(hosts) > MAX_HOSTS:
                raise TopologyError(f"a network has at most {MAX_HOSTS} hosts")
            self._hosts += [
                replace(host, name=f"{host.name}p{plane}", switch=f"{host.switch}p{plane}") for host in hosts
            ]
            self._links += [
                replace(
                    link,
                    a=Port(f"{link.a.node}p{plane}", link.a.number),
                    b=Port(f"{link.b.node}p{plane}", link.b.number),
                )
                for link in links
            ]
        self.planes = planes

    def add_switch(self, name: str, *, has_hosts: bool, pass_latency_ns: int | None = None) -> str:
        """Add a switch; one with hosts gets a prefix for their addresses. The builder has the default latency."""
        if len(self._switches) == MAX_SWITCHES:
            raise TopologyError(f"a network has at most {MAX_SWITCHES} switches")
        self._tors += has_hosts
        self._switches[name] = has_hosts
        if pass_latency_ns is not None:
            self._latencies_ns[name] = pass_latency_ns
        self._next_port[name] = 1
        return name

    def add_host(
        self, switch_name: str, rate_bps: int, delay_ns: int, *, name: str | None = None, port: int | None = None
    ) -> str:
        """Add the next host (h1, h2, ..., or a given name) and its link to its ToR."""
        assert self._switches[switch_name]
        if len(self._hosts) == MAX_HOSTS:
            raise TopologyError(f"a network has at most {MAX_HOSTS} hosts")
        name = f"h{len(self._hosts) + 1}" if name is None else name
        number = self._take_port(switch_name) if port is None else port
        self._hosts.append(_PlannedHost(name, switch_name, number, rate_bps))
        self._links.append(Link(Port(name, 0), Port(switch_name, number), rate_bps, delay_ns))
        return name

    def add_link(self, a: str, b: str, rate_bps: int, delay_ns: int, *, ports: tuple[int, int] | None = None) -> None:
        """Add a link between two switches, at the next free port of each or at these ports."""
        a_port, b_port = (self._take_port(a), self._take_port(b)) if ports is None else ports
        self._links.append(Link(Port(a, a_port), Port(b, b_port), rate_bps, delay_ns))

    def build(self, notes: Sequence[str] = ()) -> Topology:
        switches = tuple(self._numbered_switches())
        hosts = tuple(self._addressed_hosts({switch.name: switch for switch in switches}))
        return Topology(
            self.name, dict(self.parameters), hosts, switches, tuple(self._links), tuple(notes), self.planes
        )

    def _numbered_switches(self) -> Iterator[Switch]:
        tor = 0
        for number, (name, has_hosts) in enumerate(self._switches.items(), start=1):
            prefix = _prefix_of(tor, self._tors) if has_hosts else None
            tor += has_hosts
            latency_ns = self._latencies_ns.get(name, self.pass_latency_ns)
            yield Switch(name, number, prefix, latency_ns, self.bts_latency_ns)

    def _addressed_hosts(self, switches: Mapping[str, Switch]) -> Iterator[Host]:
        counts: dict[str, int] = {}
        for planned in self._hosts:
            switch = switches[planned.switch]
            assert switch.prefix is not None
            index = counts[switch.name] = counts.get(switch.name, 0) + 1
            ip = switch.prefix.network_address + index
            yield Host(
                name=planned.name,
                ip=ip,
                mac=(bytes((0x02, 0x00)) + ip.packed).hex(":"),
                switch=switch.name,
                gateway_ip=switch.prefix.broadcast_address - 1,
                gateway_mac=port_mac(switch.switch_id, planned.port),
                rate_bps=planned.rate_bps,
            )

    def _take_port(self, switch: str) -> int:
        number = self._next_port[switch]
        if number > MAX_PORT:
            raise TopologyError(f"switch {switch} would need more than {MAX_PORT} ports")
        self._next_port[switch] = number + 1
        return number


def _prefix_of(tor: int, tors: int) -> IPv4Network:
    """Return the prefix of a ToR by its position: 10.T.0.0/16 from T = 1, or a /22 if there are too many ToRs."""
    if tors <= MAX_WIDE_TORS:
        return IPv4Network((f"10.{tor + 1}.0.0", _WIDE_PREFIX))
    return IPv4Network((int(IPv4Address("10.0.0.0")) + (tor << 32 - _NARROW_PREFIX), _NARROW_PREFIX))
