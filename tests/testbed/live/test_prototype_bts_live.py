# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A BTS of the SFC prototype, built by hand with scapy, pauses a flow of a live network (docs/wire-format.md)."""

from __future__ import annotations

import socket

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from hosts.io.namespaces import network_namespace
from testbed.live.session.session import LiveSession, open_network
from tests.appearing import comes_true
from tests.testbed import running
from wire.constants import BTS_UDP_PORT, DSCP_DATA
from wire.roce.packets import source_port
from wire.scapy_layers import BTS

pytestmark = [
    *running.NEEDS_MININET,
    running.LEAVES_NOTHING,
    pytest.mark.filterwarnings("ignore:.*distutils.*:DeprecationWarning"),  # from Mininet, in older versions of Python
]
PAUSE_US = 300
MESSAGE_BYTES = 400_000


def _inject(net: LiveSession, frame: bytes) -> None:
    """Send a frame out of the switch's interface towards h1."""
    with network_namespace(net.network.emulation.host_pid("s1")):
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    with wire:
        wire.bind(("s1-eth1", 0))
        wire.send(frame)


def test_a_bts_with_zeros_in_the_padding_pauses_the_flows_from_its_port() -> None:
    """Of two messages to the same host, only the one from the named UDP port waits for the whole pause."""
    with open_network("star", dilation=10_000, settings=["topology.hosts=2"]) as net:
        h1, h2 = net.host("h1"), net.host("h2")
        paused, other = (net.send("h1", "h2", MESSAGE_BYTES) for _ in range(2))
        port = source_port(paused.flow.source_qpn)
        assert port != source_port(other.flow.source_qpn)
        assert comes_true(lambda: net.look().hosts["h1"].messages != ())
        frame = (
            Ether(src=h1.gateway_mac, dst=h1.mac)
            / IP(src=str(h2.ip), dst=str(h1.ip))
            / UDP(sport=port, dport=BTS_UDP_PORT, chksum=0)
            / BTS(flow_dscp=DSCP_DATA, pause_us=PAUSE_US)
        )
        assert bytes(frame)[46:] == bytes(14)
        _inject(net, bytes(frame))
        assert net.wait([paused, other])
        [signal] = net.signals_of_scheme()
        assert (signal.cause, signal.switch, signal.sent_us) == ("unknown", "unknown", None)
        assert (signal.flow_id, signal.obeyed, signal.pause_us) == (paused.flow.flow_id, True, PAUSE_US)
        assert paused.sent is not None and other.sent is not None
        assert paused.sent.paused_us == pytest.approx(PAUSE_US, rel=0.05)
        assert other.sent.paused_us == 0
