# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of TCP signals: a switch answers a TCP packet with one, and recognises those of other switches.

scapy has the lowest of TCP's reserved bits among the flags, as N.
"""

from __future__ import annotations

from typing import Any

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Packet

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.model import Host
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.constants import BTS_FRAME_BYTES, BTS_LONGEST_PAUSE, DSCP_BTS, DSCP_DATA, BtsCause
from sfc_testbed.wire.counters import BtsEvent, DropReason
from sfc_testbed.wire.scapy_layers import TCPSignal
from tests.switch_bmv2.bench_switch import FRAME, STAR, US, BenchSwitch, Departure, bench_switch, signals

CLOS = shape("clos", {"hosts_per_tor": 2, "spines": 2, "uplinks": 2}).build()
UPLINK = 3
PORTS = (40_000, 5_201)


def _settings(**changes: object) -> SwitchSettings:
    base = {"bts": "ingress", "q_th_bytes": 3 * FRAME, "q_tg_bytes": FRAME, "pause_rounding": "up", "suppression_ns": 0}
    return SwitchSettings(**{**base, **changes})


def _segment(src: Host, dst: Host, *, payload: int = 1000, options: bool = True, **fields: object) -> Packet:
    """Return a segment of a TCP flow of the class of data, in the state in which it leaves its host."""
    timestamps = [("NOP", None), ("NOP", None), ("Timestamp", (7, 8))] if options else []
    usual: dict[str, Any] = {
        "sport": PORTS[0],
        "dport": PORTS[1],
        "seq": 0x12345678,
        "ack": 99,
        "flags": "PA",
        "options": timestamps,
    }
    tcp = TCP(**{**usual, **fields})
    ip = IP(src=str(src.ip), dst=str(dst.ip), tos=DSCP_DATA << 2 | 2, id=5)
    return Ether(dst=src.gateway_mac, src=src.mac) / ip / tcp / bytes(payload)


def _signal(congested: Host, paused: Host, **fields: object) -> Packet:
    """Return a signal of another switch about the flow of `_segment`, as it arrives at a ToR."""
    ip = IP(src=str(congested.ip), dst=str(paused.ip), tos=DSCP_BTS << 2, id=7, flags="DF")
    tcp = TCP(sport=PORTS[1], dport=PORTS[0], seq=4_000, ack=300_000, flags="N", window=0, chksum=0)
    values: dict[str, Any] = {
        "flow_dscp": DSCP_DATA,
        "flags": "cacheable",
        "cause": BtsCause.QUEUE,
        "traffic_class": 3,
        "switch_id": 2,
    }
    return Ether(src="06:00:00:03:00:01") / ip / tcp / TCPSignal(**{**values, **fields})


def _prototypes(congested: Host, paused: Host) -> Packet:
    """Return the signal of the prototype for the same flow. It keeps flags and acknowledgment number of the segment."""
    ip = IP(src=str(congested.ip), dst=str(paused.ip), id=5, ttl=63)
    tcp = TCP(sport=PORTS[1], dport=PORTS[0], seq=4_000, ack=99, flags="PAN", chksum=0)
    return Ether(src="06:00:00:03:00:01") / ip / tcp / bytes(range(6))


def _answer(switch: BenchSwitch, segment: Packet, port: int = 2) -> Departure:
    """Return the signal that a segment triggers when the queue towards h4 is long."""
    switch.burst("h1", "h4", 30, first_qpn=100)
    [signal] = [found for found in signals(switch.send(bytes(segment), port, 35 * US)) if found.port == port]
    return signal


@pytest.mark.parametrize(("payload", "options"), [(1000, True), (1000, False), (0, False), (1, True)])
def test_the_frame_is_the_one_that_scapy_builds(payload: int, options: bool) -> None:
    """All bytes are compared: swapped addresses and ports, lengths, checksums, flags, don't-fragment and time stamp."""
    h2, h4 = STAR.host["h2"], STAR.host["h4"]
    with bench_switch(STAR, "s1", _settings()) as switch:
        signal = _answer(switch, _segment(h2, h4, payload=payload, options=options))
    depth_bytes = 29 * FRAME + len(_segment(h2, h4, payload=payload, options=options))
    expected = (
        Ether(src=h2.gateway_mac, dst=h2.mac)
        / IP(src=str(h4.ip), dst=str(h2.ip), tos=DSCP_BTS << 2, ttl=63, flags="DF", id=35 >> 4)
        / TCP(sport=5_201, dport=40_000, seq=signal.bts.pause_us, ack=depth_bytes, flags="N", window=0, chksum=0)
        / TCPSignal(flow_dscp=DSCP_DATA, flags="cacheable", cause=BtsCause.QUEUE, traffic_class=3, switch_id=1)
    )
    assert signal.frame == bytes(expected)
    assert len(signal.frame) == BTS_FRAME_BYTES
    assert signal.bts.pause_us == -(-(depth_bytes - FRAME) * 8 // 100_000)  # 100 Gb/s, rounded up
    received = Ether(signal.frame)
    assert (received[IP].len, received[TCP].dataofs, received[TCP].chksum) == (46, 5, 0)
    assert TCPSignal(bytes(received[TCP].payload)).switch_id == 1


def test_the_longest_pause_leaves_the_upper_half_of_the_sequence_number_zero() -> None:
    with bench_switch(STAR, "s1", _settings(buffer_bytes=None)) as switch:
        switch.engine.command(f"register_write queue_bytes {4 << 3 | 3} 1000000000")
        [signal] = signals(switch.send(bytes(_segment(STAR.host["h2"], STAR.host["h4"])), 2, 0))
    assert Ether(signal.frame)[TCP].seq == BTS_LONGEST_PAUSE


@pytest.mark.parametrize("kind", ["ICMP", "later fragment"])
def test_packets_without_a_tcp_header_are_answered_over_udp(kind: str) -> None:
    h2, h4 = STAR.host["h2"], STAR.host["h4"]
    packet = _segment(h2, h4, options=False)
    if kind == "ICMP":
        packet[IP].proto = 1
    else:
        packet[IP].frag = 50
    with bench_switch(STAR, "s1", _settings()) as switch:
        signal = _answer(switch, packet)
    assert signal.frame[23] == 17
    bts = signal.bts
    expected_protocol = 1 if kind == "ICMP" else 6
    assert (bts.protocol, bts.source_port, bts.destination_port) == (expected_protocol, 0, 0)


@pytest.mark.parametrize("kind", ["ours", "prototype's"])
def test_a_switch_on_the_way_only_routes_a_signal(kind: str) -> None:
    """Only its TTL changes, and it triggers no BTS, though its class is watched and the queue is long."""
    h1, h4 = CLOS.host["h1"], CLOS.host["h4"]
    signal = _signal(h4, h1) if kind == "ours" else _prototypes(h4, h1)
    watch = ("table_add bts_trigger ingress_bts 7 => 0 0", "table_add bts_trigger ingress_bts 0 => 0 0")
    with bench_switch(CLOS, "tor1", _settings(), watch) as switch:
        for traffic_class in (0, 7):
            switch.engine.command(f"register_write queue_bytes {1 << 3 | traffic_class} 900000")
        [departure] = [*switch.send(bytes(signal), UPLINK, 0), *switch.run_dry()]
        assert switch.counts().bts_sent == 0
    signal[Ether].src, signal[Ether].dst = h1.gateway_mac, h1.mac
    signal[IP].ttl -= 1
    assert (departure.port, departure.frame) == (1, bytes(signal))


def test_a_signal_of_another_switch_is_cached_unless_it_is_the_prototypes() -> None:
    """Segments and RoCEv2 packets to the same destination and DSCP then get the rest of the pause."""
    h1, h2, h4 = (CLOS.host[name] for name in ("h1", "h2", "h4"))
    cases = ((_signal(h4, h1), True), (_signal(h4, h1, flags=0), False), (_prototypes(h4, h1), False))
    for signal, is_cached in cases:
        with bench_switch(CLOS, "tor1", _settings(pause_cache=True)) as switch:
            switch.send(bytes(signal), UPLINK, 0)
            assert switch.counts().bts[BtsEvent.CACHE_LEARNED] == is_cached
            found = signals(switch.send(bytes(_segment(h2, h4)), 2, 1_000 * US))
            assert [departure.bts.cause for departure in found] == [BtsCause.CACHE] * is_cached
            roce = signals(switch.send(switch.data("h2", "h4"), 2, 1_100 * US))
            assert [departure.bts.cause for departure in roce] == [BtsCause.CACHE] * is_cached
            if is_cached:
                assert found[0].bts.pause_us == 4_000 - 1
                assert (found[0].bts.source_port, found[0].bts.destination_port) == PORTS


@pytest.mark.parametrize("kind", ["ours", "prototype's"])
def test_a_server_must_not_send_a_signal(kind: str) -> None:
    h1, h2 = STAR.host["h1"], STAR.host["h2"]
    signal = _signal(h2, h1) if kind == "ours" else _prototypes(h2, h1)
    with bench_switch(STAR, "s1", _settings()) as switch:
        assert switch.send(bytes(signal), 2, 0) == []
        assert switch.counts().drops == {DropReason.UNTRUSTED_SIGNAL.label: 1}


def test_segments_with_some_marks_of_a_signal_pass_a_server_port() -> None:
    """Accurate ECN uses the same reserved bit, and a correct checksum may be 0."""
    h2, h4 = STAR.host["h2"], STAR.host["h4"]
    segments = [
        _segment(h2, h4, payload=6, options=False, flags="PAN", chksum=0),
        _segment(h2, h4, payload=6, options=False, flags="PAN", seq=5),
        _segment(h2, h4, payload=6, options=False, flags="PA", seq=5, chksum=0),
        _segment(h2, h4, payload=7, options=False, flags="PAN", seq=5, chksum=0),
    ]
    with bench_switch(STAR, "s1", _settings()) as switch:
        for at_us, segment in enumerate(segments):
            [departure] = switch.send(bytes(segment), 2, 100 * at_us * US)
            assert departure.port == 4


def test_sfc_p_turns_a_signal_into_a_pause_frame_unless_it_is_the_prototypes() -> None:
    """The prototype's has no DSCP of its flow, and so no class that could be paused."""
    h1, h4 = CLOS.host["h1"], CLOS.host["h4"]
    for signal, is_converted in ((_signal(h4, h1), True), (_prototypes(h4, h1), False)):
        signal[TCP].seq = 40
        with bench_switch(CLOS, "tor1", _settings(sfc_p=True)) as switch:
            [departure] = switch.send(bytes(signal), UPLINK, 0)
        assert departure.is_pause == is_converted
        if is_converted:
            assert departure.pause == (3, -(-40 * 100_000 // 512))
            assert len(departure.frame) == BTS_FRAME_BYTES


def test_the_pause_frame_of_the_senders_own_switch_has_nothing_of_tcp() -> None:
    with bench_switch(STAR, "s1", _settings(sfc_p=True)) as switch:
        switch.burst("h1", "h4", 30, first_qpn=100)
        found = switch.send(bytes(_segment(STAR.host["h2"], STAR.host["h4"])), 2, 35 * US)
        [frame] = [departure for departure in found if departure.port == 2]
    assert (frame.is_pause, frame.pause[0], frame.frame[34:]) == (True, 3, bytes(26))
