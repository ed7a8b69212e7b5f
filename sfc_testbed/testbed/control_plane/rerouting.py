# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Rerouting around failed links: control commands that update the routes of switches while they forward.

Entries are modified in place or added and never deleted, so that a packet between two commands finds the old or the new
route. A group never changes: a route with new ports gets another group, whose members are written first. A prefix that
has become unreachable gets the group without members; the data plane drops and counts its packets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Network

from sfc_testbed.testbed.control_plane.commands import next_hop
from sfc_testbed.testbed.control_plane.entries import ChangedEntry, Command, RegisterCell, TableEntry, Value
from sfc_testbed.testbed.control_plane.load_balancing import COMPARES_PORTS, member_cells
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.model import Link, Topology
from sfc_testbed.topologies.routes import ecmp_groups, ports_to_tors, routes_of

_NOWHERE = (0, 0)
"""Group and size of the route of an unreachable prefix; real groups are numbered from 1."""


@dataclass
class _Tables:
    """The table entries of one switch. The handle of an entry is its position in the order of addition."""

    ports: dict[IPv4Network, tuple[int, ...]]
    """The ports that lead to the prefix of each ToR."""
    handles: dict[IPv4Network, int]
    """The handle of the route of each prefix. Several ToRs of a large network may share a shorter prefix."""
    groups: dict[tuple[int, ...], int]
    """The group of several ports."""


class Rerouting:
    """The current routes of all switches of a network, initially the routes of `testbed.control_plane.commands`."""

    def __init__(self, topology: Topology, settings: SwitchSettings) -> None:
        self._settings = settings
        self._topology = topology
        self._tables = {switch.name: _first_tables(topology, switch.name) for switch in topology.switches}
        self._ports = {name: {port.number: port for port in ports} for name, ports in topology.ports.items()}

    def around(self, dead: Collection[Link]) -> Mapping[str, list[Command]]:
        """Return the commands for each switch that route packets on shortest paths without these links.

        A host has only one link, so its route stays and its packets are lost at a failed host link.
        """
        topology = self._topology
        alive = tuple(
            link for link in topology.links if link not in dead or {link.a.node, link.b.node} & topology.host.keys()
        )
        remaining = replace(topology, links=alive)
        commands = {}
        for switch, tables in self._tables.items():
            new_ports = ports_to_tors(remaining, switch)
            changes = [
                change
                for prefix, old in tables.ports.items()
                if (new := new_ports.get(prefix, ())) != old
                for change in self._change(switch, prefix, new)
            ]
            if changes:
                commands[switch] = changes
        return commands

    def cells(self, switch: str, settings: SwitchSettings) -> Iterator[RegisterCell]:
        """Adopt new settings, and yield the register cells that they need for the switch's groups."""
        self._settings = settings
        if settings.load_balancing in COMPARES_PORTS:
            for ports, group in self._tables[switch].groups.items():
                yield from member_cells(group, ports)

    def _change(self, switch: str, prefix: IPv4Network, ports: tuple[int, ...]) -> Iterator[Command]:
        tables = self._tables[switch]
        tables.ports[prefix] = ports
        action = "ecmp"
        parameters: tuple[Value, ...] = _NOWHERE
        if len(ports) == 1:
            action = "next_hop"
            parameters = next_hop(self._topology, switch, self._ports[switch][ports[0]])
        elif ports:
            yield from self._new_members(switch, ports)
            parameters = (tables.groups[ports], len(ports))
        if prefix in tables.handles:
            yield ChangedEntry(tables.handles[prefix], "ipv4_lpm", action, parameters)
        else:
            tables.handles[prefix] = len(tables.handles)
            yield TableEntry("ipv4_lpm", action, (prefix,), parameters)

    def _new_members(self, switch: str, ports: tuple[int, ...]) -> Iterator[Command]:
        """Yield the members of the group of these ports, unless the switch has the group already."""
        groups = self._tables[switch].groups
        if ports in groups:
            return
        group = groups[ports] = len(groups) + 1
        if self._settings.load_balancing in COMPARES_PORTS:
            yield from member_cells(group, ports)
        for member, port in enumerate(ports):
            parameters = next_hop(self._topology, switch, self._ports[switch][port])
            yield TableEntry("ecmp_members", "next_hop", (group, member), parameters)


def _first_tables(topology: Topology, switch: str) -> _Tables:
    table = routes_of(topology, switch)
    handles = {route.prefix: place for place, route in enumerate(table)}
    return _Tables(ports_to_tors(topology, switch), handles, ecmp_groups(table))
