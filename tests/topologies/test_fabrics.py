# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of large fabrics: counts, paths, and routes of networks with more ToRs than have a /16."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sfc_testbed.topologies.distances import distances_of
from sfc_testbed.topologies.model import Link, Port, Topology
from sfc_testbed.topologies.physics import network_physics
from sfc_testbed.topologies.routes import Paths, ports_to_tors, routes_of
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.units import bandwidth_delay_bytes
from tests.topologies.files.networks import network
from tests.topologies.one_path import path_physics


@pytest.mark.parametrize("k", [2, 4, 8])
def test_a_fat_tree_has_k_ports_on_every_switch(k: int) -> None:
    built = shape("fat-tree", {"k": k}).build()
    assert len(built.hosts) == k**3 // 4
    assert len(built.switches) == 5 * k**2 // 4
    assert {len(ports) for ports in built.ports.values()} == {k}
    assert len(built.link_rates_bps) == 1
    assert len(Paths(built).between("h1", built.hosts[-1].name)) == 6


def test_an_odd_fat_tree_is_refused() -> None:
    with pytest.raises(ValidationError, match="must be even"):
        shape("fat-tree", {"k": 5})


def test_nic_i_of_every_server_of_a_pod_is_on_rail_i() -> None:
    """NICs of one rail meet at their switch; other NICs meet at a spine."""
    built = shape("rail", {"pods": 2, "servers_per_pod": 3, "nics_per_server": 4, "spines": 2}).build()
    assert len(built.hosts) == 24
    assert [host.switch for host in built.hosts[:5]] == ["rail1", "rail2", "rail3", "rail4", "rail1"]
    assert built.hosts[12].switch == "rail5"
    assert len(Paths(built).between("h1", "h5")) == 2
    assert len(Paths(built).between("h1", "h2")) == 4
    assert {len(built.hosts_of(switch.name)) for switch in built.tors} == {3}


@given(a=st.integers(1, 5), h=st.integers(1, 3), data=st.data())
@settings(max_examples=25, deadline=None)
def test_every_two_groups_of_a_dragonfly_have_the_same_number_of_links(a: int, h: int, data: st.DataObject) -> None:
    groups = data.draw(st.integers(2, a * h + 1))
    built = shape("dragonfly", {"routers_per_group": a, "global_links": h, "groups": groups}).build()
    group = {switch.name: number // a for number, switch in enumerate(built.switches)}
    between = Counter(
        frozenset((group[link.a.node], group[link.b.node]))
        for link in built.links
        if link.a.node in group and group[link.a.node] != group[link.b.node]
    )
    assert len(between) == groups * (groups - 1) // 2
    assert set(between.values()) == {a * h // (groups - 1)}
    used = Counter(end.node for link in built.links if link.delay_ns == 5_000 for end in (link.a, link.b))
    assert max(used.values()) <= h
    assert network_physics(built).most_switches <= 4


def test_a_dragonfly_has_at_most_ah_plus_1_groups() -> None:
    assert len(shape("dragonfly", {}).build().hosts) == 4 * 2 * 9
    with pytest.raises(ValidationError, match="must be from 2 to routers_per_group"):
        shape("dragonfly", {"groups": 10})


def _looked_up(topology: Topology, switch: str) -> dict[IPv4Network, tuple[int, ...]]:
    """Return the ports of the longest matching route for each ToR."""
    table = sorted(routes_of(topology, switch), key=lambda route: -route.prefix.prefixlen)
    found = {}
    for tor in topology.tors:
        assert tor.prefix is not None
        route = next((route for route in table if tor.prefix.subnet_of(route.prefix)), None)
        if tor.name != switch and route is not None:
            found[tor.prefix] = route.ports
    return found


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("clos", {"tors": 300, "hosts_per_tor": 1, "spines": 2}),
        ("three-tier", {"pods": 33, "tors_per_pod": 9, "aggs_per_pod": 2, "cores_per_plane": 2, "hosts_per_tor": 2}),
        ("dragonfly", {"routers_per_group": 8, "global_links": 4, "hosts_per_router": 1}),
    ],
)
def test_shared_routes_lead_where_the_route_of_each_tor_leads(name: str, parameters: dict[str, int]) -> None:
    built = shape(name, parameters).build()
    assert len(built.tors) > 255
    assert len({host.ip for host in built.hosts}) == len({host.mac for host in built.hosts}) == len(built.hosts)
    assert not any(
        one.prefix is not None and other.prefix is not None and one.prefix.overlaps(other.prefix)
        for one, other in zip(built.tors, built.tors[1:], strict=False)
    )
    for switch in (built.switches[0], built.switches[100], built.switches[-1]):
        assert _looked_up(built, switch.name) == ports_to_tors(built, switch.name)
    tor_routes = routes_of(built, built.switches[0].name)
    assert len(tor_routes) < 40 or name == "dragonfly", "a ToR of a tree needs one group for all other racks"


