# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The network of a run on Mininet: namespaces, veth pairs and addresses. No other module of a run imports Mininet.

Mininet creates the nodes, keeps the list of links and provides the prompt. The links are created over netlink instead:
Mininet's way, commands to the shells of nodes, takes most of the start of a large network. Switches and NICs are
processes of this package (`testbed.live.run`).
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from mininet.link import Intf, Link
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import Host, Switch

from os_helpers.child import how_ended
from sfc_testbed.hosts.io.links import Links, Settings, turn_off_offloads
from sfc_testbed.hosts.io.namespaces import network_namespace
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.live.container import HostContainer, HostContainers
from sfc_testbed.testbed.live.container_node import ContainerTerminal
from sfc_testbed.testbed.live.link_watch import LinkWatch
from sfc_testbed.testbed.live.shells import WatchedShell
from sfc_testbed.testbed.system.namespace import disable_ipv6, in_network_of, private_network
from sfc_testbed.testbed.targets.common.interfaces import HOST_INTERFACE, interface_of
from sfc_testbed.testbed.targets.common.wires import Wire
from sfc_testbed.topologies.model import Host as HostData
from sfc_testbed.topologies.model import Link as LinkData
from sfc_testbed.topologies.model import Port, Topology
from sfc_testbed.wire.ethernet import ORDINARY_MTU_BYTES

_SHELLS_AT_ONCE = 8
_END_SECONDS = 10.0


class HostNode(WatchedShell, Host):  # type: ignore[misc]
    """A host with its own namespace."""


class ContainerNode(WatchedShell, ContainerTerminal, Host):  # type: ignore[misc]
    """A host that is a container, with the container's namespace."""


class P4SwitchNode(WatchedShell, Switch):  # type: ignore[misc]
    """A switch whose process the run starts; Mininet only knows its interfaces."""

    def start(self, controllers: Any) -> None:
        """Do nothing: the run starts the switch's process."""

    def stop(self, deleteIntfs: bool = False) -> None:
        """Keep the interfaces unless Mininet removes only this switch; `Emulation.close` removes all of them."""
        super().stop(deleteIntfs)


class MadeInterface(Intf):  # type: ignore[misc]
    """An interface that exists and is configured already."""

    def config(self, **params: Any) -> dict[str, Any]:
        """Do nothing: the interface is configured."""
        return {}

    def updateIP(self) -> str | None:
        """Return the assigned address; Mininet would look at the interface, but the TAP device may have the address."""
        address: str | None = self.ip
        return address

    def updateMAC(self) -> str | None:
        """Return the assigned MAC address, for the same reason."""
        mac: str | None = self.mac
        return mac


class MadeLink(Link):  # type: ignore[misc]
    """A link whose interfaces exist already."""

    @classmethod
    def makeIntfPair(cls, *arguments: Any, **options: Any) -> None:
        """Do nothing: the interfaces exist."""


