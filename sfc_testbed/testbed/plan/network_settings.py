# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Settings of switches and NICs that are derived from the network unless a scale, a scheme or the user sets them.

Settings may depend on other settings: a `transport.base_rtt_ns` changes the BDP, which changes the thresholds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sfc_testbed.hosts.transport.algorithms import Algorithms
from sfc_testbed.hosts.transport.congestion import UNLIMITED_WINDOW
from sfc_testbed.hosts.transport.settings import PayloadBytes, TransportSettings
from sfc_testbed.request.checks import PositiveBytes, PositiveRate, RoundTrip, StrictModel
from sfc_testbed.request.schemes import RATE_CONTROLS
from sfc_testbed.request.shown import nearest, shortened
from sfc_testbed.request.spec import Physics
from sfc_testbed.testbed.control_plane.settings import FROM_NETWORK, SwitchSettings
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.checks import validated
from sfc_testbed.testbed.plan.paths import check_load_balancing
from sfc_testbed.testbed.plan.switch_targets import SwitchTarget
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.physics import NetworkPhysics, multiples_of, network_physics
from sfc_testbed.wire.constants import DEFAULT_PAYLOAD_BYTES, INT_MAX_HOPS
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.int_slots import MOST_RATES
from sfc_testbed.wire.units import NS_PER_S, two_digits_up

Layer = Mapping[str, Any]

_TRANSPORT_NAMES = tuple(setting.name for setting in fields(TransportSettings))
_PROGRAM_QUEUE = {"program_queue_bdp": 2}

FOLLOW_FROM_NETWORK = (
    "line_rate_bps",
    "base_rtt_ns",
    "shortest_rtt_ns",
    "bdp_bytes",
    "bdp_of_nics",
    "full_queue_ns",
    "rto_ns",
    "program_queue_bytes",
    "goodput_interval_ns",
    "link_rates_bps",
)
"""Settings of NICs that are derived from the network if not set. One of them also depends on the flows, and
`link_rates_bps` cannot be set."""

# The deepest queue of the paper's switch is half of its 32 MB. Timeouts allow for this queue even with a smaller
# buffer: a timeout that is too long costs little, one that is too short resends packets that are merely queued. An
# unlimited buffer has no deepest queue.
_PAPERS_QUEUE_BYTES = 16_000_000


class _ChosenPhysics(StrictModel):
    """Properties of the network that a user may override."""

    line_rate_bps: PositiveRate | None = None
    base_rtt_ns: RoundTrip | None = None
    bdp_bytes: PositiveBytes | None = None


class _ChosenPackets(StrictModel):
    """Settings that determine the packet size, in which other settings are counted."""

    payload_bytes: PayloadBytes = DEFAULT_PAYLOAD_BYTES


@dataclass(frozen=True)
class NetworkSettings:
    """The settings of a run's switches and NICs."""

    physics: NetworkPhysics
    switch: SwitchSettings
    transport: TransportSettings

    @property
    def physics_config(self) -> Physics:
        """The properties of the network for config.json."""
        nics = {rate_bps: self.transport.of_nic(rate_bps) for rate_bps in self.physics.nic_rates_bps}
        windows = {rate_bps: _first_window_bytes(nic) for rate_bps, nic in nics.items()}
        is_mixed = len(nics) > 1
        return Physics(
            base_rtt_ns=self.physics.base_rtt_ns,
            bottleneck_bps=self.physics.bottleneck_bps,
            bdp_bytes=self.physics.bdp_bytes,
            nic_rates_bps=dict(self.physics.nic_rates_bps),
            window_bytes=windows[max(windows)],
            bdp_of_nics={rate_bps: nic.bdp_bytes for rate_bps, nic in nics.items()} if is_mixed else {},
            window_of_nics=windows if is_mixed else {},
        )

    @property
    def thresholds_bytes(self) -> dict[str, int]:
        """The queue depths that plots draw as lines."""
        switch = self.switch
        others = {"Q_eq": switch.qcn_q_eq_bytes, "CC_THRESH": switch.bolt_threshold_bytes}
        levels = {name: depth_bytes for name, depth_bytes in others.items() if depth_bytes is not None}
        return levels if switch.bts == "off" else {"Q_th": switch.q_th_bytes, "Q_tg": switch.q_tg_bytes, **levels}


def network_settings(topology: Topology, switch: Sequence[Layer], transport: Sequence[Layer]) -> NetworkSettings:
    """Return the settings of layers; later layers override earlier ones.

    Raises UsageError for an invalid setting, by the name that was typed, which may be a multiple such as `q_th_bdp`.
    """
    physics = _physics(topology, transport)
    try:
        chosen = _merged("switch", (FROM_NETWORK, *switch), physics)
        switches = validated(SwitchSettings, chosen, "switch", multiples_of(SwitchSettings.model_fields))
        hosts = _transport(physics, switches, transport, topology.link_rates_bps)
        _check_trimming(switches, hosts, physics.packet_bytes)
        _check_signals(switches, hosts, physics)
        _check_backpressure(switches, hosts)
        check_load_balancing(topology, switches)
    except UsageError as error:
        raise UsageError(_as_typed(str(error), physics, (*switch, *transport))) from error
    return NetworkSettings(physics, switches, hosts)


