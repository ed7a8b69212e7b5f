# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of base RTT, bottleneck and BDP against values calculated by hand."""

from __future__ import annotations

from typing import Any

import pytest

from sfc_testbed.topologies.physics import departure_window_ns, network_physics
from sfc_testbed.topologies.routes import Paths
from sfc_testbed.topologies.shapes import shape
from tests.topologies.one_path import path_physics

GBPS = 1_000_000_000
NAMES = ("q_th_bytes", "suppression_ns")


@pytest.mark.parametrize(
    ("name", "parameters", "base_rtt_ns", "bdp_bytes"),
    [
        ("clos", {}, 10_000, 125_000),  # 2 x 5 us, and 0.2 us of serialization
        ("paper-simulation", {}, 10_000, 125_000),
        ("paper-testbed", {}, 10_000, 125_000),
        ("clos", {"fabric_delay_ns": 3_000}, 16_000, 200_000),
        ("three-tier", {}, 16_000, 200_000),  # 2 x 8 us
        ("star", {}, 4_200, 52_500),  # 2 x 2 us, and 1058 B twice: 0.17 us
        ("dumbbell", {"host_delay_ns": 3_000}, 18_000, 225_000),  # three links of 3 us
        ("star", {"host_rate_bps": 10 * GBPS}, 5_700, 7_125),  # including 1.7 us of serialization
        ("star", {"hosts": 1}, 4_200, 52_500),
        ("star", {"host_delay_ns": 0}, 170, 2_125),
        ("star", {"pass_latency_ns": 600}, 5_400, 67_500),  # one switch, both directions
        ("clos", {"pass_latency_ns": 300, "bts_latency_ns": 9_000}, 12_000, 150_000),  # three switches, both directions
    ],
)
def test_base_rtt_and_bdp_match_values_calculated_by_hand(
    name: str, parameters: dict[str, Any], base_rtt_ns: int, bdp_bytes: int
) -> None:
    physics = network_physics(shape(name, parameters).build())
    assert (physics.base_rtt_ns, physics.bdp_bytes) == (base_rtt_ns, bdp_bytes)


def test_network_bdp_is_that_of_the_largest_pair() -> None:
    """A pair of 100 Gb/s hosts has the network's BDP. A pair with a 50 Gb/s host has half of it."""
    network = shape("clos", {"host_rates_bps": [100 * GBPS, 50 * GBPS]}).build()
    physics = network_physics(network)
    assert (physics.base_rtt_ns, physics.bottleneck_bps, physics.bdp_bytes) == (10_000, 100 * GBPS, 125_000)
    assert physics.nic_rates_bps == {100 * GBPS: 4, 50 * GBPS: 4}
    paths = Paths(network)
    assert path_physics(network, paths.between("h1", "h6")).bdp_bytes == 62_500
    assert path_physics(network, paths.between("h1", "h3")).base_rtt_ns == 4_200


def test_a_nic_has_the_bdp_of_its_own_rate() -> None:
    """A NIC has the largest BDP of the pairs with its rate. BDPs of NICs are not reported if all rates are equal."""
    rates = [100 * GBPS, 50 * GBPS, 10 * GBPS]
    physics = network_physics(shape("clos", {"host_rates_bps": rates}).build())
    assert physics.base_rtt_ns == 12_000  # 10 Gb/s at both ends: 1.7 us of serialization
    assert physics.bdp_of_nics == {100 * GBPS: 125_000, 50 * GBPS: 62_500, 10 * GBPS: 15_000}
    assert physics.slowest_bps == 10 * GBPS
    assert network_physics(shape("clos", {}).build()).bdp_of_nics == {}


def test_overrides_apply_to_nics_of_every_rate() -> None:
    """A set BDP applies to all NICs, a set base RTT scales each BDP, and a rate limit merges higher rates."""
    mixed = network_physics(shape("clos", {"host_rates_bps": [100 * GBPS, 50 * GBPS, 10 * GBPS]}).build())
    assert mixed.with_bdp(99_000).bdp_of_nics == {}
    assert mixed.with_base_rtt(16_000).bdp_of_nics == {100 * GBPS: 200_000, 50 * GBPS: 100_000, 10 * GBPS: 20_000}
    limited = mixed.with_nics_of(50 * GBPS)
    assert set(limited.bdp_of_nics) == set(limited.nic_rates_bps) == {50 * GBPS, 10 * GBPS}
    assert mixed.with_nics_of(10 * GBPS).bdp_of_nics == {}