class Emulation:
    """Mininet's nodes of a topology, with links and addresses. A link in `wires` is split by the wire's node.

    Every interface has an MTU of `mtu_bytes`. The hosts are containers if `containers` is given.
    """

    def __init__(
        self,
        topology: Topology,
        wires: Sequence[Wire],
        interrupt: Interrupt,
        *,
        mtu_bytes: int,
        containers: HostContainers | None = None,
    ) -> None:
        self.topology = topology
        self.containers = containers
        self._interrupt = interrupt
        self._mtu_bytes = mtu_bytes
        self._wires = {wire.link: wire for wire in wires}
        self._watch: LinkWatch | None = None
        self.net = Mininet(controller=None, switch=P4SwitchNode, host=HostNode, build=False, waitConnected=False)
        try:
            self._build()
        except BaseException:
            self.close()
            raise

    def host_pid(self, name: str) -> int:
        """Return the ID of a process in the host's network namespace."""
        return int(self.net.get(name).pid)

    def host_pids(self) -> dict[str, int]:
        """Return the ID of a process in the network namespace of each host."""
        return {host.name: self.host_pid(host.name) for host in self.topology.hosts}

    def checkpoint(self) -> None:
        """Raise KeyboardInterrupt if an interruption was requested while the network starts."""
        self._interrupt.stop_if_requested()

    def watch_links(self) -> None:
        """Let `troubles` name the links that are lost from now on, when the switches have their interfaces."""
        self._stop_watching()
        self._watch = LinkWatch(self._watched())

    def _stop_watching(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def troubles(self) -> list[str]:
        """Return one line for each link that was lost and for each host whose shell has ended."""
        lost = [] if self._watch is None else self._watch.troubles()
        ended = [node for node in self.net.hosts if node.shell is not None and node.shell.poll() is not None]
        return [*lost, *(_obituary(node) for node in ended)]

    def allow_down(self, interface: str) -> None:
        """Let the testbed take an interface down without a line in `troubles`."""
        if self._watch is not None:
            self._watch.allow(interface)

    def shell(self, node: str, script: str) -> str:
        """Return the output of a script in the network namespace of a node.

        It uses this machine's programs, because the image of a container may have neither `ip` nor `tc`.
        """
        words = in_network_of(int(self.net.get(node).pid), "sh", "-c", script)
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.stdout

    def close(self) -> None:
        """Remove all links at once, then the nodes; all shells get a hangup before the first one is waited for."""
        self._stop_watching()
        with Links() as links:
            links.remove_pairs()
        self.net.links.clear()
        if self.containers is not None:
            self.containers.remove_all()
        for node in self.net.values():
            if node.shell is not None and node.shell.poll() is None:
                os.killpg(node.pid, signal.SIGHUP)
        self._kill_hanging_shells()
        self.net.stop()

    def _kill_hanging_shells(self) -> None:
        """Kill shells that do not end in time; Mininet would wait for them without a limit."""
        deadline_s = time.monotonic() + _END_SECONDS
        for node in self.net.values():
            if node.shell is None:
                continue
            try:
                node.shell.wait(max(0.0, deadline_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(node.pid, signal.SIGKILL)

    def _build(self) -> None:
        for switch in self.topology.switches:
            self.net.addSwitch(switch.name)
        for node in dict.fromkeys(wire.node for wire in self._wires.values()):
            self.net.addSwitch(node)
        self.add_hosts()
        try:
            with Links() as links:
                for link in self.topology.links:
                    self.checkpoint()
                    self._make(links, link)
            for host in self.topology.hosts:
                self.checkpoint()
                self._address(host)
        except OSError as error:
            raise RunError(f"cannot wire the network: {error.strerror}") from error

    def _watched(self) -> dict[str, str]:
        """Return the interfaces of links in this namespace, with the names of their links."""
        watched = {}
        for link in self.topology.links:
            ends = [interface_of(self.topology, end) for end in (link.a, link.b) if end.node not in self.topology.host]
            middle = self._wires[link].interfaces if link in self._wires else ()
            watched.update(dict.fromkeys((*ends, *middle), f"{link.a.node}-{link.b.node}"))
        return watched

    def add_hosts(self) -> None:
        """Add the hosts, several at a time, since Mininet waits for the answer of each shell."""
        names = [host.name for host in self.topology.hosts]
        with ThreadPoolExecutor(_SHELLS_AT_ONCE) as pool:
            try:
                list(pool.map(self._add_host, names))
            except BaseException:
                pool.shutdown(cancel_futures=True)  # the remaining hosts would fail in the same way
                raise
        self.net.hosts.sort(key=lambda node: names.index(node.name))
        for node in self.net.hosts:
            with network_namespace(node.pid):
                disable_ipv6()

    def _add_host(self, name: str) -> None:
        self.checkpoint()
        if self.containers is None:
            self.net.addHost(name, ip=None)
        else:
            self.net.addHost(name, cls=ContainerNode, ip=None, container=self.containers.start(name))

    def _make(self, links: Links, link: LinkData) -> None:
        if link not in self._wires:
            self._join(links, link.a, link.b, interface_of(self.topology, link.b))
            return
        wire = self._wires[link]
        for end, port, interface in zip((link.a, link.b), wire.ports, wire.interfaces, strict=True):
            self._join(links, end, Port(wire.node, port), interface)

    def _join(self, links: Links, a: Port, b: Port, b_interface: str) -> None:
        """Create a link and register it in Mininet. Switches are in the current namespace, hosts in their own."""
        a_interface = interface_of(self.topology, a)
        ends = [(a.node, a_interface), (b.node, b_interface)]
        (_, local), (node, remote) = sorted(ends, key=lambda end: end[0] in self.topology.host)
        if node in self.topology.host:
            links.add_pair(local, remote, peer_pid=self.host_pid(node), mtu_bytes=self._mtu_bytes)
        else:
            links.add_pair(local, remote, mtu_bytes=self._mtu_bytes)
            links.set_up(remote)
        names = {"intfName1": a_interface, "intfName2": b_interface}
        self.net.addLink(a.node, b.node, a.number, b.number, cls=MadeLink, intf=MadeInterface, **names)

    def _address(self, host: HostData) -> None:
        """Give a host its address, route everything to its ToR, and switch off ARP and offloads."""
        name = HOST_INTERFACE.format(name=host.name)
        with network_namespace(self.host_pid(host.name)), Links() as links:
            links.set_up("lo")
            links.set_mac(name, host.mac)
            links.set_up(name)
            links.give(name, Settings.of_host(host.ip, host.gateway_ip, host.gateway_mac))
            turn_off_offloads([name])
        interface = self.net.get(host.name).intf(name)
        interface.mac, interface.ip, interface.prefixLen = host.mac, str(host.ip), "32"


def _obituary(node: Any) -> str:
    if isinstance(node.shell, HostContainer):
        return node.shell.obituary()
    return f"the shell of {node.name} {how_ended(node.shell.returncode)}"


@contextmanager
def emulation(
    topology: Topology,
    wires: Sequence[Wire] = (),
    interrupt: Interrupt | None = None,
    *,
    mtu_bytes: int = ORDINARY_MTU_BYTES,
    containers: HostContainers | None = None,
) -> Iterator[Emulation]:
    """Provide a live network in its own network namespace, and remove it at the end.

    Raises KeyboardInterrupt if `interrupt` is requested while the network starts.
    """
    setLogLevel("critical")
    with private_network():
        network = Emulation(topology, wires, interrupt or Interrupt(), mtu_bytes=mtu_bytes, containers=containers)
        try:
            yield network
        finally:
            network.close()
