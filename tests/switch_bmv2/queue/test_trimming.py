# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of NDP's switch.

Packets that find the data queue full are cut to their headers. Headers overtake data, and a header that finds the queue
of headers full returns to its sender.
"""

from __future__ import annotations

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import Ether

from tests.switch_bmv2.bench_switch import FRAME_OVERHEAD, BenchSwitch, Departure, bench_switch
from topologies.settings import SwitchSettings
from topologies.shapes import shape
from wire.addresses import parse_mac
from wire.constants import DSCP_CONTROL, DSCP_DATA, DSCP_RETURNED, DSCP_TRIMMED, TRIMMED_FRAME_BYTES, TRIMMED_IPV4_BYTES
from wire.counters import TrimEvent
from wire.ipv4 import unpack_header, with_dscp
from wire.roce.packets import IP_OFFSET

STAR = shape("star", {"hosts": 4}).build()
CLOS = shape("clos", {"tors": 2, "spines": 4, "hosts_per_tor": 2}).build()
FRAME = 1000 + FRAME_OVERHEAD
HEADER_QUEUE = 1_200
TRIMMING = SwitchSettings(trim_queue_bytes=2 * FRAME, header_queue_bytes=HEADER_QUEUE)
MOST_HEADERS = HEADER_QUEUE // TRIMMED_FRAME_BYTES
WHOLE = 1 + 2
"""Frames that are not trimmed: one on the wire and two in the data queue."""


def _dscp(departure: Departure) -> int:
    ip = unpack_header(departure.frame, IP_OFFSET)
    assert ip is not None
    return ip.tos >> 2


def _burst(switch: BenchSwitch, count: int) -> list[Departure]:
    return [
        departure for qpn in range(1, count + 1) for departure in switch.send(switch.data("h1", "h4", qpn=qpn), 1, 0)
    ]


def _trim_events(switch: BenchSwitch) -> tuple[int, int]:
    counts = switch.counts().by_table[TrimEvent]
    return counts[TrimEvent.TRIMMED], counts[TrimEvent.RETURNED]


def test_packets_beyond_the_data_queue_are_trimmed_and_overtake_data() -> None:
    """The headers follow the frame on the wire in order. The data that was queued before them comes last."""
    with bench_switch(STAR, "s1", TRIMMING) as switch:
        departures = _burst(switch, 8) + switch.run_dry()
        sizes = [len(departure.frame) for departure in departures]
        assert sizes == [FRAME] + [TRIMMED_FRAME_BYTES] * 5 + [FRAME] * 2
        assert {departure.port for departure in departures} == {4}
        assert _trim_events(switch) == (5, 0)
        assert switch.counts().drops == {}
        assert switch.register("buffer_bytes") == 0


def test_a_header_is_a_valid_packet_that_identifies_the_trimmed_one() -> None:
    """Lengths and checksum match the short packet, and the BTH with QP and PSN is unchanged."""
    with bench_switch(STAR, "s1", TRIMMING) as switch:
        whole, *_ = _burst(switch, 1)
        header = next(departure for departure in _burst(switch, 8) + switch.run_dry() if len(departure.frame) < FRAME)
        ip = unpack_header(header.frame, IP_OFFSET)
        assert ip is not None
        assert (ip.total_length, ip.tos >> 2) == (TRIMMED_IPV4_BYTES, DSCP_TRIMMED)
        assert int.from_bytes(header.frame[38:40], "big") == TRIMMED_IPV4_BYTES - 20
        assert header.frame[42:54] == whole.frame[42:54]
        assert header.frame[26:34] == whole.frame[26:34]


def test_a_header_that_finds_its_queue_full_returns_to_its_sender() -> None:
    """Source and destination address are swapped."""
    returned_count = 5
    with bench_switch(STAR, "s1", TRIMMING) as switch:
        departures = _burst(switch, WHOLE + MOST_HEADERS + returned_count) + switch.run_dry()
        returned_headers = [departure for departure in departures if departure.port == 1]
        assert [_dscp(departure) for departure in returned_headers] == [DSCP_RETURNED] * returned_count
        assert _trim_events(switch) == (MOST_HEADERS + returned_count, returned_count)
        host, source = STAR.host["h1"], STAR.host["h4"]
        for departure in returned_headers:
            ip = unpack_header(departure.frame, IP_OFFSET)
            assert ip is not None
            assert (ip.source, ip.destination) == (int(source.ip), int(host.ip))
            assert (len(departure.frame), departure.frame[:6]) == (
                TRIMMED_FRAME_BYTES,
                parse_mac(host.mac).to_bytes(6, "big"),
            )
        assert len(departures) == WHOLE + MOST_HEADERS + returned_count
        assert switch.counts().drops == {}
        assert switch.register("buffer_bytes") == 0


def test_other_control_packets_are_lost_with_a_full_header_queue() -> None:
    """A switch returns data only (paper, appendix B.4)."""
    with bench_switch(STAR, "s1", TRIMMING) as switch:
        _burst(switch, WHOLE + MOST_HEADERS)
        control = with_dscp(switch.data("h2", "h4", payload=4), DSCP_CONTROL, IP_OFFSET)
        switch.send(control, 2, 0)
        assert switch.counts().drops == {"header_queue_full": 1}


def test_packets_that_cannot_be_trimmed_are_dropped() -> None:
    """A packet in the data class that is not RoCE has no header that a receiver could answer."""
    with bench_switch(STAR, "s1", TRIMMING) as switch:
        frame = bytearray(switch.data("h2", "h4"))
        frame[36:38] = (9).to_bytes(2, "big")
        _burst(switch, WHOLE)
        switch.send(bytes(frame), 2, 0)
        assert switch.counts().drops == {"data_queue_full": 1}


@pytest.mark.parametrize("dscp", [DSCP_TRIMMED, DSCP_RETURNED])
def test_headers_of_trimmed_packets_from_servers_are_dropped(dscp: int) -> None:
    """A forged header would make other hosts resend data that has arrived."""
    with bench_switch(STAR, "s1", TRIMMING) as switch:
        switch.send(with_dscp(switch.data("h2", "h4"), dscp, IP_OFFSET), 2, 0)
        assert switch.counts().drops == {"untrusted_signal": 1}


@pytest.mark.parametrize("dscp", [DSCP_TRIMMED, DSCP_RETURNED])
def test_an_icmp_error_is_not_taken_for_a_header(dscp: int) -> None:
    """A kernel answers a packet of DSCP 26 with an ICMP error of DSCP 50.

    The error is forwarded, and dropped if the queue of headers is full.
    """
    frame = _port_unreachable("h2", "h4", dscp)
    with bench_switch(STAR, "s1", TRIMMING) as switch:
        departures = [
            departure for _ in range(2 + HEADER_QUEUE // len(frame)) for departure in switch.send(frame, 2, 0)
        ] + switch.run_dry()
        assert {(departure.port, _dscp(departure), departure.frame[IP_OFFSET + 20 :]) for departure in departures} == {
            (4, dscp, frame[IP_OFFSET + 20 :])
        }
        assert switch.counts().drops == {"header_queue_full": 1}
        assert _trim_events(switch) == (0, 0)


def _port_unreachable(source: str, destination: str, dscp: int) -> bytes:
    """Return an ICMP error that quotes the packet that it answers, as a kernel does."""
    hosts = STAR.host
    quoted = IP(src=str(hosts[destination].ip), dst=str(hosts[source].ip), tos=DSCP_DATA << 2) / UDP(sport=9, dport=9)
    frame = (
        Ether(dst=hosts[source].gateway_mac, src=hosts[source].mac)
        / IP(src=str(hosts[source].ip), dst=str(hosts[destination].ip), tos=dscp << 2)
        / ICMP(type="dest-unreach", code="port-unreachable")
        / quoted
    )
    return bytes(frame)


def test_a_header_from_another_switch_also_returns_to_its_sender() -> None:
    """The packet was trimmed at a spine and finds a full queue of headers at the receiver's ToR."""
    uplink = next(port for port in CLOS.ports["tor2"] if not port.peer_is_host)
    with bench_switch(CLOS, "tor2", TRIMMING) as switch:
        for qpn in range(1, WHOLE + MOST_HEADERS + 1):
            switch.send(switch.data("h1", "h4", qpn=qpn), uplink.number, 0)
        assert _trim_events(switch) == (MOST_HEADERS, 0)
        plain = switch.data("h1", "h4", qpn=99)
        cut = plain[:16] + TRIMMED_IPV4_BYTES.to_bytes(2, "big") + plain[18:38] + b"\0\x14" + plain[40:60]
        departures = switch.send(_with_checksum(with_dscp(cut, DSCP_TRIMMED, IP_OFFSET)), uplink.number, 0)
        assert switch.counts().drops == {}
        assert _trim_events(switch) == (MOST_HEADERS, 1)
        [returned_header] = [
            departure for departure in departures + switch.run_dry() if departure.port != switch.port_of("h4")
        ]
        assert _dscp(returned_header) == DSCP_RETURNED


def _with_checksum(frame: bytes) -> bytes:
    words = frame[14:24] + b"\0\0" + frame[26:34]
    total = sum(int.from_bytes(words[at : at + 2], "big") for at in range(0, 20, 2))
    total = (total & 0xFFFF) + (total >> 16)
    return frame[:24] + (~((total & 0xFFFF) + (total >> 16)) & 0xFFFF).to_bytes(2, "big") + frame[26:]


@pytest.mark.parametrize(("spraying", "ports"), [(False, 1), (True, 4)])
def test_packets_of_a_flow_are_sprayed_over_all_paths_or_keep_one(spraying: bool, ports: int) -> None:
    with bench_switch(CLOS, "tor1", SwitchSettings(spraying=spraying)) as switch:
        frame = switch.data("h1", "h4")
        departures = [departure for number in range(40) for departure in switch.send(frame, 1, number * 1_000_000)]
        assert len({departure.port for departure in departures + switch.run_dry()}) == ports
