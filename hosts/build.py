# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""From a network and flows as data to NICs with their messages."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from ipaddress import IPv4Address
from types import MappingProxyType

from hosts.agent_config import HostStall
from hosts.transport.algorithms import Algorithms
from hosts.transport.messages import IncomingMessage, NicAddress, OutgoingMessage
from hosts.transport.nic import Nic
from hosts.transport.settings import TransportSettings
from hosts.transport.standstill import StallingNic, Standstill
from scenarios.model.flow import Flow
from topologies.model import Host, Topology
from wire.addresses import parse_mac
from wire.dilation import Dilation


class NicBuilder:
    """Builds the NICs of a network. What those of one rate share is made once."""

    def __init__(self, settings: TransportSettings, dilation: Dilation, *, epoch_ns: int = 0) -> None:
        """`settings` in model units, of all of them."""
        self._settings = settings
        self._dilation = dilation
        self._epoch_ns = epoch_ns
        self._by_rate: dict[int, Algorithms] = {}

    def build(self, host: Host, stalls: Sequence[HostStall] = ()) -> Nic:
        """The NIC of one host, as its own link has it; one with stalls is to be told when they are (`plan_stalls`)."""
        address = NicAddress(host.name, parse_mac(host.mac), int(host.ip), parse_mac(host.gateway_mac))
        kind = StallingNic if stalls else Nic
        return kind(address, self._of_rate(host.rate_bps), epoch_ns=self._epoch_ns)

    def _of_rate(self, rate_bps: int) -> Algorithms:
        if rate_bps not in self._by_rate:
            self._by_rate[rate_bps] = Algorithms(self._settings.of_nic(rate_bps), self._dilation)
        return self._by_rate[rate_bps]


def plan_stalls(nic: Nic, stalls: Iterable[HostStall], dilation: Dilation, start_ns: int) -> None:
    """Tells a NIC when it stands still; `start_ns` is the wall instant of model time 0."""
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
    """What the sender's NIC is told; `start_ns` is the wall instant of model time 0."""
    return OutgoingMessage(
        flow_id=flow.flow_id,
        source_qpn=flow.source_qpn,
        destination_qpn=flow.destination_qpn,
        destination_ip=int(destination_ip),
        size_bytes=flow.size_bytes,
        ready_ns=start_ns + dilation.wall_ns(flow.start_ns),
        after=flow.after,
        delay_ns=dilation.wall_ns(flow.delay_ns),
    )


def incoming_message(flow: Flow, source_ip: IPv4Address) -> IncomingMessage:
    """What the receiver's NIC is told."""
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
    start_ns: int = 0,
    stalls: Mapping[str, Sequence[HostStall]] = MappingProxyType({}),
    only: Collection[str] | None = None,
) -> list[Nic]:
    """A NIC for each host, or for some of them, in order, each told of its messages and stalls. The epoch is
    `start_ns`."""
    nics: dict[str, Nic] = {}
    builder = NicBuilder(settings, dilation, epoch_ns=start_ns)
    for host in topology.hosts if only is None else (topology.host[name] for name in only):
        own = stalls.get(host.name, ())
        nics[host.name] = builder.build(host, own)
        plan_stalls(nics[host.name], own, dilation, start_ns)
    for flow in flows:
        if flow.src in nics:
            nics[flow.src].send_message(outgoing_message(flow, topology.host[flow.dst].ip, dilation, start_ns))
        if flow.dst in nics:
            nics[flow.dst].expect_message(incoming_message(flow, topology.host[flow.src].ip))
    return list(nics.values())
