# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Rerouting around failed links: control commands that update the routes of switches while they forward.

Entries are modified in place and never deleted, so that a packet between two commands finds the old or the new route.
The members of a group are therefore written before the group's size. A prefix that has become unreachable gets the
group without members; the data plane drops and counts its packets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sfc_testbed.testbed.control_plane.commands import next_hop
from sfc_testbed.testbed.control_plane.entries import ChangedEntry, Command, RegisterCell, TableEntry
from sfc_testbed.testbed.control_plane.load_balancing import COMPARES_PORTS, member_cell
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.model import Link, Topology
from sfc_testbed.topologies.routes import Route, routes

_NOWHERE = (0, 0)
"""Group and size of the route of an unreachable prefix; real groups are numbered from 1."""


@dataclass
class _Tables:
    """The table entries of one switch. The handle of an entry is its position in the order of addition."""

    ports: list[tuple[int, ...]]
    """The ports of each route. The index of a route is its handle, and its group number is the index plus one."""
    members: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    """(group, member) -> (handle, port)"""


class Rerouting:
    """The current routes of all switches of a network, initially the routes of `testbed.control_plane.commands`."""

    def __init__(self, topology: Topology, settings: SwitchSettings) -> None:
        self._settings = settings
        self._topology = topology
        self._base = routes(topology)
        self._tables = {name: _first_tables(table) for name, table in self._base.items()}
        self._ports = {name: {port.number: port for port in ports} for name, ports in topology.ports.items()}

    def around(self, dead: Collection[Link]) -> Mapping[str, list[Command]]:
        """Return the commands for each switch that route packets on shortest paths without these links.

        A host has only one link, so its route stays and its packets are lost at a failed host link.
        """
        topology = self._topology
        alive = tuple(
            link for link in topology.links if link not in dead or {link.a.node, link.b.node} & topology.host.keys()
        )
        new_routes = routes(replace(topology, links=alive))
        commands = {}
        for name in self._base:
            ports = {route.prefix: route.ports for route in new_routes[name]}
            changes = [
                change
                for place, route in enumerate(self._base[name])
                for change in self._change(name, place, ports.get(route.prefix, ()))
            ]
            if changes:
                commands[name] = changes
        return commands

    def cells(self, switch: str, settings: SwitchSettings) -> Iterator[RegisterCell]:
        """Adopt new settings, and yield the register cells that they need for the switch's current routes."""
        self._settings = settings
        if settings.load_balancing in COMPARES_PORTS:
            for (group, member), (_, port) in self._tables[switch].members.items():
                yield member_cell(group, member, port)

    def _change(self, switch: str, place: int, ports: tuple[int, ...]) -> Iterator[Command]:
        tables = self._tables[switch]
        if tables.ports[place] == ports:
            return
        tables.ports[place] = ports
        if len(ports) == 1:
            parameters = next_hop(self._topology, switch, self._ports[switch][ports[0]])
            yield ChangedEntry(place, "ipv4_lpm", "next_hop", parameters)
            return
        for member, port in enumerate(ports):
            yield from self._set_member(switch, place + 1, member, port)
        group = (place + 1, len(ports)) if ports else _NOWHERE
        yield ChangedEntry(place, "ipv4_lpm", "ecmp", group)

    def _set_member(self, switch: str, group: int, member: int, port: int) -> Iterator[Command]:
        members = self._tables[switch].members
        handle, old_port = members.get((group, member), (len(members), None))
        if old_port == port:
            return
        members[group, member] = (handle, port)
        if self._settings.load_balancing in COMPARES_PORTS:
            yield member_cell(group, member, port)
        parameters = next_hop(self._topology, switch, self._ports[switch][port])
        if old_port is None:
            yield TableEntry("ecmp_members", "next_hop", (group, member), parameters)
        else:
            yield ChangedEntry(handle, "ecmp_members", "next_hop", parameters)


def _first_tables(table: tuple[Route, ...]) -> _Tables:
    tables = _Tables([route.ports for route in table])
    for group, route in enumerate(table, start=1):
        if len(route.ports) > 1:
            for member, port in enumerate(route.ports):
                tables.members[group, member] = (len(tables.members), port)
    return tables
