# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of network shapes: counts, ports, addresses, and the paper's networks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sfc_testbed.topologies.model import TopologyError
from sfc_testbed.topologies.routes import Paths, routes
from sfc_testbed.topologies.shapes import SHAPES, shape


@given(tors=st.integers(1, 5), spines=st.integers(1, 4), hosts=st.integers(1, 6), uplinks=st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_clos_has_the_hosts_and_links_of_its_parameters(tors: int, spines: int, hosts: int, uplinks: int) -> None:
    """Addresses are distinct, and ports are numbered without gaps."""
    built = shape("clos", {"tors": tors, "spines": spines, "hosts_per_tor": hosts, "uplinks": uplinks}).build()
    assert len(built.hosts) == tors * hosts
    assert len(built.links) == tors * hosts + tors * spines * uplinks
    assert len({host.ip for host in built.hosts}) == len({host.mac for host in built.hosts}) == len(built.hosts)
    for ports in built.ports.values():
        assert [port.number for port in ports] == list(range(1, len(ports) + 1))


def test_paper_testbed_matches_the_paper() -> None:
    """The network has 2 ToRs of 24 hosts, one spine, and 4 uplinks of 400G per ToR: 3:2 over-subscribed."""
    built = shape("paper-testbed", {}).build()
    assert (len(built.hosts), len(built.switches)) == (48, 3)
    uplinks = [port for port in built.ports["tor1"] if not port.peer_is_host]
    assert len(uplinks) == 4
    down_bps = sum(port.rate_bps for port in built.ports["tor1"] if port.peer_is_host)
    assert down_bps * 2 == sum(port.rate_bps for port in uplinks) * 3


def test_paper_simulation_matches_the_paper() -> None:
    """The network has 8 spines, 16 ToRs, 512 hosts, no over-subscription, and 10 us of round-trip propagation."""
    built = shape("paper-simulation", {}).build()
    assert len(built.hosts) == 512
    assert sum(switch.is_tor for switch in built.switches) == 16
    assert len(built.switches) == 24
    down_bps = sum(port.rate_bps for port in built.ports["tor1"] if port.peer_is_host)
    assert down_bps == sum(port.rate_bps for port in built.ports["tor1"] if not port.peer_is_host)


def test_hosts_get_mixed_rates_in_turn() -> None:
    """NIC, link and switch port have the same rate. More rates than hosts are refused."""
    rates = [100_000_000_000, 50_000_000_000, 25_000_000_000]
    built = shape("clos", {"host_rates_bps": rates, "hosts_per_tor": 2}).build()
    assert [host.rate_bps for host in built.hosts] == [*rates, rates[0]]
    assert [built.host_link[host.name].rate_bps for host in built.hosts] == [*rates, rates[0]]
    assert [port.rate_bps for port in built.ports["tor2"] if port.peer_is_host] == [rates[2], rates[0]]
    assert built.parameters["host_rates_bps"] == tuple(rates)
    with pytest.raises(TopologyError, match="3 rates for 2 hosts"):
        shape("star", {"host_rates_bps": rates, "hosts": 2}).build()


def test_three_tier_builds_a_fat_tree_of_four() -> None:
    """The tree has 16 hosts and 20 switches of four ports. Paths between pods cross five switches, also one core."""
    parameters = {"pods": 4, "cores_per_plane": 2, "hosts_per_tor": 2}
    built = shape("three-tier", parameters).build()
    assert (len(built.hosts), len(built.switches), len(built.links)) == (16, 20, 48)
    assert all(len(ports) == 4 for ports in built.ports.values())
    across = routes(built)
    away = built.switch[built.hosts[-1].switch].prefix
    [up] = [route.ports for route in across["tor1"] if route.prefix == away]
    [further] = [route.ports for route in across["agg1"] if route.prefix == away]
    assert len(up) * len(further) == 4
    assert len(Paths(built).between("h1", "h16")) - 1 == 5
    assert len(Paths(built).between("h1", "h3")) - 1 == 3
    assert len({port.peer.node for port in built.ports["core1"]} & {"agg1", "agg3", "agg5", "agg7"}) == 4


def test_networks_that_are_too_large_are_refused() -> None:
    with pytest.raises(TopologyError, match="a network has at most 16384 switches"):
        shape("three-tier", {"pods": 100, "aggs_per_pod": 400, "cores_per_plane": 100}).build()
    with pytest.raises(TopologyError, match="a network has at most 65536 hosts"):
        shape("clos", {"tors": 200, "hosts_per_tor": 400}).build()


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_builds_from_its_defaults(name: str) -> None:
    built = shape(name, {}).build()
    host = built.hosts[0]
    prefix = built.switch[host.switch].prefix
    assert prefix is not None
    assert host.ip in prefix
    assert host.gateway_ip != host.ip


@pytest.mark.parametrize(
    "parameters", [{"tors": 0}, {"tors": -1}, {"hosts_per_tor": 10**9}, {"host_rate_bps": 0}, {"wheels": 4}]
)
def test_absurd_parameters_are_refused(parameters: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        shape("clos", parameters)


def test_more_ports_than_a_switch_has_are_refused() -> None:
    """Port numbers must stay below the recirculation port."""
    with pytest.raises(TopologyError, match="ports"):
        shape("clos", {"hosts_per_tor": 400, "spines": 200}).build()
