# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Control plane commands for each switch: routes, roles, thresholds and link parameters.

`pipeline_commands` configures the P4 program and is the same for every target. `wire_commands` sets the link rates
and delays of softswitch. All values are in wall units: the dilation is applied here.
"""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.model.scenario import random_stream
from testbed.control_plane.features import ALPHA_ONE, feature_commands
from testbed.control_plane.settings import SwitchSettings
from topologies.model import Port, SwitchPort, Topology, port_mac
from topologies.routes import Route, routes_of
from wire.constants import BTS_MIRROR_SESSION, CLASS_BTS, CLASS_BY_DSCP, CLASS_CONTROL, CLASS_COUNT, CLASS_DATA
from wire.dilation import Dilation

_UNLIMITED_BYTES = 0xFFFF_FFFF
_OFF = {
    "suppression": "off",
    "suppression_key": "by_flow",
    "suppression_period": "no_banks",
    "pause_cache": "cache_off",
    "least_cached_pause": "ignore_none",
    "dilation": "keep",
    "time_stamp": "count_microseconds",
    "spraying": "keep_paths",
}
"""The default actions that switch off mechanisms which a default action switches on."""


def switch_seed(seed: int, switch: str, use: str) -> int:
    """Return a random 32-bit number that depends on the run's seed, the switch and the use of the number."""
    return int(random_stream(seed, f"{use} {switch}").integers(1 << 32))


def pipeline_commands(
    topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation, *, seed: int
) -> list[str]:
    """Return the commands that set all table entries of one switch. The run's seed decides its ECMP choices."""
    identity = f"{topology.switch[switch].switch_id} {switch_seed(seed, switch, 'ecmp')} {dilation.factor}"
    lines = [f"table_set_default identity set_switch {identity}"]
    lines += _role_commands(topology, switch)
    lines += [
        f"table_add dscp_to_class set_class {dscp} => {traffic_class}" for dscp, traffic_class in CLASS_BY_DSCP.items()
    ]
    lines += _route_commands(topology, switch)
    return lines + settings_commands(topology, switch, settings, dilation)


def settings_commands(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> list[str]:
    """Return the commands that depend on the settings; equal commands mean that two settings are equivalent."""
    return [*_buffer_commands(settings), *feature_commands(topology, switch, settings, dilation)]


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


def _role_commands(topology: Topology, switch: str) -> Iterator[str]:
    """Yield the entries that assign each server-facing port the address of its host."""
    for port in topology.ports[switch]:
        if port.peer_is_host:
            yield f"table_add ingress_role server_facing {port.number} => {topology.host[port.peer.node].ip}"


def _route_commands(topology: Topology, switch: str) -> Iterator[str]:
    ports = {port.number: port for port in topology.ports[switch]}
    for group, route in enumerate(routes_of(topology, switch), start=1):
        if len(route.ports) == 1:
            arguments = next_hop(topology, switch, ports[route.ports[0]])
            yield f"table_add ipv4_lpm next_hop {route.prefix} => {arguments}"
        else:
            yield from _ecmp_commands(topology, switch, group, route, ports)


def _ecmp_commands(
    topology: Topology, switch: str, group: int, route: Route, ports: dict[int, SwitchPort]
) -> Iterator[str]:
    yield f"table_add ipv4_lpm ecmp {route.prefix} => {group} {len(route.ports)}"
    for member, number in enumerate(route.ports):
        yield f"table_add ecmp_members next_hop {group} {member} => {next_hop(topology, switch, ports[number])}"


def next_hop(topology: Topology, switch: str, port: SwitchPort) -> str:
    """Return the parameters of the action next_hop: port, source MAC, destination MAC."""
    if port.peer_is_host:
        peer_mac = topology.host[port.peer.node].mac
    else:
        peer_mac = port_mac(topology.switch[port.peer.node].switch_id, port.peer.number)
    return f"{port.number} {port_mac(topology.switch[switch].switch_id, port.number)} {peer_mac}"


def _buffer_commands(settings: SwitchSettings) -> Iterator[str]:
    if settings.buffer_bytes is None:
        yield f"table_set_default buffer_size set_limit {_UNLIMITED_BYTES}"
        return
    yield f"table_set_default buffer_size set_limit {settings.buffer_bytes}"
    for traffic_class in range(CLASS_COUNT):
        is_lossless = settings.pfc and traffic_class == CLASS_DATA
        if traffic_class not in (CLASS_CONTROL, CLASS_BTS) and not is_lossless:
            alpha = round(settings.alpha * ALPHA_ONE)
            yield f"table_add class_threshold dynamic_threshold {traffic_class} => {alpha}"


def change_commands(
    topology: Topology, switch: str, old: SwitchSettings, new: SwitchSettings, dilation: Dilation
) -> list[str]:
    """Return the commands that change a forwarding switch from the old settings to the new settings.

    The commands clear the tables of the old mechanisms, reset their default actions, and add all entries of the new
    settings. State of a mechanism (pauses, queued bytes) is left to expire.
    """
    before, after = (settings_commands(topology, switch, settings, dilation) for settings in (old, new))
    cleared = dict.fromkeys(line.split()[1] for line in before if line.startswith("table_add"))
    sessions = [line.split()[1] for line in before if line.startswith("mirroring_add")]
    defaults = {line.split()[1] for line in before if line.startswith("table_set_default")}
    queues = [line.split() for line in before if line.startswith("port_queues")]
    return [
        *(f"table_clear {table}" for table in cleared),
        *(f"table_set_default {table} {action}" for table, action in _OFF.items() if table in defaults),
        *(f"mirroring_delete {session}" for session in sessions),
        *(f"port_queues {port} {traffic_class} 1 {turn_bytes}" for _, port, traffic_class, _, turn_bytes in queues),
        *after,
    ]
