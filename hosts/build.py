# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""From hosts and flows as data to NICs with their messages. Knows the shape of that data, not whose classes it is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Address
from typing import Protocol

from hosts.transport.messages import IncomingMessage, NicAddress, OutgoingMessage
from hosts.transport.nic import Nic
from hosts.transport.settings import TransportSettings
from wire.addresses import parse_mac
from wire.dilation import Dilation


class HostData(Protocol):
    """A server with one NIC."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def ip(self) -> IPv4Address:
        """Its address."""

    @property
    def mac(self) -> str:
        """Its NIC's address."""

    @property
    def gateway_mac(self) -> str:
        """The address of the switch port it is plugged into."""

    @property
    def rate_bps(self) -> int:
        """Rate of its link (model)."""


class FlowData(Protocol):
    """A message on a queue pair of its own; `start_ns` is model time from the start of the run."""

    @property
    def flow_id(self) -> int:
        """Its number."""

    @property
    def src(self) -> str:
        """Name of the sending host."""

    @property
    def dst(self) -> str:
        """Name of the receiving host."""

    @property
    def source_qpn(self) -> int:
        """Queue pair at the sender."""

    @property
    def destination_qpn(self) -> int:
        """Queue pair at the receiver."""

    @property
    def size_bytes(self) -> int:
        """Length of the message."""

    @property
    def start_ns(self) -> int:
        """When it is ready to be pushed."""

    @property
    def tag(self) -> str:
        """Group it belongs to."""


def build_nic(host: HostData, settings: TransportSettings, dilation: Dilation, *, epoch_ns: int = 0) -> Nic:
    """The NIC of one host, no faster than its link."""
    own = replace(settings, line_rate_bps=min(settings.line_rate_bps, host.rate_bps))
    address = NicAddress(host.name, parse_mac(host.mac), int(host.ip), parse_mac(host.gateway_mac))
    return Nic(address, own, dilation, epoch_ns=epoch_ns)


def outgoing_message(flow: FlowData, destination_ip: IPv4Address, dilation: Dilation, start_ns: int) -> OutgoingMessage:
    """What the sender's NIC is told; `start_ns` is the wall instant of model time 0."""
    ready_ns = start_ns + dilation.wall_ns(flow.start_ns)
    return OutgoingMessage(
        flow.flow_id, flow.source_qpn, flow.destination_qpn, int(destination_ip), flow.size_bytes, ready_ns, flow.tag
    )


def incoming_message(flow: FlowData, source_ip: IPv4Address) -> IncomingMessage:
    """What the receiver's NIC is told."""
    return IncomingMessage(flow.flow_id, flow.source_qpn, flow.destination_qpn, int(source_ip), flow.size_bytes)


def build_nics(
    hosts: Sequence[HostData],
    host_of: Mapping[str, HostData],
    flows: Iterable[FlowData],
    settings: TransportSettings,
    dilation: Dilation,
    *,
    start_ns: int = 0,
) -> list[Nic]:
    """A NIC for each host, in order, each told of its messages. The epoch is `start_ns`."""
    nics = {host.name: build_nic(host, settings, dilation, epoch_ns=start_ns) for host in hosts}
    for flow in flows:
        nics[flow.src].send_message(outgoing_message(flow, host_of[flow.dst].ip, dilation, start_ns))
        nics[flow.dst].expect_message(incoming_message(flow, host_of[flow.src].ip))
    return list(nics.values())
