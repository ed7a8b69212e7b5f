# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A network as `list --topology` prints it: its size, the values derived from it, and the neighbours of each switch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from rich.console import RenderableType
from rich.text import Text

from sfc_testbed.cli.listing.tables import names_table
from sfc_testbed.topologies.model import SwitchPort, Topology
from sfc_testbed.topologies.physics import network_physics

_MOST_SWITCHES = 64
"""The most switches whose neighbours are printed."""
_MOST_NAMES = 12


def network_tables(topology: Topology) -> Iterator[RenderableType]:
    """Yield the tables of a network, and how its file was read."""
    physics = network_physics(topology)
    kinds = Counter((link.rate_bps, link.delay_ns) for link in topology.links)
    links = ", ".join(f"{count} of {_link(*kind)}" for kind, count in sorted(kinds.items()))
    rows = [
        ("hosts", f"{len(topology.hosts)}: {_names([host.name for host in topology.hosts])}"),
        (
            "switches",
            f"{len(topology.switches)}, {len(topology.tors)} with hosts, at most {physics.most_switches} on a path",
        ),
        ("links", f"{len(topology.links)}: {links}"),
        ("base RTT, BDP", f"{physics.base_rtt_ns / 1000:g} us, {physics.bdp_bytes} B"),
    ]
    yield names_table(topology.name, rows)
    shown = topology.switches[:_MOST_SWITCHES]
    more = len(topology.switches) - len(shown)
    neighbours = [(switch.name, _neighbours(topology.ports[switch.name])) for switch in shown]
    yield names_table("neighbours", [*neighbours, *([("...", f"{more} more switches")] if more else [])])
    yield from (Text(note) for note in topology.notes)


def _neighbours(ports: tuple[SwitchPort, ...]) -> str:
    """Return the neighbours of a switch by port, with the links of each group of neighbours."""
    groups = []
    for (rate_bps, delay_ns), of_kind in groupby(ports, key=lambda port: (port.rate_bps, port.delay_ns)):
        groups.append(f"{_names([port.peer.node for port in of_kind])} ({_link(rate_bps, delay_ns)})")
    return "; ".join(groups)


def _names(names: list[str]) -> str:
    if len(names) <= _MOST_NAMES:
        return " ".join(names)
    return f"{' '.join(names[: _MOST_NAMES - 2])} ... {names[-1]}"


def _link(rate_bps: int, delay_ns: int) -> str:
    return f"{rate_bps / 1e9:g} Gb/s, {delay_ns / 1000:g} us"
