# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Control plane commands for each switch: routes, roles, thresholds and link parameters.

`pipeline_commands` configures the P4 program and is the same for every target. `wire_commands` sets the link rates
and delays of softswitch. All values are in wall units: the dilation is applied here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from sfc_testbed.scenarios.model.scenario import random_stream
from sfc_testbed.testbed.control_plane.entries import (
    ClearedTable,
    Command,
    FlowQueues,
    MirrorSession,
    TableEntry,
    Value,
)
from sfc_testbed.testbed.control_plane.features import ALPHA_ONE, feature_commands
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.model import Port, SwitchPort, Topology, port_mac
from sfc_testbed.topologies.routes import ecmp_groups, routes_of
from sfc_testbed.wire.constants import (
    BTS_MIRROR_SESSION,
    CLASS_BTS,
    CLASS_BY_DSCP,
    CLASS_CONTROL,
    CLASS_COUNT,
    CLASS_DATA,
)
from sfc_testbed.wire.dilation import Dilation

SwitchCommands: TypeAlias = Mapping[str, tuple[Command, ...]]
"""The commands that configure the P4 program of each switch, by the switch's name."""
MoreEntries: TypeAlias = Callable[[str, Dilation], Iterable[TableEntry]]
"""A function that returns the entries of a user's P4 program for a switch at a dilation."""
_UNLIMITED_BYTES = 0xFFFF_FFFF


@dataclass(frozen=True)
class Configured:
    """The configuration of all switches, whose entries a slow link changes."""

    settings: SwitchSettings
    commands: SwitchCommands


def no_entries(switch: str, dilation: Dilation) -> Iterable[TableEntry]:
    """Return no entries: the program has no tables of its own."""
    return ()


def switch_seed(seed: int, switch: str, use: str) -> int:
    """Return a random 32-bit number that depends on the run's seed, the switch and the use of the number."""
    return int(random_stream(seed, f"{use} {switch}").integers(1 << 32))


def network_commands(
    topology: Topology, settings: SwitchSettings, dilation: Dilation, *, seed: int, more: MoreEntries = no_entries
) -> SwitchCommands:
    """Return the commands that configure the P4 program of each switch, for the plan of a run, `more` entries last.

    Raise FixedPointError if the data plane cannot hold the ratios at this dilation.
    """
    names = [switch.name for switch in topology.switches]
    return {
        name: (*pipeline_commands(topology, name, settings, dilation, seed=seed), *more(name, dilation))
        for name in names
    }


def pipeline_commands(
    topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation, *, seed: int
) -> list[Command]:
    """Return the commands that set all table entries of one switch. The run's seed decides its ECMP choices."""
    identity = (topology.switch[switch].switch_id, switch_seed(seed, switch, "ecmp"), dilation.factor)
    return [
        TableEntry("identity", "set_switch", parameters=identity),
        *_role_entries(topology, switch),
        *(
            TableEntry("dscp_to_class", "set_class", (dscp,), (traffic_class,))
            for dscp, traffic_class in CLASS_BY_DSCP.items()
        ),
        *_route_entries(topology, switch),
        *settings_commands(topology, switch, settings, dilation),
    ]


