# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks that a load balancing of switches fits the network and the other mechanisms."""

from __future__ import annotations

from sfc_testbed.testbed.control_plane.load_balancing import COMPARES_PORTS, MOST_LEAVES, MOST_MEMBERS, MOST_UPLINKS
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.routes import routes


def check_load_balancing(topology: Topology, settings: SwitchSettings) -> None:
    """Raise UsageError for a load balancing that this network, or another mechanism, excludes."""
    name = settings.load_balancing
    if name not in COMPARES_PORTS:
        return
    most = MOST_UPLINKS if name == "conga" else MOST_MEMBERS
    widths = {switch: max(len(route.ports) for route in table) for switch, table in routes(topology).items()}
    switch, ports = max(widths.items(), key=lambda item: item[1])
    if ports > most:
        raise UsageError(
            f"switch: load_balancing: {name} compares at most {most} equal-cost ports, but {switch} has {ports}; "
            "use spray, round-robin or flowlet"
        )
    if name == "conga":
        _check_conga(topology, settings)


def _check_conga(topology: Topology, settings: SwitchSettings) -> None:
    """Raise UsageError unless there are two tiers: leaves with servers, and spines with one link to each leaf.

    CONGA's fields describe one choice, that of the leaf, and the load of the path after it (paper, section 3).
    """
    for switch in topology.switches:
        peers = [port.peer.node for port in topology.ports[switch.name] if not port.peer_is_host]
        if switch.is_tor:
            problem = next((f"{switch.name} and {peer} are ToRs" for peer in peers if topology.switch[peer].is_tor), "")
        else:
            higher = [peer for peer in peers if not topology.switch[peer].is_tor]
            problem = f"{switch.name} and {higher[0]} have no servers" if higher else ""
            if len(set(peers)) < len(peers):
                problem = f"{switch.name} has several links to a ToR"
        if problem:
            raise UsageError(
                "switch: load_balancing: conga needs ToRs that are linked to spines only, with one link each, such as "
                f"topology clos; in {topology.name}, {problem}; use flowlet or adaptive"
            )
    leaves = sum(switch.is_tor for switch in topology.switches)
    if leaves > MOST_LEAVES:
        raise UsageError(
            f"switch: load_balancing: conga has tables for {MOST_LEAVES} ToRs, not for {leaves}; use flowlet"
        )
    if settings.trim_queue_bytes is not None:
        raise UsageError(
            "switch: load_balancing: conga and trim_queue_bytes exclude each other: a header that returns to its "
            "sender would report the load of its way there as that of its way back; use another load balancing"
        )