def _as_typed(message: str, physics: NetworkPhysics, layers: Sequence[Layer]) -> str:
    """Return a message with settings under the typed names of multiples, and the values that these stand for."""
    names = (*SwitchSettings.model_fields, *_TRANSPORT_NAMES)
    values = {name: value for layer in layers for name, value in layer.items()}
    notes = []
    for setting, typed in physics.typed_as(layers, names).items():
        message, count = re.subn(rf"\b{setting}\b", typed, message)
        if count:
            [(_, turned)] = physics.absolute({typed: values[typed]}, names).items()
            notes.append(f"{typed}={values[typed]} is {turned} {'ns' if setting.endswith('_ns') else 'B'}")
    return f"{message} ({'; '.join(notes)})" if notes else message


def on_target(settings: NetworkSettings, target: SwitchTarget) -> NetworkSettings:
    """Give acknowledgments a separate class if the target cannot tell them from data (docs/bmv2.md)."""
    if not target.acks_apart:
        return settings
    return replace(settings, transport=replace(settings.transport, ack_priority="control"))


def _physics(topology: Topology, transport: Sequence[Layer]) -> NetworkPhysics:
    """Return the network's properties, with the overrides of the transport settings."""
    physics = network_physics(topology)
    named = {name: value for layer in transport for name, value in layer.items() if name in _ChosenPhysics.model_fields}
    chosen = validated(_ChosenPhysics, named, "transport")
    if chosen.line_rate_bps is not None:
        physics = physics.with_nics_of(chosen.line_rate_bps)
    if chosen.base_rtt_ns is not None:
        physics = physics.with_base_rtt(chosen.base_rtt_ns)
    if chosen.bdp_bytes is not None:
        physics = physics.with_bdp(chosen.bdp_bytes)
    settings = _merged("transport", transport, physics)
    packets = {name: value for name, value in settings.items() if name in _ChosenPackets.model_fields}
    return physics.with_payload(validated(_ChosenPackets, packets, "transport").payload_bytes)


def _transport(
    physics: NetworkPhysics, switches: SwitchSettings, layers: Sequence[Layer], link_rates_bps: Sequence[int]
) -> TransportSettings:
    """Return the settings of all NICs. Raises UsageError for invalid parameters of algorithms too.

    Parameters that are not set stay open: each NIC derives them from its own rate (`Algorithms`).
    """
    full_queue_ns = 8 * NS_PER_S * _deepest_queue_bytes(switches) // physics.slowest_bps
    derived = {
        "full_queue_ns": full_queue_ns,
        "shortest_rtt_ns": physics.shortest_rtt_ns,
        "rto_ns": max(TransportSettings().rto_ns, two_digits_up(physics.base_rtt_ns + full_queue_ns)),
        "bdp_of_nics": {str(rate_bps): bdp_bytes for rate_bps, bdp_bytes in physics.bdp_of_nics.items()},
        **_PROGRAM_QUEUE,
    }
    fixed = {
        "line_rate_bps": max(physics.nic_rates_bps),
        "base_rtt_ns": physics.base_rtt_ns,
        "bdp_bytes": physics.bdp_bytes,
    }
    chosen = {**_merged("transport", (derived, *layers), physics), **fixed}
    unknown = set(chosen) - set(_TRANSPORT_NAMES)
    if unknown:
        name = min(unknown)
        near = nearest(name, (*_TRANSPORT_NAMES, *multiples_of(_TRANSPORT_NAMES)))
        raise UsageError(f"transport: there is no setting {shortened(', '.join(sorted(unknown)))}{near}")
    try:
        settings = TransportSettings.from_dict(chosen)
        algorithms = Algorithms(settings, Dilation())
    except (ValueError, TypeError) as error:
        raise UsageError(f"transport: {error}") from error
    _check_telemetry(physics, algorithms, settings)
    return _with_link_rates(settings, algorithms, link_rates_bps)


def _with_link_rates(
    settings: TransportSettings, algorithms: Algorithms, link_rates_bps: Sequence[int]
) -> TransportSettings:
    """Return the settings with the link rates that have codes in the compact layout, if that layout is used.

    Raise UsageError if there are too many rates, or if the user set them: the switches' codes follow from the network.
    """
    if settings.link_rates_bps:
        raise UsageError("transport: link_rates_bps: follows from the links of the network, so it cannot be set")
    if settings.int_layout != "compact" or not algorithms.congestion.wants_telemetry:
        return settings
    if len(link_rates_bps) > MOST_RATES:
        raise UsageError(
            f"transport: int_layout: compact has codes for {MOST_RATES} link rates, but this network has "
            f"{len(link_rates_bps)}; use int_layout=growing"
        )
    return replace(settings, link_rates_bps=tuple(link_rates_bps))


