# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Table entries and registers that enable a load balancing on a switch, in wall units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sfc_testbed.testbed.control_plane.entries import Command, RegisterCell, TableEntry
from sfc_testbed.testbed.control_plane.fixed_point import halvings_per_us_q24, require_word
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.routes import ecmp_groups, routes_of
from sfc_testbed.wire.dilation import Dilation

MEMBER_BITS = 5
MOST_MEMBERS = 1 << MEMBER_BITS
"""Equal-cost ports that a switch can compare (switch-bmv2/include/sizes.p4)."""
MOST_UPLINKS = 16
"""Uplinks that CONGA's field LBTag distinguishes."""
MOST_LEAVES = 1024
_TABLE = "load_balancing"
_Q32 = 1 << 32
_Q40 = 1 << 40

COMPARES_PORTS = frozenset({"drill", "adaptive", "conga"})
"""The load balancings that read the ports of a group from a register, which must follow the routes."""


def load_balancing_commands(
    topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation
) -> Iterator[Command]:
    """Yield the entries of the switch's load balancing; none for ECMP."""
    yield from _COMMANDS[settings.load_balancing](topology, switch, settings, dilation)


def conga_link(settings: SwitchSettings, port: int, rate_bps: int, dilation: Dilation) -> TableEntry:
    """Return the entry that measures the load of a link of a model rate."""
    byte_q40 = require_word("conga_tau_ns", round(_Q40 / (settings.conga_tau_ns * rate_bps / 8e9)), rate_bps)
    return TableEntry("conga_link", "measure", (port,), (byte_q40, _halvings(settings, dilation)))


def _halvings(settings: SwitchSettings, dilation: Dilation) -> int:
    return halvings_per_us_q24("conga_tau_ns", settings.conga_tau_ns, dilation, "the estimator of CONGA")


def member_cell(group: int, member: int, port: int) -> RegisterCell:
    """Return the cell with the port of a member of an ECMP group."""
    return RegisterCell("member_ports", group << MEMBER_BITS | member, port)


def member_cells(group: int, ports: Sequence[int]) -> Iterator[RegisterCell]:
    """Yield the cells with the ports of an ECMP group."""
    for member, port in enumerate(ports):
        yield member_cell(group, member, port)


def _member_cells(topology: Topology, switch: str) -> Iterator[RegisterCell]:
    for ports, group in ecmp_groups(routes_of(topology, switch)).items():
        yield from member_cells(group, ports)


def _flowlets(settings: SwitchSettings, dilation: Dilation) -> tuple[int, int]:
    """Return the size of the flowlet table and the gap in wall microseconds."""
    gap_us = dilation.wall_ns(settings.flowlet_gap_ns) // 1000
    return settings.flowlet_cells, require_word("flowlet_gap_ns", gap_us)


def _ecmp(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    yield from ()


def _spray(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    yield TableEntry(_TABLE, "by_random")


def _round_robin(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    yield TableEntry(_TABLE, "by_turn")


def _flowlet(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    yield TableEntry(_TABLE, "by_flowlet", parameters=_flowlets(settings, dilation))


def _drill(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    yield from _member_cells(topology, switch)
    yield TableEntry(_TABLE, "by_samples", parameters=(settings.drill_samples, settings.drill_memory))


def _adaptive(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    yield from _member_cells(topology, switch)
    if settings.adaptive_unit == "packet":
        yield TableEntry(_TABLE, "by_queue")
    else:
        yield TableEntry(_TABLE, "by_queue_of_flowlet", parameters=_flowlets(settings, dilation))


def _conga(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    """Yield the entries of a leaf, which chooses uplinks, and of the links of leaves and spines, which are measured."""
    for port in topology.ports[switch]:
        if not port.peer_is_host:
            yield conga_link(settings, port.number, port.rate_bps, dilation)
    if not topology.switch[switch].is_tor:
        return
    yield from _member_cells(topology, switch)
    for number, leaf in enumerate(leaf for leaf in topology.switches if leaf.is_tor):
        if leaf.name != switch and leaf.prefix is not None:
            yield TableEntry("conga_source", "from_leaf", (leaf.prefix,), (number,))
            yield TableEntry("conga_destination", "to_leaf", (leaf.prefix,), (number,))
    periods_q32 = min(_Q32 - 1, _Q32 * 1000 // max(1, dilation.wall_ns(settings.conga_aging_ns)))
    parameters = (*_flowlets(settings, dilation), _halvings(settings, dilation), periods_q32)
    yield TableEntry(_TABLE, "by_conga", parameters=parameters)


_COMMANDS: Mapping[str, Callable[[Topology, str, SwitchSettings, Dilation], Iterator[Command]]] = {
    "ecmp": _ecmp,
    "spray": _spray,
    "round-robin": _round_robin,
    "flowlet": _flowlet,
    "drill": _drill,
    "adaptive": _adaptive,
    "conga": _conga,
}
"""The entries of each load balancing of `SwitchSettings.load_balancing`."""
