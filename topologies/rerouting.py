# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Routes around dead links: what to tell each switch while it forwards, as control commands.

Entries are modified in place and never deleted, so that a packet between two commands meets the old route or the new
one and no gap: members of a group are right before the group counts them. A prefix that nothing leads to any more
becomes the group without members, of which the data plane drops and counts what comes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from topologies.commands import next_hop
from topologies.model import Link, SwitchPort, Topology
from topologies.routes import Route, routes

_NOWHERE = "0 0"
"""Group and size of the route to where nothing leads: groups count from 1."""


@dataclass
class _Tables:
    """What stands in the tables of one switch. Entries bear the numbers of the order in which they were added."""

    ports: list[tuple[int, ...]]
    """By route, whose place is its handle and, less one, its group."""
    members: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    """(group, member) -> (handle, port)"""


class Rerouting:
    """The routes that all switches of a network have: at first those of `topologies.commands`."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._base = routes(topology)
        self._tables = {name: _first_tables(table) for name, table in self._base.items()}
        self._ports = {name: {port.number: port for port in ports} for name, ports in topology.ports.items()}

    def around(self, dead: Collection[Link]) -> Mapping[str, list[str]]:
        """Commands, by switch, after which packets take shortest paths of the network without these links.

        A host has one link only: its route stays and what is for it is lost there.
        """
        topology = self._topology
        alive = tuple(
            link for link in topology.links if link not in dead or {link.a.node, link.b.node} & topology.host.keys()
        )
        found = routes(replace(topology, links=alive))
        commands = {}
        for name in self._base:
            ports = {route.prefix: route.ports for route in found[name]}
            lines = [
                line
                for place, route in enumerate(self._base[name])
                for line in self._change(name, place, ports.get(route.prefix, ()))
            ]
            if lines:
                commands[name] = lines
        return commands

    def _change(self, switch: str, place: int, ports: tuple[int, ...]) -> Iterator[str]:
        tables = self._tables[switch]
        if tables.ports[place] == ports:
            return
        tables.ports[place] = ports
        if len(ports) == 1:
            yield f"table_modify ipv4_lpm next_hop {place} => {self._next_hop(switch, ports[0])}"
            return
        for member, port in enumerate(ports):
            yield from self._set_member(switch, place + 1, member, port)
        group = f"{place + 1} {len(ports)}" if ports else _NOWHERE
        yield f"table_modify ipv4_lpm ecmp {place} => {group}"

    def _set_member(self, switch: str, group: int, member: int, port: int) -> Iterator[str]:
        members = self._tables[switch].members
        handle, known = members.get((group, member), (len(members), None))
        if known == port:
            return
        members[group, member] = (handle, port)
        parameters = self._next_hop(switch, port)
        if known is None:
            yield f"table_add ecmp_members next_hop {group} {member} => {parameters}"
        else:
            yield f"table_modify ecmp_members next_hop {handle} => {parameters}"

    def _next_hop(self, switch: str, number: int) -> str:
        port: SwitchPort = self._ports[switch][number]
        return next_hop(self._topology, switch, port)


def _first_tables(table: tuple[Route, ...]) -> _Tables:
    tables = _Tables([route.ports for route in table])
    for group, route in enumerate(table, start=1):
        if len(route.ports) > 1:
            for member, port in enumerate(route.ports):
                tables.members[group, member] = (len(tables.members), port)
    return tables
