# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A star of four hosts whose switch behaves like the prototype's program, and the queue towards h4, set by registers.

Depths, thresholds and cells are written into the registers, as the public tests do, so each packet finds a known state.
"""

from __future__ import annotations

from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from sfc_testbed.request.schemes import resolve_scheme
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.shapes import shape
from tests.switch_bmv2.bench_switch import BenchSwitch

CELL_BYTES = 176
OVER = 1_000_000
"""A depth far above every threshold of these tests."""
SENDER, RECEIVER = "h2", "h4"
SENDER_PORT, RECEIVER_PORT = 2, 4
QUEUE = RECEIVER_PORT << 3 | 3
"""Index of the queue of data towards h4 in the registers of queues."""


def star(rate_gbps: int = 100) -> Topology:
    return shape("star", {"hosts": 4, "host_rate_bps": rate_gbps * 1_000_000_000}).build()


def prototype(**changes: object) -> SwitchSettings:
    """Return the settings of the scheme `sfc-prototype` with these changes."""
    scheme = resolve_scheme("sfc-prototype+none").switch
    return SwitchSettings(**{**scheme, "q_th_bytes": 200 * CELL_BYTES, "q_tg_bytes": 100 * CELL_BYTES, **changes})


def set_depth(switch: BenchSwitch, depth_bytes: int, dst: str = RECEIVER) -> None:
    """Make ingress find this depth in the queue of data towards a host."""
    switch.engine.command(f"register_write queue_bytes {switch.port_of(dst) << 3 | 3} {depth_bytes}")


def occupy(switch: BenchSwitch, at_ns: int = 0) -> None:
    """Put two frames into the queue towards h4: one is on the wire, and nothing departs until its last bit has left."""
    set_depth(switch, 0)
    for qpn in (1001, 1002):
        switch.send(switch.data("h1", RECEIVER, qpn=qpn), switch.port_of("h1"), at_ns)


def tcp_packet(switch: BenchSwitch, src: str = SENDER, dst: str = RECEIVER, *, ttl: int = 64) -> bytes:
    """Return a TCP packet of the default class."""
    hosts = switch.topology.host
    ip = IP(src=str(hosts[src].ip), dst=str(hosts[dst].ip), ttl=ttl)
    return bytes(Ether(dst=hosts[src].gateway_mac, src=hosts[src].mac) / ip / TCP(sport=1234, dport=80))
