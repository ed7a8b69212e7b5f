# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A Mininet of two hosts and two switches, h1 - s1 - s2 - h2, whose middle link is the bottleneck.

The targets differ in the switch and in the place of the bottleneck's rate. Must not know loads or measurements.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mininet.link import Link, TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet

from bench.queues.exercises import BUFFER_PACKETS, FULL_BYTES, HOST_PORT, SWITCH_PORT, Exercise
from bench.queues.switches import SimpleSwitch
from hosts.io.namespaces import network_namespace
from hosts.io.packet_socket import PacketSocket
from hosts.io.socket_filter import Program
from softswitch.child import EXECUTABLE
from testbed.system.namespace import disable_ipv6, private_network

_ALL_FRAMES: Program = [(0x06, 0, 0, 0x40000)]
_BITS_PER_MEGABIT = 1_000_000


@dataclass(frozen=True)
class Target:
    """A switch, and the place in which the bottleneck gets its rate."""

    name: str
    label: str
    is_bmv2: bool
    has_packet_rate: bool = False
    """Whether the switch's queue has the rate, in packets/s. Otherwise a TCLink has it, in bits/s."""

    def executable(self, bmv2: str) -> list[str]:
        """Return the command of the switch; `bmv2` is the path of BMv2's simple_switch."""
        return [bmv2] if self.is_bmv2 else [sys.executable, str(EXECUTABLE)]


SOFTSWITCH = Target("softswitch", "softswitch", is_bmv2=False)
BMV2_QUEUE = Target("bmv2-queue", "BMv2, set_queue_rate", is_bmv2=True, has_packet_rate=True)
BMV2_TCLINK = Target("bmv2-tclink", "BMv2, TCLink", is_bmv2=True)
TARGETS = (SOFTSWITCH, BMV2_QUEUE, BMV2_TCLINK)


@dataclass(frozen=True)
class Bottleneck:
    """A running network, by the sockets of its hosts."""

    sender: PacketSocket
    receiver: PacketSocket


@contextmanager
def bottleneck(
    exercise: Exercise, program: Path, rate_bps: int, target: Target, folder: Path, *, bmv2: str = "simple_switch"
) -> Iterator[Bottleneck]:
    """Run the network in a namespace of its own, with the program (BMv2 JSON) in both switches."""
    setLogLevel("error")
    with ExitStack() as stack:
        stack.enter_context(private_network())
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        net = Mininet(controller=None)
        stack.callback(net.stop)
        for number in (1, 2):
            net.addSwitch(
                f"s{number}",
                cls=SimpleSwitch,
                number=number,
                executable=target.executable(bmv2),
                program=program,
                commands=exercise.commands(number),
                folder=folder,
            )
            net.addHost(f"h{number}", ip=f"10.0.{number}.{number}/16")
            net.addLink(f"h{number}", f"s{number}", port2=HOST_PORT, cls=Link)
        _join(net, rate_bps, target)
        net.start()
        if target.has_packet_rate:
            packets_per_s = round(rate_bps / (8 * FULL_BYTES))
            net.get("s1").set_queue(SWITCH_PORT, packets_per_s=packets_per_s, depth=BUFFER_PACKETS)
        ends = [_socket_of(net.get(name)) for name in ("h1", "h2")]
        for end in ends:
            stack.callback(end.close)
        yield Bottleneck(*ends)


def _join(net: Mininet, rate_bps: int, target: Target) -> None:
    """Connect the switches."""
    ports = {"port1": SWITCH_PORT, "port2": SWITCH_PORT}
    if target.has_packet_rate:
        net.addLink("s1", "s2", cls=Link, **ports)
    else:
        net.addLink("s1", "s2", cls=TCLink, bw=rate_bps / _BITS_PER_MEGABIT, **ports)


def _socket_of(host: Any) -> PacketSocket:
    with network_namespace(host.pid):
        disable_ipv6()
        return PacketSocket(f"{host.name}-eth0", _ALL_FRAMES)
