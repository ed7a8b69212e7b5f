# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of rerouting: after links fail and recover, tables have the shortest paths of the remaining network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from ipaddress import IPv4Network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfc_testbed.testbed.control_plane.commands import next_hop, pipeline_commands
from sfc_testbed.testbed.control_plane.entries import ChangedEntry, Command, TableEntry, Value
from sfc_testbed.testbed.control_plane.rerouting import Rerouting
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.model import Link, Topology
from sfc_testbed.topologies.routes import routes
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.dilation import Dilation

NETWORKS = {
    "clos": shape("clos", {"tors": 3, "spines": 3, "hosts_per_tor": 2}).build(),
    "parallel": shape("clos", {"tors": 2, "spines": 2, "hosts_per_tor": 1, "uplinks": 2}).build(),
    "dumbbell": shape("dumbbell", {"left_hosts": 2}).build(),
}


class _Tables:
    """Model of the two route tables of a switch that executes commands; handles are positions of addition."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self.entries: dict[str, list[TableEntry]] = {"ipv4_lpm": [], "ecmp_members": []}
        self.execute(commands)

    def execute(self, commands: Iterable[Command]) -> None:
        for command in commands:
            if not isinstance(command, (TableEntry, ChangedEntry)) or command.table not in self.entries:
                continue
            rows = self.entries[command.table]
            if isinstance(command, TableEntry):
                assert command.keys not in [row.keys for row in rows]
                rows.append(command)
            else:
                old = rows[command.handle]
                rows[command.handle] = replace(old, action=command.action, parameters=command.parameters)

    def next_hops(self, prefix: IPv4Network) -> list[tuple[Value, ...]]:
        """Return the parameters of next_hop for each member; empty if packets are dropped."""
        [entry] = [row for row in self.entries["ipv4_lpm"] if row.keys == (prefix,)]
        if entry.action == "next_hop":
            return [entry.parameters]
        group, size = entry.parameters
        assert isinstance(size, int)
        members = {row.keys: row.parameters for row in self.entries["ecmp_members"]}
        if size == 0:
            assert (group, 0) not in members
        return [members[group, member] for member in range(size)]


def _between_switches(topology: Topology) -> list[Link]:
    return [link for link in topology.links if not {link.a.node, link.b.node} & topology.host.keys()]


def _check(topology: Topology, tables: dict[str, _Tables], dead: set[Link]) -> None:
    alive = replace(topology, links=tuple(link for link in topology.links if link not in dead))
    new_routes = routes(alive)
    for name, table in routes(topology).items():
        ports = {port.number: port for port in topology.ports[name]}
        expected = {
            route.prefix: [next_hop(topology, name, ports[number]) for number in route.ports]
            for route in new_routes[name]
        }
        for route in table:
            assert tables[name].next_hops(route.prefix) == expected.get(route.prefix, [])


@given(st.sampled_from(sorted(NETWORKS)), st.data())
@settings(max_examples=60, deadline=None)
def test_tables_match_the_remaining_network(name: str, data: st.DataObject) -> None:
    topology = NETWORKS[name]
    tables = {
        switch.name: _Tables(pipeline_commands(topology, switch.name, SwitchSettings(), Dilation(1000), seed=1))
        for switch in topology.switches
    }
    rerouting = Rerouting(topology, SwitchSettings())
    links = st.sets(st.sampled_from(_between_switches(topology)))
    for dead in [*data.draw(st.lists(links, min_size=1, max_size=4)), set[Link]()]:
        for switch, changes in rerouting.around(dead).items():
            tables[switch].execute(changes)
        _check(topology, tables, dead)


def test_unchanged_routes_need_no_commands() -> None:
    """A repeated call has no commands, and neither has a switch whose routes stay."""
    topology = NETWORKS["parallel"]
    rerouting = Rerouting(topology, SwitchSettings())
    dead = _between_switches(topology)[:1]
    assert set(rerouting.around(dead)) == {"tor1", "tor2", "spine1"} - {"tor2"}
    assert rerouting.around(dead) == {}


def test_a_host_keeps_its_route() -> None:
    """A host has only one link, so its packets are lost and counted there."""
    topology = NETWORKS["clos"]
    assert Rerouting(topology, SwitchSettings()).around([topology.host_link["h1"]]) == {}


@pytest.mark.parametrize("dead", [1, 2])
def test_members_are_added_before_the_group_includes_them(dead: int) -> None:
    """A packet between two commands never selects a missing member."""
    topology = NETWORKS["clos"]
    rerouting = Rerouting(topology, SwitchSettings())
    for links in (_between_switches(topology)[:dead], []):
        for changes in rerouting.around(links).values():
            for change in changes:
                if isinstance(change, ChangedEntry) and change.action == "ecmp":
                    added = [entry for entry in changes if isinstance(entry, TableEntry)]
                    members = [entry for entry in added if entry.keys[0] == change.parameters[0]]
                    assert all(changes.index(member) < changes.index(change) for member in members)
