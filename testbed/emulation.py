# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The network of a run on Mininet: namespaces, veth pairs, addresses. The only module that imports Mininet.

Mininet makes the nodes and links and gives people its prompt; switches and NICs are processes of ours (`testbed.live`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mininet.cli import CLI
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import Host, Switch

from testbed.errors import RunError
from testbed.namespace import disable_ipv6_command, private_network
from topologies.model import Host as HostData
from topologies.model import Topology

HOST_INTERFACE = "{name}-eth0"
SWITCH_INTERFACE = "{name}-eth{port}"


class P4SwitchNode(Switch):  # type: ignore[misc]
    """A switch whose process somebody else starts; Mininet only owns its interfaces."""

    def start(self, controllers: Any) -> None:
        """Nothing to start here."""

    def stop(self, deleteIntfs: bool = True) -> None:
        super().stop(deleteIntfs)


class Emulation:
    """Mininet's nodes of a topology, wired and addressed."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.net = Mininet(controller=None, switch=P4SwitchNode, host=Host, build=False, waitConnected=False)
        self._build()

    def host_pid(self, name: str) -> int:
        """The process whose network namespace is the host's."""
        return int(self.net.get(name).pid)

    def prompt(self) -> None:
        """Mininet's own prompt, until the user leaves it."""
        setLogLevel("output")  # what commands print goes through Mininet's log
        CLI(self.net)

    def close(self) -> None:
        self.net.stop()

    def _build(self) -> None:
        for switch in self.topology.switches:
            self.net.addSwitch(switch.name)
        for host in self.topology.hosts:
            node = self.net.addHost(host.name, ip=None)
            node.cmd(disable_ipv6_command())
        for link in self.topology.links:
            names = {"intfName1": self._interface(link.a.node, link.a.number)}
            names["intfName2"] = self._interface(link.b.node, link.b.number)
            self.net.addLink(link.a.node, link.b.node, port1=link.a.number, port2=link.b.number, **names)
        for host in self.topology.hosts:
            self._address(host)

    def _interface(self, node: str, port: int) -> str:
        if node in self.topology.host:
            return HOST_INTERFACE.format(name=node)
        return SWITCH_INTERFACE.format(name=node, port=port)

    def _address(self, host: HostData) -> None:
        """One address, its ToR as the way to everything, nothing learned by ARP and nothing offloaded."""
        interface = HOST_INTERFACE.format(name=host.name)
        script = (
            f"ip link set {interface} address {host.mac} && ip address add {host.ip}/32 dev {interface} && "
            f"ip link set lo up && ip link set {interface} up && "
            f"ip neighbour replace {host.gateway_ip} lladdr {host.gateway_mac} nud permanent dev {interface} && "
            f"ip route replace default via {host.gateway_ip} dev {interface} onlink && "
            f"ethtool --offload {interface} tx off rx off tso off gso off gro off > /dev/null && echo addressed"
        )
        output = self.net.get(host.name).cmd(script)
        if "addressed" not in output:
            raise RunError(f"cannot set up {host.name}: {output.strip()}")


@contextmanager
def emulation(topology: Topology) -> Iterator[Emulation]:
    """A live network in a namespace of its own, gone at the end."""
    setLogLevel("critical")
    with private_network():
        network = Emulation(topology)
        try:
            yield network
        finally:
            network.close()
