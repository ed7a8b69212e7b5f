# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The network of a run on Mininet: namespaces, veth pairs, addresses. The only module that imports Mininet.

Mininet makes the nodes and links and gives people its prompt; switches and NICs are processes of
ours (`testbed.live.run`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from mininet.cli import CLI
from mininet.log import output, setLogLevel
from mininet.net import Mininet
from mininet.node import Host, Switch

from testbed.errors import RunError
from testbed.system.namespace import disable_ipv6_command, private_network
from testbed.targets.common.interfaces import HOST_INTERFACE, interface_of
from testbed.targets.common.wires import Wire
from topologies.model import Host as HostData
from topologies.model import Port, Topology


class P4SwitchNode(Switch):  # type: ignore[misc]
    """A switch whose process somebody else starts; Mininet only owns its interfaces."""

    def start(self, controllers: Any) -> None:
        """Nothing to start here."""

    def stop(self, deleteIntfs: bool = True) -> None:
        super().stop(deleteIntfs)


class Emulation:
    """Mininet's nodes of a topology, wired and addressed. A link that `wires` cuts ends at the wire's node."""

    def __init__(self, topology: Topology, wires: Sequence[Wire] = ()) -> None:
        self.topology = topology
        self._wires = {wire.link: wire for wire in wires}
        self.net = Mininet(controller=None, switch=P4SwitchNode, host=Host, build=False, waitConnected=False)
        self._build()

    def host_pid(self, name: str) -> int:
        """The process whose network namespace is the host's."""
        return int(self.net.get(name).pid)

    def shell(self, node: str, script: str) -> str:
        """What a script prints in the namespace of a node; Mininet knows no exit status."""
        output: str = self.net.get(node).cmd(script)
        return output

    def prompt(self, verbs: Mapping[str, Callable[[Sequence[str]], str]]) -> None:
        """Mininet's own prompt with these verbs added, until the user leaves it. A ValueError of a verb is printed."""
        setLogLevel("output")  # what commands print goes through Mininet's log
        methods = {f"do_{name}": _prompt_method(verb) for name, verb in verbs.items()}
        type("Prompt", (CLI,), methods)(self.net)

    def close(self) -> None:
        self.net.stop()

    def _build(self) -> None:
        for switch in self.topology.switches:
            self.net.addSwitch(switch.name)
        for host in self.topology.hosts:
            node = self.net.addHost(host.name, ip=None)
            node.cmd(disable_ipv6_command())
        for node in dict.fromkeys(wire.node for wire in self._wires.values()):
            self.net.addSwitch(node)
        for link in self.topology.links:
            if link in self._wires:
                wire = self._wires[link]
                for end, port, interface in zip((link.a, link.b), wire.ports, wire.interfaces, strict=True):
                    self._join(end, Port(wire.node, port), interface)
            else:
                self._join(link.a, link.b, interface_of(self.topology, link.b))
        for host in self.topology.hosts:
            self._address(host)

    def _join(self, a: Port, b: Port, b_interface: str) -> None:
        names = {"intfName1": interface_of(self.topology, a), "intfName2": b_interface}
        self.net.addLink(a.node, b.node, port1=a.number, port2=b.number, **names)

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


def _prompt_method(verb: Callable[[Sequence[str]], str]) -> Callable[[Any, str], None]:
    """A verb as Mininet's prompt calls it, its docstring being the prompt's help."""

    def method(prompt: Any, line: str) -> None:
        try:
            output(f"{verb(line.split())}\n")
        except ValueError as error:
            output(f"{error}\n")

    method.__doc__ = verb.__doc__
    return method


@contextmanager
def emulation(topology: Topology, wires: Sequence[Wire] = ()) -> Iterator[Emulation]:
    """A live network in a namespace of its own, gone at the end."""
    setLogLevel("critical")
    with private_network():
        network = Emulation(topology, wires)
        try:
            yield network
        finally:
            network.close()
