# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A Mininet of two hosts and two switches, h1 - s1 - s2 - h2, whose middle link is the bottleneck.

Must not know loads or theory.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from mininet.link import Link, TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet

from bench.queues.exercises import BUFFER_PACKETS, FULL_BYTES, HOST_PORT, SWITCH_PORT, Exercise
from bench.queues.measurement import Hosts
from bench.queues.switches import SimpleSwitch
from bench.queues.targets import Target
from sfc_testbed.hosts.io.namespaces import network_namespace
from sfc_testbed.hosts.io.packet_socket import PacketSocket
from sfc_testbed.hosts.io.socket_filter import Program
from sfc_testbed.testbed.system.namespace import disable_ipv6, private_network

_ALL_FRAMES: Program = [(0x06, 0, 0, 0x40000)]
_BITS_PER_MEGABIT = 1_000_000


@contextmanager
def bottleneck(
    exercise: Exercise, program: Path, rate_bps: int, target: Target, folder: Path, *, bmv2: str = "simple_switch"
) -> Iterator[Hosts]:
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
        yield Hosts(*ends)


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
