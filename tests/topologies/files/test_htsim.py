# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Topology files of htsim."""

from __future__ import annotations

import pytest

from sfc_testbed.topologies.physics import network_physics
from tests.topologies.files.networks import network, refusal

THREE_TIERS = """# a comment
Nodes 16
Tiers 3
Podsize 8
Tier 0
Downlink_speed_Gbps 200
Radix_Down 4
Radix_Up 2
Oversubscribed 2
Downlink_Latency_ns 1000
Switch_Latency_ns 300
Tier 1
Radix_Down 2
Radix_Up 4
Downlink_speed_Gbps 200
Downlink_Latency_ns 500
Tier 2
Radix_Down 4
Bundle 2
"""


def test_the_switches_of_three_tiers_follow_from_their_radixes() -> None:
    """Two pods have two ToRs and two aggregation switches each. Two cores in each of two planes have double links."""
    built = network(THREE_TIERS)
    assert len(built.hosts) == 16
    assert [switch.name for switch in built.switches][3:9] == ["tor4", "agg1", "agg2", "agg3", "agg4", "core1"]
    assert len(built.switches) == 12
    assert {peer for peer in (port.peer.node for port in built.ports["tor3"]) if peer[0] == "a"} == {"agg3", "agg4"}
    assert [port.peer.node for port in built.ports["agg2"]] == ["tor1", "tor2", "core3", "core3", "core4", "core4"]
    assert {switch.pass_latency_ns for switch in built.switches if switch.is_tor} == {300}
    assert {port.delay_ns for port in built.ports["core1"]} == {1_500}, "the file has none, so the default counts"
    assert network_physics(built).most_switches == 5
    assert any("8 of 32 links have no rate" in note or "16 of 40" in note for note in built.notes)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Nodes 16\n", "", "Nodes is missing"),
        ("Tiers 3", "Tiers 1", "line 3: Tiers must be 2 or 3, not 1"),
        ("Nodes 16", "Nodes 17", "Nodes is no multiple of Podsize (17 and 8)"),
        ("Radix_Down 4\nRadix_Up", "Radix_Down 3\nRadix_Up", "Podsize is no multiple of tier 0's Radix_Down (8 and 3)"),
        (
            "Oversubscribed 2",
            "Oversubscribed 4",
            "line 9: tier 0 has 4 links down and 2 up, which is not Oversubscribed",
        ),
        ("Bundle 2", "Bundle 1", "line 14: tier 1 has a Radix_Up of 4, but there are 2 switches with a Bundle of 1"),
        ("Radix_Up 4", "Radix_Sideways 4", "line 14: unknown attribute 'Radix_Sideways'; nearest:"),
        ("Radix_Up 4", "Radix_Up four", "line 14: Radix_Up is a whole number up to"),
        ("Radix_Up 4", "Radix_Up 4\nRadix_Up 4", "line 15: Radix_Up is given twice, first in line 14"),
        ("Radix_Up 4\n", "", "tier 1 has no Radix_Up"),
        ("Tier 2", "Tier 3", "line 17: Tier is a whole number up to 2, not '3'"),
        ("Downlink_speed_Gbps 200\nRadix_Down 4", "Downlink_speed_Gbps 0\nRadix_Down 4", "line 6: rate must be from"),
    ],
)
def test_a_bad_file_is_refused(old: str, new: str, words: str) -> None:
    assert old in THREE_TIERS
    line = refusal(THREE_TIERS.replace(old, new), "net.topo")
    assert line.startswith("net.topo, ") and words in line