def settings_commands(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> list[Command]:
    """Return the commands that depend on the settings; equal commands mean that two settings are equivalent."""
    return [*_buffer_entries(settings), *feature_commands(topology, switch, settings, dilation)]


def wire_commands(topology: Topology, switch: str, dilation: Dilation) -> list[str]:
    """Return softswitch's commands for the rate and delay of each port.

    The switch applies the delay of both directions of a host's link, because a host's NIC has no delay. The pipeline
    latency is added to the delay of the outgoing link. The latency of building a BTS is a separate mirroring delay.
    """
    node = topology.switch[switch]
    lines: list[str] = []
    for port in topology.ports[switch]:
        delay_ns = dilation.wall_ns(port.delay_ns)
        lines.append(f"port_rate {port.number} {dilation.wall_bps(port.rate_bps)}")
        lines.append(
            f"port_delay {port.number} {dilation.wall_ns(topology.departure_delay_ns(Port(switch, port.number)))}"
        )
        if port.peer_is_host:
            lines.append(f"port_ingress_delay {port.number} {delay_ns}")
    if node.bts_latency_ns:
        lines.append(f"mirroring_delay {BTS_MIRROR_SESSION} {dilation.wall_ns(node.bts_latency_ns)}")
    return lines


def _role_entries(topology: Topology, switch: str) -> Iterator[TableEntry]:
    """Yield the entries that assign each server-facing port the address of its host."""
    for port in topology.ports[switch]:
        if port.peer_is_host:
            yield TableEntry("ingress_role", "server_facing", (port.number,), (topology.host[port.peer.node].ip,))


def _route_entries(topology: Topology, switch: str) -> Iterator[TableEntry]:
    """Yield the routes of a switch. Routes over the same ports share an ECMP group."""
    ports = {port.number: port for port in topology.ports[switch]}
    table = routes_of(topology, switch)
    groups = ecmp_groups(table)
    written = set()
    for route in table:
        if len(route.ports) == 1:
            yield TableEntry("ipv4_lpm", "next_hop", (route.prefix,), next_hop(topology, switch, ports[route.ports[0]]))
            continue
        group = groups[route.ports]
        yield TableEntry("ipv4_lpm", "ecmp", (route.prefix,), (group, len(route.ports)))
        if group not in written:
            written.add(group)
            for member, number in enumerate(route.ports):
                hop = next_hop(topology, switch, ports[number])
                yield TableEntry("ecmp_members", "next_hop", (group, member), hop)


def next_hop(topology: Topology, switch: str, port: SwitchPort) -> tuple[Value, ...]:
    """Return the parameters of the action next_hop: port, source MAC, destination MAC."""
    if port.peer_is_host:
        peer_mac = topology.host[port.peer.node].mac
    else:
        peer_mac = port_mac(topology.switch[port.peer.node].switch_id, port.peer.number)
    return port.number, port_mac(topology.switch[switch].switch_id, port.number), peer_mac


def _buffer_entries(settings: SwitchSettings) -> Iterator[TableEntry]:
    if settings.buffer_bytes is None:
        yield TableEntry("buffer_size", "set_limit", parameters=(_UNLIMITED_BYTES,))
        return
    yield TableEntry("buffer_size", "set_limit", parameters=(settings.buffer_bytes,))
    for traffic_class in range(CLASS_COUNT):
        is_lossless = settings.pfc and traffic_class == CLASS_DATA
        if traffic_class not in (CLASS_CONTROL, CLASS_BTS) and not is_lossless:
            alpha = round(settings.alpha * ALPHA_ONE)
            yield TableEntry("class_threshold", "dynamic_threshold", (traffic_class,), (alpha,))


def change_commands(
    old: Iterable[Command], new: Iterable[Command], initial: Callable[[str], TableEntry | None]
) -> list[Command]:
    """Return the commands that change a forwarding switch from old to new results of `settings_commands`.

    The commands undo the old settings, latest first, and then add all new ones. `initial` returns the default action
    that the P4 program declares for a table. State of a mechanism (pauses, queued bytes) is left to expire.
    """
    after = list(new)
    set_again = {command.table for command in after if isinstance(command, TableEntry) and not command.keys}
    undone: dict[Command, None] = {}
    for command in reversed(list(old)):
        match command:
            case TableEntry(table=table, keys=()):
                entry = None if table in set_again else initial(table)
                undone |= {} if entry is None else {entry: None}
            case TableEntry(table=table):
                undone[ClearedTable(table)] = None
            case MirrorSession(number=number):
                undone[MirrorSession(number, None)] = None
            case FlowQueues():
                undone[replace(command, queues=1)] = None
    return [*undone, *after]