def test_networks_of_up_to_255_tors_keep_a_16_bit_prefix_for_each() -> None:
    built = shape("clos", {"tors": 255, "hosts_per_tor": 1, "spines": 1}).build()
    assert [str(tor.prefix) for tor in (built.tors[0], built.tors[-1])] == ["10.1.0.0/16", "10.255.0.0/16"]
    assert len(routes_of(built, "spine1")) == 255


@pytest.mark.parametrize("name", ["fat-tree", "dragonfly", "rail", "paper-testbed"])
def test_the_physics_of_a_network_are_those_of_all_its_shortest_paths(name: str) -> None:
    """The arrays of all pairs agree with path after path."""
    _expect_the_physics_of_all_paths(
        shape(name, {"host_rates_bps": [100_000_000_000, 25_000_000_000], "pass_latency_ns": 70}).build()
    )


@pytest.mark.parametrize(("near", "far"), [("s1", "s2"), ("s2", "s1")])
def test_the_order_of_unequal_paths_does_not_matter(near: str, far: str) -> None:
    """One spine is near and slow, the other far and fast: the base RTT and the rate are those of the far one."""
    spines = {near: {"rate": "10G", "delay": "1us"}, far: {"rate": "100G", "delay": "50us"}}
    hosts = {f"h{number}": f"t{1 + number % 2}" for number in range(1, 5)}
    links = [{"source": tor, "target": spine, **spines[spine]} for tor in ("t1", "t2") for spine in ("s1", "s2")]
    links += [{"source": host, "target": tor, "rate": "100G", "delay": "500ns"} for host, tor in hosts.items()]
    nodes = [{"id": name, "type": "host" if name in hosts else "switch"} for name in ("t1", "t2", "s1", "s2", *hosts)]
    built = network(json.dumps({"nodes": nodes, "links": links}))
    physics = network_physics(built)
    assert (physics.base_rtt_ns, physics.bottleneck_bps) == (200_000, 100_000_000_000)
    assert (physics.shortest_rtt_ns, physics.slowest_bps) == (2_000, 10_000_000_000)
    _expect_the_physics_of_all_paths(built)


def _expect_the_physics_of_all_paths(built: Topology) -> None:
    hosts = [host.name for host in built.hosts]
    paths = [list(_all_paths(built, *ends)) for ends in permutations(hosts, 2)]
    pairs = [[path_physics(built, path) for path in of_pair] for of_pair in paths]
    physics = network_physics(built)
    assert physics.base_rtt_ns == max(path.base_rtt_ns for pair in pairs for path in pair)
    assert physics.shortest_rtt_ns == min(path.propagation_ns for pair in pairs for path in pair)
    assert physics.slowest_bps == min(path.bottleneck_bps for pair in pairs for path in pair)
    assert physics.most_switches == max(len(path) - 1 for of_pair in paths for path in of_pair)
    assert physics.bdp_bytes == max(
        bandwidth_delay_bytes(max(path.bottleneck_bps for path in pair), max(path.base_rtt_ns for path in pair))
        for pair in pairs
    )


def _all_paths(built: Topology, source: str, target: str) -> Iterator[tuple[Link, ...]]:
    last = built.host[target].switch
    hops = distances_of(built).to(last)

    def onward(switch: str) -> Iterator[tuple[Link, ...]]:
        if switch == last:
            yield (built.host_link[target],)
        for port in built.ports[switch]:
            if not port.peer_is_host and hops(port.peer.node) == hops(switch) - 1:
                yield from ((built.link_at[Port(switch, port.number)], *rest) for rest in onward(port.peer.node))

    yield from ((built.host_link[source], *rest) for rest in onward(built.host[source].switch))
