# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of program traffic through the NIC: pacing, bounded queues per 5-tuple, and pauses by BTS and by class."""

from itertools import pairwise
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from sfc_testbed.contract.link import IP_A, IP_B, MAC_A, MAC_B, FakeLink, bts
from sfc_testbed.hosts.transport.messages import BtsReceived
from sfc_testbed.hosts.transport.programs import FlowKey, flow_key
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire import ipv4, udp
from sfc_testbed.wire.constants import BtsCause
from sfc_testbed.wire.ethernet import pack_header
from sfc_testbed.wire.pfc import pack_frame

SFC = TransportSettings(flow_control="sfc")


def packet(sport: int, dport: int = 5201, *, size: int = 1000, protocol: int = 6, tos: int = 0) -> bytes:
    """Return a packet from host a to host b, of a TCP flow by default."""
    payload = udp.pack_header(sport, dport, size - 8) + bytes(size - 8)
    ip = ipv4.pack_header(IP_A, IP_B, protocol, len(payload), tos)
    return pack_header(MAC_B, MAC_A, 0x0800) + ip + payload


def link_with(settings: TransportSettings = SFC, **packets: int) -> FakeLink:
    """Return a link whose hosts have programs; host a's send `count` packets from port `name` at time 0."""
    link = FakeLink(settings)
    link.a.attach_programs()
    link.b.attach_programs()
    for name, count in packets.items():
        for _ in range(count):
            link.a.send_program_frame(packet(int(name[1:])), 0)
    return link


def program_bts(**changes: int) -> bytes:
    """Return a BTS for the TCP flow from port 1000 of host a, with a pause of 50 us."""
    fields = {"protocol": 6, "source_port": 1000, "destination_port": 5201, "destination_qpn": 0, **changes}
    return bts(1, 50, **fields)


def prototypes_signal(**changes: int) -> bytes:
    """Return the TCP signal of the SFC prototype for the same flow, which has the flags of its data packet.

    scapy has the lowest reserved bit among the flags, as N (0x100).
    """
    usual = {"sport": 5201, "dport": 1000, "seq": 50, "ack": 77, "flags": 0x118, "chksum": 0}
    fields: dict[str, Any] = {**usual, **changes}
    headers = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02") / IP(src="10.0.0.2", dst="10.0.0.1", flags="DF")
    return bytes(headers / TCP(**fields) / b"latter")


def departures(link: FakeLink, sport: int) -> list[int]:
    return [end_ns for end_ns, name, frame in link.sent if name == "a" and frame[34:36] == sport.to_bytes(2, "big")]


def test_packets_reach_the_other_hosts_programs_unchanged() -> None:
    link = link_with(p1000=3)
    link.run()
    assert link.b.programs is not None
    arrived = [link.b.programs.next_arrived() for _ in range(4)]
    assert arrived == [packet(1000)] * 3 + [None]
    assert (link.a.statistics().programs_sent, link.b.statistics().programs_received) == (3, 3)


def test_flows_take_turns_at_line_rate() -> None:
    link = link_with(p1000=40, p2000=40)
    link.run()
    ends = sorted(departures(link, 1000) + departures(link, 2000))
    assert {late - early for early, late in pairwise(ends)} <= {82, 83}
    assert abs(departures(link, 1000)[-1] - departures(link, 2000)[-1]) <= 200


def test_queue_pairs_and_programs_share_the_wire_equally() -> None:
    link = link_with(p1000=100)
    link.transfer(100_000)
    link.run()
    (completed,) = link.of(Transmission, "a")
    assert completed.finish_ns == pytest.approx(2 * 8_464 + 10_000, rel=0.1)
    assert departures(link, 1000)[-1] == pytest.approx(2 * 8_272, rel=0.1)


def test_a_bts_pauses_only_the_5_tuple_that_it_names() -> None:
    link = link_with(p1000=100, p2000=100)
    link.inject(2_000, link.a, program_bts())
    link.run()
    (event,) = link.of(BtsReceived, "a")
    assert (event.obeyed, event.flow_id, event.paused_until_ns) == (True, None, 52_000)
    assert not [end for end in departures(link, 1000) if 2_200 < end < 52_000]
    assert len(departures(link, 1000)) == len(departures(link, 2000)) == 100
    assert departures(link, 2000)[-1] < 20_000


def test_a_signal_of_the_prototype_pauses_the_same_5_tuple_and_never_reaches_the_programs() -> None:
    """It has no cause, no DSCP and no time stamp, only ports and pause."""
    link = link_with(p1000=100, p2000=100)
    link.inject(2_000, link.a, prototypes_signal())
    link.run()
    (event,) = link.of(BtsReceived, "a")
    assert (event.obeyed, event.flow_id, event.paused_until_ns, event.sent_ns) == (True, None, 52_000, None)
    assert (event.signal.cause, event.signal.dscp, event.signal.switch_id) == (BtsCause.UNKNOWN, 0, 0)
    assert not [end for end in departures(link, 1000) if 2_200 < end < 52_000]
    assert departures(link, 2000)[-1] < 20_000
    assert link.a.statistics().programs_received == 0


