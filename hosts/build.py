# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""From a network and flows as data to NICs with their messages."""

from collections.abc import Iterable
from dataclasses import replace
from ipaddress import IPv4Address

from hosts.transport.messages import IncomingMessage, NicAddress, OutgoingMessage
from hosts.transport.nic import Nic
from hosts.transport.settings import TransportSettings
from scenarios.model.flow import Flow
from topologies.model import Host, Topology
from wire.addresses import parse_mac
from wire.dilation import Dilation


def build_nic(host: Host, settings: TransportSettings, dilation: Dilation, *, epoch_ns: int = 0) -> Nic:
    """The NIC of one host, no faster than its link."""
    own = replace(settings, line_rate_bps=min(settings.line_rate_bps, host.rate_bps))
    address = NicAddress(host.name, parse_mac(host.mac), int(host.ip), parse_mac(host.gateway_mac))
    return Nic(address, own, dilation, epoch_ns=epoch_ns)


def outgoing_message(flow: Flow, destination_ip: IPv4Address, dilation: Dilation, start_ns: int) -> OutgoingMessage:
    """What the sender's NIC is told; `start_ns` is the wall instant of model time 0."""
    return OutgoingMessage(
        flow_id=flow.flow_id,
        source_qpn=flow.source_qpn,
        destination_qpn=flow.destination_qpn,
        destination_ip=int(destination_ip),
        size_bytes=flow.size_bytes,
        ready_ns=start_ns + dilation.wall_ns(flow.start_ns),
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
    topology: Topology, flows: Iterable[Flow], settings: TransportSettings, dilation: Dilation, *, start_ns: int = 0
) -> list[Nic]:
    """A NIC for each host, in order, each told of its messages. The epoch is `start_ns`."""
    nics = {host.name: build_nic(host, settings, dilation, epoch_ns=start_ns) for host in topology.hosts}
    for flow in flows:
        nics[flow.src].send_message(outgoing_message(flow, topology.host[flow.dst].ip, dilation, start_ns))
        nics[flow.dst].expect_message(incoming_message(flow, topology.host[flow.src].ip))
    return list(nics.values())