def _check_telemetry(physics: NetworkPhysics, algorithms: Algorithms, settings: TransportSettings) -> None:
    """Raise UsageError if telemetry of all switches on the longest path does not fit into a packet.

    A switch without space for its record leaves it out, and the congestion control would take its port for idle.
    """
    has_delay = algorithms.congestion.wants_delay or algorithms.flow_control.wants_delay
    is_stamped = has_delay and settings.int_layout == "growing"
    room = INT_MAX_HOPS - is_stamped
    if algorithms.congestion.wants_telemetry and physics.most_switches > room:
        extra = " with a time stamp" if is_stamped else ""
        raise UsageError(
            f"{settings.congestion} supports at most {room} switches on a path{extra}; "
            f"paths of this network have up to {physics.most_switches}"
        )


def _first_window_bytes(nic: TransportSettings) -> int | None:
    window_bytes = Algorithms(nic, Dilation()).new_congestion().window_bytes
    return None if window_bytes == UNLIMITED_WINDOW else window_bytes


def _check_trimming(switches: SwitchSettings, hosts: TransportSettings, packet_bytes: int) -> None:
    """Raise UsageError for settings that do not work with trimming switches.

    A data queue that is shorter than a packet would trim every copy of it, so no flow would ever end. Acknowledgments
    and pulls in the data queue would be trimmed too, and trimmed ones cannot be read. A packet with telemetry has
    longer headers than the 60 bytes that remain, so the switch would drop it.
    """
    if switches.trim_queue_bytes is None:
        return
    if Algorithms(hosts, Dilation()).uses_telemetry:
        raise UsageError(
            "switch: trim_queue_bytes: switches would drop packets that carry telemetry instead of cutting them; "
            f"choose between it and congestion {hosts.congestion} with flow_control {hosts.flow_control}"
        )
    if hosts.ack_priority == "data":
        raise UsageError(
            "transport: ack_priority: must be control where switches cut packets (switch.trim_queue_bytes), not data: "
            "they would cut acknowledgements and pulls among the data"
        )
    if switches.trim_queue_bytes < packet_bytes:
        raise UsageError(
            f"switch: trim_queue_bytes: must be at least {packet_bytes} B, the longest data packet of "
            f"transport.payload_bytes={hosts.payload_bytes}, not {switches.trim_queue_bytes}"
        )


def _check_signals(switches: SwitchSettings, hosts: TransportSettings, physics: NetworkPhysics) -> None:
    """Raise UsageError if switches do not send the signals of the congestion control, which would never react."""
    fields_of_switch = SwitchSettings.model_fields
    for control in RATE_CONTROLS.values():
        if control.transport["congestion"] != hosts.congestion:
            continue
        set_by_suffix = physics.absolute(control.switch, tuple(fields_of_switch))
        features = [name for name in set_by_suffix if not fields_of_switch[name].default]
        if features and not any(getattr(switches, name) for name in features):
            value = json.dumps(set_by_suffix[features[0]])
            raise UsageError(
                f"transport: congestion: {hosts.congestion} needs switches with {features[0]}; "
                f"use a scheme that ends in +{control.name}, or --set switch.{features[0]}={value}"
            )


def _check_backpressure(switches: SwitchSettings, hosts: TransportSettings) -> None:
    """Raise UsageError if only the switches or only the hosts run BFC: one side would ignore the other's pauses."""
    if switches.bfc_queues is not None and hosts.flow_control != "bfc":
        raise UsageError(
            f"switch: bfc_queues: must be null with flow_control {hosts.flow_control}, whose hosts ignore the pauses, "
            f"not {switches.bfc_queues}; use --scheme bfc, or --set transport.flow_control=bfc"
        )
    if switches.bfc_queues is None and hosts.flow_control == "bfc":
        raise UsageError(
            "transport: flow_control: bfc needs switches with bfc_queues; use --scheme bfc, or "
            "--set switch.bfc_queues=32"
        )


def _deepest_queue_bytes(switches: SwitchSettings) -> int:
    """Return the largest possible depth of a lone queue, alpha / (1 + alpha) of the buffer, at least the paper's."""
    if switches.buffer_bytes is None:
        return _PAPERS_QUEUE_BYTES
    return max(_PAPERS_QUEUE_BYTES, round(switches.buffer_bytes * switches.alpha / (1 + switches.alpha)))


def _merged(part: str, layers: Sequence[Layer], physics: NetworkPhysics) -> dict[str, Any]:
    """Merge layers; multiples become absolute values before merging, so that either form overrides the other."""
    names = tuple(SwitchSettings.model_fields) if part == "switch" else _TRANSPORT_NAMES
    merged: dict[str, Any] = {}
    for layer in layers:
        try:
            merged |= physics.absolute(layer, names)
        except ValueError as error:
            raise UsageError(f"{part}: {error}") from error
    return merged
