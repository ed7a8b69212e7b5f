# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The places of nodes in a picture of a network: hosts at the bottom, switches in rows by their distance from hosts.

This module loads no drawing library.
"""

from __future__ import annotations

from collections.abc import Mapping

from sfc_testbed.topologies.model import Topology

Place = tuple[float, float]
"""The distance from the left edge, from 0 to 1, and the row: 0 for hosts, 1 for ToRs."""


def tiers(topology: Topology) -> Mapping[str, int]:
    """Return the distance of each switch from the nearest host, from 1."""
    hops = topology.hops_to_any(tor.name for tor in topology.tors)
    return {switch: distance + 1 for switch, distance in hops.items()}


def places_of(topology: Topology) -> dict[str, Place]:
    """Return the place of each node, between 0 and 1 from left to right."""
    tier = tiers(topology)
    rows: dict[int, list[str]] = {}
    for switch in topology.switches:
        rows.setdefault(tier.get(switch.name, 1), []).append(switch.name)
    places: dict[str, Place] = {}
    for height, names in rows.items():
        for number, name in enumerate(names):
            places[name] = ((number + 0.5) / len(names), float(height))
    tors = [tor.name for tor in topology.tors]
    width = 0.9 / max(1, len(rows.get(1, tors)))
    for tor in tors:
        under = topology.hosts_of(tor)
        for number, host in enumerate(under):
            offset = (number + 0.5) / len(under) - 0.5
            places[host.name] = (places[tor][0] + offset * width, 0.0)
    return places
