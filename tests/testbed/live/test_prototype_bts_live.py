# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Signals of the SFC prototype, built by hand with scapy, pause flows of a live network (docs/wire-format.md)."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether

from sfc_testbed.api.functions import open_network
from sfc_testbed.hosts.io.namespaces import network_namespace
from sfc_testbed.testbed.live.session.session import LiveSession
from sfc_testbed.testbed.system.namespace import in_network_of
from sfc_testbed.wire.constants import BTS_UDP_PORT, DSCP_DATA
from sfc_testbed.wire.roce.packets import source_port
from sfc_testbed.wire.scapy_layers import BTS
from tests.appearing import comes_true
from tests.testbed import running

pytestmark = [*running.NEEDS_MININET, running.LEAVES_NOTHING]
PAUSE_US = 300
MESSAGE_BYTES = 400_000
D = 10_000
SERVER_PORT = 5201
PAUSED_PORT, OTHER_PORT = 40_000, 40_001
SINK = f"""
import socket, threading
def drain(connection):
    while connection.recv(65536):
        pass
with socket.create_server(("ADDRESS", {SERVER_PORT})) as server:
    print("listening", flush=True)
    while True:
        threading.Thread(target=drain, args=(server.accept()[0],), daemon=True).start()
"""
SOURCE = f"""
import socket
with socket.create_connection(("ADDRESS", {SERVER_PORT}), source_address=("", PORT)) as connection:
    while True:
        connection.sendall(bytes(65536))
"""


@contextmanager
def _wire_to_h1(net: LiveSession) -> Iterator[socket.socket]:
    """Yield a packet socket at the switch's interface towards h1."""
    with network_namespace(net.network.emulation.host_pid("s1")):
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
    with wire:
        wire.bind(("s1-eth1", 0x0003))
        wire.settimeout(30)
        yield wire


@contextmanager
def _program(net: LiveSession, host: str, code: str) -> Iterator[subprocess.Popen[str]]:
    """Run a Python program in a host's namespace and kill it at the end."""
    words = in_network_of(net.network.emulation.host_pid(host), sys.executable, "-c", code)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def _source_port_of(frame: bytes) -> int | None:
    """Return the source port of a TCP packet to the server, or None for another frame."""
    is_sent = frame[23] == 6 and frame[36:38] == SERVER_PORT.to_bytes(2, "big")
    return int.from_bytes(frame[34:36], "big") if is_sent else None


def test_a_bts_with_zeros_in_the_padding_pauses_the_flows_from_its_port() -> None:
    """Of two messages to the same host, only the one from the named UDP port waits for the whole pause."""
    with open_network("star", dilation=D, settings={"topology.hosts": 2}) as net:
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
        with _wire_to_h1(net) as wire:
            wire.send(bytes(frame))
        assert net.wait([paused, other])
        [signal] = net.signals_of_scheme()
        assert (signal.cause, signal.switch, signal.sent_us) == ("unknown", "unknown", None)
        assert (signal.flow_id, signal.obeyed, signal.pause_us) == (paused.flow.flow_id, True, PAUSE_US)
        assert paused.sent is not None and other.sent is not None
        assert paused.sent.figures.paused_us == pytest.approx(PAUSE_US, rel=0.05)
        assert other.sent.figures.paused_us == 0


def test_a_tcp_signal_of_the_prototype_pauses_one_connection_for_its_time() -> None:
    """It is made of a segment of the connection, whose flags and window it keeps. The other connection goes on."""
    with open_network("star", dilation=D, settings={"topology.hosts": 2}) as net, ExitStack() as programs:
        h1, h2 = net.host("h1"), net.host("h2")
        server = programs.enter_context(_program(net, "h2", SINK.replace("ADDRESS", str(h2.ip))))
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        wire = programs.enter_context(_wire_to_h1(net))
        source = SOURCE.replace("ADDRESS", str(h2.ip))
        for port in (PAUSED_PORT, OTHER_PORT):
            programs.enter_context(_program(net, "h1", source.replace("PORT", str(port))))
        longest: dict[int, bytes] = {}
        while len(longest) < 2:  # a segment with data of each connection
            frame = wire.recv(2048)
            port_ = _source_port_of(frame)
            if port_ is not None and len(frame) > 1_000:
                longest[port_] = frame
        segment = Ether(longest[PAUSED_PORT])
        signal = Ether(src=h1.gateway_mac, dst=h1.mac) / segment[IP].copy()
        signal[IP].src, signal[IP].dst, signal[IP].tos, signal[IP].len = str(h2.ip), str(h1.ip), 0, 46
        tcp = signal[TCP]
        tcp.sport, tcp.dport, tcp.seq, tcp.chksum = SERVER_PORT, PAUSED_PORT, PAUSE_US, 0
        tcp.flags |= 0x100  # the lowest reserved bit
        del signal[IP].chksum
        wire.send(bytes(signal)[:60])
        injected_s = time.monotonic()
        sent = {PAUSED_PORT: 0, OTHER_PORT: 0}
        while time.monotonic() < injected_s + 0.8 * PAUSE_US * D / 1e6:
            sent_port = _source_port_of(wire.recv(2048))
            if sent_port in sent and time.monotonic() > injected_s + 0.2 * PAUSE_US * D / 1e6:
                sent[sent_port] += 1
        assert sent[PAUSED_PORT] == 0 < sent[OTHER_PORT]
        while _source_port_of(wire.recv(2048)) != PAUSED_PORT:
            pass
        [row] = net.signals_of_scheme()
        assert (row.cause, row.switch, row.sent_us, row.flow_id) == ("unknown", "unknown", None, None)
        assert (row.obeyed, row.pause_us) == (True, PAUSE_US)
        assert row.paused_until_us == pytest.approx(row.received_us + PAUSE_US)