@pytest.mark.parametrize("changes", [{"flags": 0x018}, {"flags": 0}, {"reserved": 1}, {"chksum": 1}, {"seq": 0x10000}])
def test_other_tcp_packets_reach_the_programs(changes: dict[str, int]) -> None:
    """Accurate ECN uses the same reserved bit, so a segment with it and a correct checksum is no signal."""
    link = link_with()
    link.inject(0, link.a, prototypes_signal(**changes))
    link.run()
    assert link.a.programs is not None
    assert link.a.programs.next_arrived() == prototypes_signal(**changes)
    assert not link.of(BtsReceived, "a")


def test_a_signal_for_another_host_or_with_a_wrong_field_is_counted() -> None:
    link = link_with(p1000=1)
    foreign = bytearray(prototypes_signal())
    foreign[:6] = MAC_B.to_bytes(6, "big")
    wrong = bytearray(program_bts())
    wrong[56] = 8  # the class
    link.inject(10, link.a, bytes(foreign))
    link.inject(20, link.a, bytes(wrong))
    link.run()
    counts = link.a.statistics()
    assert (counts.misdelivered, counts.malformed, counts.bts_received, counts.programs_received) == (1, 1, 0, 0)


@pytest.mark.parametrize(
    "signal",
    [
        program_bts(protocol=17),
        program_bts(source_port=1001),
        program_bts(destination_port=80),
        prototypes_signal(dport=1001),
        prototypes_signal(sport=80),
    ],
    ids=["protocol", "source", "destination", "prototype's source", "prototype's destination"],
)
def test_a_signal_for_another_5_tuple_is_ignored(signal: bytes) -> None:
    link = link_with(p1000=10)
    link.inject(300, link.a, signal)
    link.run()
    assert link.of(BtsReceived, "a")[0].reason == "unknown_flow"
    assert departures(link, 1000)[-1] < 1_000


def test_a_bts_pauses_a_flow_without_queued_packets_under_sfc_only() -> None:
    """A TCP flow often waits for its window and then has no packet in the NIC."""
    for settings, reason, first_ns in ((SFC, "obeyed", 60_000), (TransportSettings(), "flow_control_off", 20_000)):
        link = link_with(settings, p1000=1)
        link.inject(10_000, link.a, program_bts())
        link.run()
        link.a.send_program_frame(packet(1000), 20_000)
        link.run()
        assert link.of(BtsReceived, "a")[0].reason == reason
        assert departures(link, 1000)[1] == first_ns + 82


def test_a_full_queue_drops_packets_of_its_flow_only() -> None:
    link = link_with(TransportSettings(program_queue_bytes=10_000), p1000=30, p2000=5)
    link.run()
    assert len(departures(link, 1000)) == 9
    assert len(departures(link, 2000)) == 5
    assert link.a.statistics().programs_dropped == 21


def test_only_the_latest_4096_flows_are_remembered() -> None:
    """Packets of forgotten flows are still sent."""
    link = link_with()
    assert link.a.programs is not None
    ports = range(10_000, 15_000)
    for port in ports:
        link.a.send_program_frame(packet(port, size=100), 0)
    assert len(link.a.programs._flows) == 4096
    link.run()
    assert link.a.statistics().programs_sent == len(ports)


def test_pfc_pauses_only_flows_of_the_class() -> None:
    """Pause class 0, the default; a flow that its program marked as class 3 must go on."""
    link = FakeLink(TransportSettings(flow_control="pfc"))
    link.a.attach_programs()
    link.a.receive(pack_frame(MAC_B, {0: 1000}), 0)
    link.a.send_program_frame(packet(1000), 10)
    link.a.send_program_frame(packet(2000, tos=26 << 2), 10)
    link.run()
    assert departures(link, 1000)[0] >= 5_120
    assert departures(link, 2000)[0] < 1_000


def test_other_protocols_are_dropped_and_frames_for_other_hosts_not_delivered() -> None:
    link = link_with()
    link.a.send_program_frame(pack_header(MAC_B, MAC_A, 0x0806) + bytes(46), 0)
    assert link.a.statistics().programs_dropped == 1
    other = pack_header(MAC_A, MAC_B, 0x0800) + packet(1)[14:]
    link.inject(0, link.b, other)
    link.run()
    assert (link.b.statistics().programs_received, link.b.statistics().other) == (0, 1)


def test_the_flow_key_has_ports_if_the_packet_has_any() -> None:
    """Later fragments and ICMP have no ports; IP options before the ports are skipped."""
    assert flow_key(packet(7, 8)) == FlowKey(IP_B, 6, 7, 8)
    assert flow_key(packet(7, 8, protocol=1)) == FlowKey(IP_B, 1, 0, 0)
    fragment = bytearray(packet(7, 8))
    fragment[20:22] = b"\x20\x10"
    assert flow_key(bytes(fragment)) == FlowKey(IP_B, 6, 0, 0)
    options = bytearray(packet(7, 8)[:34] + bytes(4) + packet(7, 8)[34:])
    options[14] = 0x46
    assert flow_key(bytes(options)) == FlowKey(IP_B, 6, 7, 8)
    assert flow_key(packet(7)[:30]) is None
