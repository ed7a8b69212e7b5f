# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Frames that a hostile host sends on its wire in a live network: they cannot reach anything but addresses of hosts.

docs/security.md describes these properties.
"""

from __future__ import annotations

import json
import os
import select
import socket
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, Raw

from sfc_testbed.hosts.io.namespaces import network_namespace
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.plan.plan import plan_network
from sfc_testbed.testbed.system.run_ids import STATE_ROOT
from sfc_testbed.testbed.targets.bmv2.installation import missing_bmv2
from sfc_testbed.wire.constants import BTS_UDP_PORT, INT_UDP_PORT, ROCE_UDP_PORT
from tests.appearing import comes_true
from tests.testbed import running

pytestmark = running.NEEDS_MININET
NEEDS_BMV2 = pytest.mark.skipif(missing_bmv2() is not None, reason=f"no BMv2: {missing_bmv2()}")
BROADCAST = "ff:ff:ff:ff:ff:ff"
_IGNORE_OUTGOING = (263, 23, 1)


def _network(target: str, folder: Path) -> Any:
    from sfc_testbed.testbed.live.run import live_network

    request = RunSpec("none", switch=target, dilation=1000, topology="star", settings={"topology.hosts": 3})
    return live_network(plan_network(request), folder)


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Any]:
    """Start a star of three hosts on softswitch, with umask 0."""
    with ExitStack() as stack:
        stack.callback(os.umask, os.umask(0))
        yield stack.enter_context(_network("soft", tmp_path))


def _namespace(pid: int | str) -> str:
    return str(Path(f"/proc/{pid}/ns/net").readlink())


@pytest.mark.parametrize("target", ["soft", pytest.param("bmv2", marks=NEEDS_BMV2)])
def test_the_network_is_isolated_from_the_machine(target: str, tmp_path: Path) -> None:
    """Sockets are private even with umask 0; listening ports are in a namespace without a route outwards."""
    machine = _namespace("self")
    with ExitStack() as stack:
        stack.callback(os.umask, os.umask(0))
        network = stack.enter_context(_network(target, tmp_path))
        state = STATE_ROOT / network.run_id
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in state.iterdir()}
        assert len(modes) >= 2 and set(modes.values()) == {0o600}, modes
        assert [stat.S_IMODE(path.stat().st_mode) for path in (STATE_ROOT, state)] == [0o700, 0o700]
        children = running.children_of(os.getpid())
        assert len(children) > len(network.plan.topology.hosts)
        assert machine not in {_namespace(child.pid) for child in children}
        shared = network.emulation.shell("s1", "ip -json address")
        addresses = [address["local"] for link in json.loads(shared) for address in link["addr_info"]]
        assert set(addresses) <= {"127.0.0.1"}
        assert network.emulation.shell("s1", "ip route").strip() == ""
        namespaces = {_namespace(network.emulation.host_pid(host.name)) for host in network.plan.topology.hosts}
        assert len(namespaces) == 3 and machine not in namespaces


def _frames(network: Any) -> dict[str, Packet]:
    first, second, _ = network.plan.topology.hosts
    switch_mac = json.loads(network.emulation.shell("s1", "ip -json link show s1-eth1"))[0]["address"]
    up = Ether(src=first.mac, dst=first.gateway_mac)
    to_second = IP(src=str(first.ip), dst=str(second.ip))
    kernel = Ether(src=first.mac, dst=switch_mac)
    mac_control = Ether(src=first.mac, dst="01:80:c2:00:00:01", type=0x8808)
    body = Raw(bytes(40))
    return {
        "a BTS": up / to_second / UDP(sport=50_000, dport=BTS_UDP_PORT) / Raw(b"\1" + bytes(63)),
        "a BTS that ends early": up / to_second / UDP(dport=BTS_UDP_PORT) / Raw(b"\1"),
        "RoCE that ends early": up / to_second / UDP(dport=ROCE_UDP_PORT) / Raw(b"\4\0\0"),
        "more hops than there are": up / to_second / UDP(dport=INT_UDP_PORT) / Raw(b"\xff" * 60),
        "a spent TTL": up / IP(src=str(first.ip), dst=str(second.ip), ttl=1) / UDP() / body,
        "a wrong checksum": up / IP(src=str(first.ip), dst=str(second.ip), chksum=1) / UDP() / body,
        "options": up / IP(src=str(first.ip), dst=str(second.ip), options=b"\1\1\1\0") / UDP() / body,
        "a length that is not there": up / IP(src=str(first.ip), dst=str(second.ip), len=65_535) / UDP() / body,
        "IPv7": up / IP(src=str(first.ip), dst=str(second.ip), version=7) / UDP() / body,
        "half a header": Ether(src=first.mac, dst=first.gateway_mac, type=0x800) / Raw(b"\x45"),
        "ARP for the gateway": Ether(src=first.mac, dst=BROADCAST)
        / ARP(pdst=str(first.gateway_ip), psrc=str(first.ip)),
        "ARP for a host": Ether(src=first.mac, dst=BROADCAST) / ARP(pdst=str(second.ip), psrc=str(first.ip)),
        "ARP for loopback": Ether(src=first.mac, dst=BROADCAST) / ARP(pdst="127.0.0.1", psrc=str(first.ip)),
        "a VLAN tag": up / Dot1Q(vlan=100) / to_second / UDP() / body,
        "a priority tag": up / Dot1Q(vlan=0, prio=5) / to_second / UDP() / body,
        "two tags": up / Dot1AD() / Dot1Q() / to_second / UDP() / body,
        "IPv6": Ether(src=first.mac, dst="33:33:00:00:00:01") / IPv6(src="fe80::1", dst="ff02::1") / body,
        "LLDP": Ether(src=first.mac, dst="01:80:c2:00:00:0e", type=0x88CC) / Raw(b"\2\7\4" + bytes(50)),
        "loopback of the switch's kernel": kernel / IP(src=str(first.ip), dst="127.0.0.1") / ICMP(),
        "loopback from loopback": kernel / IP(src="127.0.0.1", dst="127.0.0.1") / ICMP(),
        "a broadcast": Ether(src=first.mac, dst=BROADCAST)
        / IP(src=str(first.ip), dst="255.255.255.255")
        / UDP()
        / body,
        "a multicast": up / IP(src=str(first.ip), dst="224.0.0.1") / ICMP(),
        "the gateway's address": up / IP(src=str(first.ip), dst=str(first.gateway_ip)) / ICMP(),
        "an address outside": up / IP(src=str(first.ip), dst="192.0.2.1") / ICMP(),
        "a pause of all classes": mac_control / Raw(b"\1\1\0\xff" + b"\xff" * 16 + bytes(26)),
        "a pause that ends early": mac_control / Raw(b"\1\1\0"),
    }


def test_hostile_frames_end_at_the_first_switch(network: Any) -> None:
    """The first switch counts every frame; no kernel of a switch or host receives or answers one."""
    [switch] = network.switches
    frames = _frames(network)
    with ExitStack() as stack:
        wires = {host.name: stack.enter_context(_wire(network, host.name)) for host in network.plan.topology.hosts}
        before = _ended(switch)
        for name, frame in frames.items():
            try:
                wires["h1"].send(bytes(frame))
            except OSError as error:
                pytest.fail(f"{name}: {error}")
        assert comes_true(lambda: _ended(switch) - before >= len(frames))
        assert _ended(switch) - before == len(frames)
        assert switch.queued_bytes() == 0
        readable, _, _ = select.select(list(wires.values()), [], [], 0.2)
        assert [wire.recv(2000) for wire in readable] == []


def _wire(network: Any, name: str) -> socket.socket:
    with network_namespace(network.emulation.host_pid(name)):
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        wire.setsockopt(*_IGNORE_OUTGOING)
        wire.bind((f"{name}-eth0", 3))
        return wire


def _ended(switch: Any) -> int:
    """Return how many frames the pipeline dropped or the MACs consumed."""
    statistics = json.loads(switch.command("statistics"))
    return int(statistics["drops"]["ingress"] + statistics["pause_frames"] + statistics["mac_control_ignored"])