def test_one_fast_host_does_not_change_the_network_bdp() -> None:
    """No pair can use its rate, but a NIC limit applies to it."""
    rates = [50 * GBPS] * 7 + [400 * GBPS]
    physics = network_physics(shape("clos", {"host_rates_bps": rates}).build())
    assert (physics.bottleneck_bps, physics.bdp_bytes) == (50 * GBPS, 62_500)
    limited = physics.with_nics_of(100 * GBPS)
    assert (limited.nic_rates_bps, limited.bdp_bytes) == ({50 * GBPS: 7, 100 * GBPS: 1}, 62_500)


def test_a_slow_trunk_is_the_bottleneck() -> None:
    """The largest BDP is that of two hosts on one side: their rate is higher and their RTT shorter."""
    built = shape("dumbbell", {"trunk_rate_bps": 10 * GBPS}).build()
    physics = network_physics(built)
    assert physics.base_rtt_ns == 11_000
    assert physics.bdp_bytes == 52_500  # 4.2 us at 100 Gb/s under one switch, against 11 us at 10 Gb/s


def test_paths_are_links_in_order() -> None:
    """Host, ToR, spine, ToR, host; within a rack two links."""
    network = shape("clos", {"hosts_per_tor": 2}).build()
    paths = Paths(network)
    assert len(paths.between("h1", "h2")) == 2
    nodes = [{link.a.node, link.b.node} for link in paths.between("h1", "h4")]
    assert nodes == [{"h1", "tor1"}, {"tor1", "spine1"}, {"spine1", "tor2"}, {"tor2", "h4"}]


def test_multiples_follow_the_network() -> None:
    """`q_th_bdp` becomes `q_th_bytes` and `suppression_rtt` becomes `suppression_ns`; other names stay.

    The payload of a packet is 1000 B by default.
    """
    star = network_physics(shape("star", {}).build())
    multiples = {"q_th_bdp": 2, "suppression_rtt": 0.5, "alpha": 1.0, "colour_bdp": 3}
    expected = {"q_th_bytes": 105_000, "suppression_ns": 2_100, "alpha": 1.0, "colour_bdp": 3}
    assert star.absolute(multiples, NAMES) == expected
    assert star.absolute({"q_th_packets": 8}, NAMES) == {"q_th_bytes": 8 * 1_062}
    assert star.with_payload(4_000).absolute({"q_th_packets": 1.5}, NAMES) == {"q_th_bytes": 6_093}
    with pytest.raises(ValueError, match="q_th_packets and q_th_bdp set the same quantity"):
        star.absolute({"q_th_bdp": 2, "q_th_packets": 5}, NAMES)
    with pytest.raises(ValueError, match="set the same quantity"):
        star.absolute({"q_th_bdp": 2, "q_th_bytes": 5}, NAMES)
    for value in ("two", -1, True, float("nan"), None):
        with pytest.raises(ValueError, match="must be a number of at least 0"):
            star.absolute({"q_th_bdp": value}, NAMES)


def test_a_set_base_rtt_or_nic_rate_changes_the_bdp() -> None:
    clos = network_physics(shape("clos", {}).build())
    assert clos.with_base_rtt(16_000).bdp_bytes == 200_000
    slower = clos.with_nics_of(50 * GBPS)
    assert (slower.bdp_bytes, slower.nic_rates_bps) == (62_500, {50 * GBPS: 8})
    assert clos.with_nics_of(400 * GBPS) == clos


def test_a_window_is_short_against_the_base_rtt_and_the_shortest_link() -> None:
    """The paper's simulated network has a base RTT of 10 us and links of 1 us; a star has a base RTT of 4.2 us."""
    assert departure_window_ns(shape("paper-simulation", {}).build()) == 62
    assert departure_window_ns(shape("star", {"hosts": 2}).build()) == 26
    assert departure_window_ns(shape("star", {"hosts": 2, "host_delay_ns": 0}).build()) == 0
