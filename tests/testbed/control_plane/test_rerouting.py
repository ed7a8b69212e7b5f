# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of rerouting: after links fail and recover, tables have the shortest paths of the remaining network."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.control_plane.commands import next_hop, pipeline_commands
from testbed.control_plane.rerouting import Rerouting
from testbed.control_plane.settings import SwitchSettings
from topologies.model import Link, Topology
from topologies.routes import routes
from topologies.shapes import shape
from wire.dilation import Dilation

NETWORKS = {
    "clos": shape("clos", {"tors": 3, "spines": 3, "hosts_per_tor": 2}).build(),
    "parallel": shape("clos", {"tors": 2, "spines": 2, "hosts_per_tor": 1, "uplinks": 2}).build(),
    "dumbbell": shape("dumbbell", {"left_hosts": 2}).build(),
}


class _Tables:
    """Model of the two route tables of a switch that executes commands; handles are positions of addition."""

    def __init__(self, lines: list[str]) -> None:
        self.entries: dict[str, list[tuple[str, str]]] = {"ipv4_lpm": [], "ecmp_members": []}
        self.execute(lines)

    def execute(self, lines: list[str]) -> None:
        for line in lines:
            verb, table, *_ = line.split()
            if table not in self.entries:
                continue
            left, _, right = line.partition(" => ")
            words = left.split()
            rows = self.entries[table]
            if verb == "table_add":
                assert " ".join(words[3:]) not in dict(rows)
                rows.append((" ".join(words[3:]), f"{words[2]} {right}"))
            else:
                assert verb == "table_modify"
                rows[int(words[3])] = (rows[int(words[3])][0], f"{words[2]} {right}")

    def next_hops(self, prefix: str) -> list[str]:
        """Return the parameters of next_hop for each member; empty if packets are dropped."""
        action, *parameters = dict(self.entries["ipv4_lpm"])[prefix].split()
        if action == "next_hop":
            return [" ".join(parameters)]
        group, size = map(int, parameters)
        members = dict(self.entries["ecmp_members"])
        if size == 0:
            assert f"{group} 0" not in members
        return [members[f"{group} {member}"].removeprefix("next_hop ") for member in range(size)]


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
            assert tables[name].next_hops(str(route.prefix)) == expected.get(route.prefix, [])


@given(st.sampled_from(sorted(NETWORKS)), st.data())
@settings(max_examples=60, deadline=None)
def test_tables_match_the_remaining_network(name: str, data: st.DataObject) -> None:
    topology = NETWORKS[name]
    tables = {
        switch.name: _Tables(pipeline_commands(topology, switch.name, SwitchSettings(), Dilation(1000), seed=1))
        for switch in topology.switches
    }
    rerouting = Rerouting(topology)
    links = st.sets(st.sampled_from(_between_switches(topology)))
    for dead in [*data.draw(st.lists(links, min_size=1, max_size=4)), set[Link]()]:
        for switch, lines in rerouting.around(dead).items():
            tables[switch].execute(lines)
        _check(topology, tables, dead)


def test_unchanged_routes_need_no_commands() -> None:
    """A repeated call has no commands, and neither has a switch whose routes stay."""
    topology = NETWORKS["parallel"]
    rerouting = Rerouting(topology)
    dead = _between_switches(topology)[:1]
    assert set(rerouting.around(dead)) == {"tor1", "tor2", "spine1"} - {"tor2"}
    assert rerouting.around(dead) == {}


def test_a_host_keeps_its_route() -> None:
    """A host has only one link, so its packets are lost and counted there."""
    topology = NETWORKS["clos"]
    assert Rerouting(topology).around([topology.host_link["h1"]]) == {}


@pytest.mark.parametrize("dead", [1, 2])
def test_members_are_added_before_the_group_includes_them(dead: int) -> None:
    """A packet between two commands never selects a missing member."""
    topology = NETWORKS["clos"]
    rerouting = Rerouting(topology)
    for links in (_between_switches(topology)[:dead], []):
        for lines in rerouting.around(links).values():
            group_lines = [line for line in lines if " ipv4_lpm ecmp " in line]
            for line in group_lines:
                group = line.split(" => ")[1].split()[0]
                members = [text for text in lines if f" {group} " in text.split(" => ")[0] and "table_add" in text]
                assert all(lines.index(member) < lines.index(line) for member in members)
