# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Simulates an incast over a 2-tier Clos in ns-3, and prints the received bytes of each message as JSON.

usage: ns3_incast.py TORS HOSTS_PER_TOR SPINES SENDERS BYTES PAYLOAD_BYTES

Needs a Python interpreter with the ns-3 wheel. The transport is TCP with ns-3's defaults, because ns-3 includes no
RoCEv2. All links have 100 Gb/s. The delay is 1 us for the links of hosts and 1.5 us for the others.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from ns import ns  # type: ignore[import-not-found]

FIRST_PORT = 9
RATE = "100Gbps"
STOP_S = 1000.0


def build(tors: int, hosts_per_tor: int, spines: int) -> tuple[Any, Any]:
    """Build the network; return its hosts and the address of the first host."""
    hosts, tor_nodes, spine_nodes = ns.NodeContainer(), ns.NodeContainer(), ns.NodeContainer()
    hosts.Create(tors * hosts_per_tor)
    tor_nodes.Create(tors)
    spine_nodes.Create(spines)
    stack = ns.InternetStackHelper()
    stack.SetRoutingHelper(ns.Ipv4NixVectorHelper())  # global routing searches a list of all links at every hop
    for nodes in (hosts, tor_nodes, spine_nodes):
        stack.Install(nodes)
    address = ns.Ipv4AddressHelper()
    address.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.255.252"))
    first = None
    for host in range(hosts.GetN()):
        devices = link("1us").Install(hosts.Get(host), tor_nodes.Get(host // hosts_per_tor))
        addresses = address.Assign(devices)
        address.NewNetwork()
        first = addresses.GetAddress(0) if first is None else first
    for tor in range(tors):
        for spine in range(spines):
            address.Assign(link("1500ns").Install(tor_nodes.Get(tor), spine_nodes.Get(spine)))
            address.NewNetwork()
    return hosts, first


def link(delay: str) -> Any:
    """Return the helper that connects two nodes with a link of this delay."""
    helper = ns.PointToPointHelper()
    helper.SetDeviceAttribute("DataRate", ns.StringValue(RATE))
    helper.SetChannelAttribute("Delay", ns.StringValue(delay))
    return helper


def load(hosts: Any, receiver: Any, senders: int, message_bytes: int) -> list[Any]:
    """Install one message from each of `senders` evenly spread hosts; return the receiving application of each."""
    sinks = []
    for number in range(senders):
        port = FIRST_PORT + number
        here = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), port).ConvertTo()
        sinks.append(ns.PacketSinkHelper("ns3::TcpSocketFactory", here).Install(hosts.Get(0)))
        bulk = ns.BulkSendHelper("ns3::TcpSocketFactory", ns.InetSocketAddress(receiver, port).ConvertTo())
        bulk.SetAttribute("MaxBytes", ns.UintegerValue(message_bytes))
        bulk.Install(hosts.Get(1 + number * (hosts.GetN() - 1) // senders))
    return sinks


def main() -> None:
    """Build and run the simulation, and print the received bytes of each message."""
    tors, hosts_per_tor, spines, senders, message_bytes, payload_bytes = (int(word) for word in sys.argv[1:])
    ns.Config.SetDefault("ns3::TcpSocket::SegmentSize", ns.UintegerValue(payload_bytes))
    hosts, receiver = build(tors, hosts_per_tor, spines)
    sinks = load(hosts, receiver, senders, message_bytes)
    ns.Simulator.Stop(ns.Seconds(STOP_S))
    ns.Simulator.Run()
    print(json.dumps([int(sink.Get(0).GetObject[ns.PacketSink]().__deref__().GetTotalRx()) for sink in sinks]))
    ns.Simulator.Destroy()


if __name__ == "__main__":
    main()
