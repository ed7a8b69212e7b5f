# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Construction of NICs and their messages from a topology and a list of flows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from ipaddress import IPv4Address
from types import MappingProxyType
from typing import TYPE_CHECKING

from sfc_testbed.hosts.transport.algorithms import Algorithms
from sfc_testbed.hosts.transport.messages import IncomingMessage, NicAddress, OutgoingMessage
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.standstill import StallingNic, Standstill
from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.topologies.model import Host, Topology
from sfc_testbed.wire.addresses import parse_mac
from sfc_testbed.wire.dilation import Dilation

if TYPE_CHECKING:
    from sfc_testbed.hosts.agent_config import HostRate, HostStall


class NicBuilder:
    """Builder of the NICs of a network. NICs of the same rate share one `Algorithms` object."""

    def __init__(self, settings: TransportSettings, dilation: Dilation, *, epoch_ns: int = 0) -> None:
        """Use the same `settings`, in model units, for all NICs."""
        self._settings = settings
        self._dilation = dilation
        self._epoch_ns = epoch_ns
        self._by_rate: dict[int, Algorithms] = {}

    def build(self, host: Host, stalls: Sequence[HostStall] = ()) -> Nic:
        """Build the NIC of one host, at the rate of the host's link.

        With `stalls` the NIC can stall, but the caller must still set the times with `plan_stalls`.
        """
        address = NicAddress(host.name, parse_mac(host.mac), int(host.ip), parse_mac(host.gateway_mac))
        kind = StallingNic if stalls else Nic
        return kind(address, self._algorithms(host.rate_bps), epoch_ns=self._epoch_ns)

    def plan_rates(self, nic: Nic, host: Host, rates: Iterable[HostRate], start_ns: int) -> None:
        """Set the times at which the link of a NIC changes its rate; `start_ns` is the wall instant of model time 0."""
        for change in rates:
            usual = self._settings.of_nic(host.rate_bps)
            algorithms = Algorithms(usual.at_rate(change.rate_bps), self._dilation)
            nic.plan_rate(start_ns + self._dilation.wall_ns(change.at_ns), algorithms)

    def _algorithms(self, rate_bps: int) -> Algorithms:
        if rate_bps not in self._by_rate:
            self._by_rate[rate_bps] = Algorithms(self._settings.of_nic(rate_bps), self._dilation)
        return self._by_rate[rate_bps]


def plan_stalls(nic: Nic, stalls: Iterable[HostStall], dilation: Dilation, start_ns: int) -> None:
    """Set the times at which a NIC stalls; `start_ns` is the wall instant of model time 0."""
    if isinstance(nic, StallingNic):
        nic.stand_still(
            Standstill(
                start_ns + dilation.wall_ns(stall.at_ns),
                start_ns + dilation.wall_ns(stall.at_ns + stall.for_ns),
                stall.ring_frames,
            )
            for stall in stalls
        )


def outgoing_message(flow: Flow, destination_ip: IPv4Address, dilation: Dilation, start_ns: int) -> OutgoingMessage:
    """Return a flow's message as the sender's NIC needs it; `start_ns` is the wall instant of model time 0."""
    return OutgoingMessage(
        flow_id=flow.flow_id,
        source_qpn=flow.source_qpn,
        destination_qpn=flow.destination_qpn,
        destination_ip=int(destination_ip),
        size_bytes=flow.size_bytes,
        ready_ns=start_ns + dilation.wall_ns(flow.start_ns),
        after=flow.after,
        delays_ns=tuple(map(dilation.wall_ns, flow.delays_ns)),
    )


def incoming_message(flow: Flow, source_ip: IPv4Address) -> IncomingMessage:
    """Return a flow's message as the receiver's NIC needs it."""
    return IncomingMessage(
        flow_id=flow.flow_id,
        source_qpn=flow.source_qpn,
        destination_qpn=flow.destination_qpn,
        source_ip=int(source_ip),
        size_bytes=flow.size_bytes,
    )


def build_nics(
    topology: Topology,
    flows: Iterable[Flow],
    settings: TransportSettings,
    dilation: Dilation,
    *,
    stalls: Mapping[str, Sequence[HostStall]] = MappingProxyType({}),
    rates: Mapping[str, Sequence[HostRate]] = MappingProxyType({}),
    only: Collection[str] | None = None,
) -> list[Nic]:
    """Build a NIC for every host or for the hosts named in `only`, in order, with its messages, stalls and rates.

    Model time 0 and the epoch of the NICs are at 0 ns.
    """
    nics: dict[str, Nic] = {}
    builder = NicBuilder(settings, dilation)
    for host in topology.hosts if only is None else (topology.host[name] for name in only):
        host_stalls = stalls.get(host.name, ())
        nics[host.name] = builder.build(host, host_stalls)
        plan_stalls(nics[host.name], host_stalls, dilation, 0)
        builder.plan_rates(nics[host.name], host, rates.get(host.name, ()), 0)
    for flow in flows:
        if flow.src in nics:
            nics[flow.src].send_message(outgoing_message(flow, topology.host[flow.dst].ip, dilation, 0))
        if flow.dst in nics:
            nics[flow.dst].expect_message(incoming_message(flow, topology.host[flow.src].ip))
    return list(nics.values())
