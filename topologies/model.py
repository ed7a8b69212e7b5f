# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Data model of a network: hosts, switches, links and addresses, independent of Mininet and switch targets.

`TopologyBuilder` builds a topology; it numbers ports and assigns addresses in one pass. The topology is immutable.
Rates and delays are in model units.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network

MAX_EDGE_SWITCHES = 255
MAX_PORT = 509


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
    def hops(self) -> Mapping[str, Mapping[str, int]]:
        """The distance, in links, to each ToR from every switch that reaches it, nearest first."""
        return {switch.name: self._hops_to(switch.name) for switch in self.switches if switch.is_tor}

    def _hops_to(self, tor: str) -> Mapping[str, int]:
        """Return the distances by a breadth-first search from the ToR."""
        distance = {tor: 0}
        queue = deque([tor])
        while queue:
            switch = queue.popleft()
            for port in self.ports[switch]:
                if not port.peer_is_host and port.peer.node not in distance:
                    distance[port.peer.node] = distance[switch] + 1
                    queue.append(port.peer.node)
        return distance

    def hosts_of(self, switch: str) -> tuple[Host, ...]:
        """Return the servers under a ToR, in order of their numbers."""
        return tuple(host for host in self.hosts if host.switch == switch)

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
        return {
            link.a.node if link.a.node in self.host else link.b.node: link
            for link in self.links
            if link.a.node in self.host or link.b.node in self.host
        }


def port_mac(switch_id: int, port: int) -> str:
    """Return the locally administered MAC address of a switch port."""
    raw = bytes((0x06, 0x00)) + switch_id.to_bytes(2, "big") + port.to_bytes(2, "big")
    return raw.hex(":")


@dataclass
class TopologyBuilder:
    """Builder of a topology. Ports are numbered in the order in which links are added."""

    name: str
    parameters: Mapping[str, object]
    pass_latency_ns: int = 0
    bts_latency_ns: int = 0
    _hosts: list[Host] = field(default_factory=list)
    _switches: list[Switch] = field(default_factory=list)
    _links: list[Link] = field(default_factory=list)
    _next_port: dict[str, int] = field(default_factory=dict)
    _host_count: dict[str, int] = field(default_factory=dict)

    def add_switch(self, name: str, *, has_hosts: bool) -> str:
        """Add a switch; a switch with hosts gets the next prefix 10.T.0.0/16."""
        tors = sum(switch.is_tor for switch in self._switches)
        if has_hosts and tors >= MAX_EDGE_SWITCHES:
            raise TopologyError(f"at most {MAX_EDGE_SWITCHES} switches can have hosts")
        prefix = IPv4Network((f"10.{tors + 1}.0.0", 16)) if has_hosts else None
        number = len(self._switches) + 1
        self._switches.append(Switch(name, number, prefix, self.pass_latency_ns, self.bts_latency_ns))
        self._next_port[name] = 1
        return name

    def add_host(self, switch_name: str, rate_bps: int, delay_ns: int) -> str:
        """Add the next host (h1, h2, ...) and its link to its ToR."""
        switch = next(switch for switch in self._switches if switch.name == switch_name)
        assert switch.prefix is not None
        index = self._host_count.get(switch_name, 0) + 1
        self._host_count[switch_name] = index
        name = f"h{len(self._hosts) + 1}"
        ip = switch.prefix.network_address + index
        port = self._take_port(switch_name)
        self._hosts.append(
            Host(
                name=name,
                ip=ip,
                mac=(bytes((0x02, 0x00)) + ip.packed).hex(":"),
                switch=switch_name,
                gateway_ip=switch.prefix.broadcast_address - 1,
                gateway_mac=port_mac(switch.switch_id, port),
                rate_bps=rate_bps,
            )
        )
        self._links.append(Link(Port(name, 0), Port(switch_name, port), rate_bps, delay_ns))
        return name

    def add_link(self, a: str, b: str, rate_bps: int, delay_ns: int) -> None:
        """Add a link between two switches."""
        self._links.append(Link(Port(a, self._take_port(a)), Port(b, self._take_port(b)), rate_bps, delay_ns))

    def build(self) -> Topology:
        return Topology(self.name, dict(self.parameters), tuple(self._hosts), tuple(self._switches), tuple(self._links))

    def _take_port(self, switch: str) -> int:
        number = self._next_port[switch]
        if number > MAX_PORT:
            raise TopologyError(f"switch {switch} would need more than {MAX_PORT} ports")
        self._next_port[switch] = number + 1
        return number
