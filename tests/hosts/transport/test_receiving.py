# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of frames that arrive at a NIC: verified messages, answers, and invalid packets."""

import dataclasses
from collections import deque
from typing import Literal

import pytest

from sfc_testbed.contract.frames import with_tos
from sfc_testbed.contract.link import IP_A, IP_B, MAC_A, MAC_B, FakeLink, bts, transferred
from sfc_testbed.hosts.transport.messages import IncomingMessage, MessageReceived, OutgoingMessage
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.scheduling.wire_schedule import MOST_CONTROL_FRAMES
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire import ipv4, pfc
from sfc_testbed.wire.constants import (
    CLASS_CONTROL,
    CLASS_DATA,
    DSCP_CONTROL,
    DSCP_DATA,
    ECN_CONGESTION_EXPERIENCED,
    PFC_MAX_QUANTA,
)
from sfc_testbed.wire.ethernet import pack_header
from sfc_testbed.wire.roce.decoder import parse_header
from sfc_testbed.wire.roce.framer import RoceFramer
from sfc_testbed.wire.roce.packets import CNP, Opcode, pack_aeth, pack_immediate, pack_psn_word


def framer(**changes: int) -> RoceFramer:
    """Return the framer that NIC a uses for its QP 1 towards QP 101 of NIC b."""
    ends = {"destination_mac": MAC_B, "source_mac": MAC_A, "source_ip": IP_A, "destination_ip": IP_B}
    return RoceFramer(**{**ends, "source_qpn": 1, "destination_qpn": 101, "tos": 26 << 2, **changes})


def framer_back(**changes: int) -> RoceFramer:
    """Return the framer that NIC b uses for its QP 101 towards QP 1 of NIC a."""
    ends = {"destination_mac": MAC_A, "source_mac": MAC_B, "source_ip": IP_B, "destination_ip": IP_A}
    return framer(**{**ends, "source_qpn": 101, "destination_qpn": 1, **changes})


def receiving_link() -> FakeLink:
    """Return a link whose NIC b expects 2000 bytes on QP 101."""
    link = FakeLink()
    link.b.expect_message(IncomingMessage(1, 1, 101, IP_A, 2_000))
    return link


def test_messages_with_sizes_around_packet_and_padding_boundaries_arrive() -> None:
    link = FakeLink()
    sizes = [1, 2, 3, 4, 5, 999, 1000, 1001, 1999, 2000, 2001, 5003]
    for size in sizes:
        link.transfer(size)
    link.run()
    received = link.of(MessageReceived, "b")
    assert sorted(event.size_bytes for event in received) == sizes
    assert not any(event.figures.corrupted for event in received)


def test_packet_numbering_continues_over_messages_and_idle_times() -> None:
    link = FakeLink()
    for number in range(20):
        link.transfer(2_500, qpn=1, ready_ns=number % 3 * 100_000)
    link.run()
    assert len(link.of(Transmission, "a")) == 20
    psns = [psn for *_, psn in link.data_sent()]
    assert psns == list(range(60))


def test_packet_numbers_wrap_at_24_bits() -> None:
    link = FakeLink(TransportSettings(loss_recovery="irn"), loss=0.05)
    start = (1 << 24) - 20
    link.transfer(1_000)
    link.run()
    pairs = link.a._pairs
    pairs._sender_rows.set(1, 1, start + 1)
    link.b._pairs._receiver_rows.set(101, 1, start)
    link.transfer(60_000, qpn=1)
    link.run()
    assert len(link.of(MessageReceived, "b")) == 2
    assert {psn for *_, psn in link.data_sent()} >= {(1 << 24) - 1, 0, 39}


def test_a_corrupted_payload_is_dropped_and_resent() -> None:
    def flip(number: int, name: str, frame: bytes) -> bytes:
        return frame[:100] + bytes([frame[100] ^ 1]) + frame[101:] if number == 3 else frame

    link = transferred(20_000, TransportSettings(loss_recovery="irn"), change=flip)
    assert link.b.statistics().corrupted == 1
    assert link.of(MessageReceived, "b")[0].figures.corrupted is False


def test_wrong_bytes_with_a_correct_icrc_are_reported() -> None:
    """The CRC of the message is checked end to end."""
    link = receiving_link()
    framer_a = framer()
    link.inject(0, link.b, framer_a.frame(Opcode.SEND_FIRST, pack_psn_word(0), bytes(1000)))
    last = pack_immediate(1234) + bytes(1000)
    link.inject(1, link.b, framer_a.frame(Opcode.SEND_LAST_WITH_IMMEDIATE, pack_psn_word(1, ack_request=True), last))
    link.run()
    assert [event.figures.corrupted for event in link.of(MessageReceived, "b")] == [True]
    assert link.b.statistics().messages_corrupted == 1


def test_a_message_of_the_wrong_length_is_reported() -> None:
    link = receiving_link()
    body = pack_immediate(0) + b""
    link.inject(0, link.b, framer().frame(Opcode.SEND_ONLY_WITH_IMMEDIATE, pack_psn_word(0), body))
    link.run()
    assert [event.figures.corrupted for event in link.of(MessageReceived, "b")] == [True]


def test_an_unexpected_message_is_acknowledged_and_counted_as_corrupted() -> None:
    link = receiving_link()
    for psn in range(2):
        body = pack_immediate(0) + bytes(8)
        link.inject(psn, link.b, framer().frame(Opcode.SEND_ONLY_WITH_IMMEDIATE, pack_psn_word(psn), body))
    link.run()
    assert len(link.of(MessageReceived, "b")) == 1
    assert link.b.statistics().messages_corrupted == 2


def test_a_finished_queue_pair_keeps_no_object_and_answers_a_duplicate_as_before() -> None:
    link = transferred(2_500)
    assert (link.a._pairs._senders, link.b._pairs._receivers) == ({}, {})
    last_answer = link.sent[-1][-1]
    link.inject(link.now_ns, link.b, framer().frame(Opcode.SEND_FIRST, pack_psn_word(0), bytes(8)))
    link.run()
    assert link.sent[-1][-1] == last_answer
    assert link.b.statistics().duplicates_received == 1
    assert link.b._pairs._receivers == {}


@pytest.mark.parametrize(
    ("changes", "counter"),
    [
        ({"destination_qpn": 55}, "unknown_queue_pair"),
        ({"source_ip": IP_A + 9}, "unknown_queue_pair"),
        ({"destination_ip": IP_B + 9}, "misdelivered"),
        ({"destination_mac": MAC_B + 9}, "misdelivered"),
    ],
)
def test_packets_for_others_are_counted_and_dropped(changes: dict[str, int], counter: str) -> None:
    link = receiving_link()
    link.inject(0, link.b, framer(**changes).frame(Opcode.SEND_FIRST, pack_psn_word(0, ack_request=True), bytes(8)))
    link.run()
    assert getattr(link.b.statistics(), counter) == 1
    assert link.sent == []


def acknowledgement(psn: int, syndrome: int, more: bytes = b"") -> bytes:
    """Return an acknowledgement from NIC b's QP 101 to NIC a's QP 1."""
    return framer_back().frame(Opcode.ACKNOWLEDGE, pack_psn_word(psn), pack_aeth(syndrome, 0) + more)


@pytest.mark.parametrize(
    "frame", [acknowledgement(0, 0x20), acknowledgement(0, 0x1F, b"xyz")], ids=["receiver not ready", "odd length"]
)
def test_an_impossible_acknowledgement_is_counted_and_completes_no_flow(frame: bytes) -> None:
    link = transferred(100_000, arrivals=[(200, frame)])
    assert link.a.statistics().malformed == 1
    assert link.of(Transmission, "a")[0].finish_ns > 10_000


def test_acknowledgements_for_finished_and_unknown_queue_pairs_are_counted_separately() -> None:
    link = transferred(1_000)
    link.inject(100_000, link.a, acknowledgement(0, 0x1F))
    unknown_pair = framer_back(source_qpn=1, destination_qpn=9)
    link.inject(100_001, link.a, unknown_pair.frame(Opcode.ACKNOWLEDGE, pack_psn_word(0), pack_aeth(0x1F, 0)))
    link.run()
    assert link.a.statistics().late_acknowledgements == 1
    assert link.a.statistics().unknown_queue_pair == 1


def _ip_frame(protocol: int) -> bytes:
    return pack_header(MAC_B, MAC_A, 0x0800) + ipv4.pack_header(IP_A, IP_B, protocol, 8, 0) + bytes(8)


def test_foreign_and_broken_frames_are_counted() -> None:
    foreign = [pack_header(MAC_B, MAC_A, 0x0806) + bytes(28), _ip_frame(1)]
    broken = [b"", bytes(10), pack_header(MAC_B, MAC_A, 0x0800), _ip_frame(17)]
    broken += [pack_header(MAC_B, MAC_A, 0x8808) + bytes(size) for size in (20, 46)]  # no pause frames
    link = FakeLink()
    for frames, expected in ((foreign, (2, 0)), (broken, (2, 6))):
        link.b.receive_batch(frames, list(range(len(frames))))
        assert (link.b.statistics().other, link.b.statistics().malformed) == expected


def _mark(number: int, name: str, frame: bytes) -> bytes:
    """Return the frame with Congestion Experienced if it is a data packet."""
    is_data = name == "a" and parse_header(frame) is not None
    return with_tos(frame, frame[15] | ECN_CONGESTION_EXPERIENCED) if is_data else frame


def test_a_mark_is_echoed_in_the_ack_and_cnps_are_limited_by_their_interval() -> None:
    link = transferred(100_000, TransportSettings(congestion_notice="cnp", cnp_interval_ns=2_000), change=_mark)
    statistics = link.b.statistics()
    assert statistics.corrupted == 0
    assert 100 * 85 // 2_000 <= statistics.cnps_sent <= 100 * 85 // 2_000 + 1
    assert link.a.statistics().cnps_received == statistics.cnps_sent
    acks = [parse_header(frame) for _, name, frame in link.sent if name == "b" and len(frame) == 62]
    assert all(header is not None and header.becn for header in acks)


@pytest.mark.parametrize("ack_every", [1, 4])
def test_marks_in_acknowledgements_slow_the_sender_without_a_cnp(ack_every: int) -> None:
    """The mark of an unanswered packet is reported in the next ACK, as in the HPCC simulator."""
    link = FakeLink(TransportSettings(congestion="dcqcn", ack_every=ack_every), change=_mark)
    link.transfer(1_000_000)
    link.run(until_ns=30_000)
    [message] = link.a.state().messages
    assert message.rate_bps < 50_000_000_000
    assert link.b.statistics().cnps_sent == link.a.statistics().cnps_received == 0


def test_a_mark_is_reported_exactly_once() -> None:
    """Mark only packet 1 of 0 to 7; of the ACKs for 3 and 7 only the first may report it."""

    def mark_one(number: int, name: str, frame: bytes) -> bytes:
        return _mark(number, name, frame) if number == 1 else frame

    link = transferred(8_000, TransportSettings(ack_every=4), change=mark_one)
    acks = [parse_header(frame) for _, name, frame in link.sent if name == "b"]
    assert [header is not None and header.becn for header in acks] == [True, False]


def _dscp(frame: bytes) -> int:
    return frame[15] >> 2


@pytest.mark.parametrize(("priority", "dscp"), [("control", DSCP_CONTROL), ("data", DSCP_DATA)])
def test_acknowledgements_are_in_the_configured_class(priority: Literal["control", "data"], dscp: int) -> None:
    """NAKs are in the same class; CNPs are always in the control class."""
    settings = TransportSettings(ack_priority=priority, congestion_notice="cnp", loss_recovery="irn")
    link = transferred(10_000, settings, change=_mark, drop=lambda number, name, frame: number == 3)
    answers = {(header.opcode, _dscp(f)) for _, name, f in link.sent if name == "b" and (header := parse_header(f))}
    assert answers == {(Opcode.ACKNOWLEDGE, dscp), (CNP, DSCP_CONTROL)}
    assert link.b.statistics().naks_sent > 0


@pytest.mark.parametrize(("priority", "is_held"), [("control", False), ("data", True)])
def test_a_pause_of_the_data_class_holds_acknowledgements_in_that_class(
    priority: Literal["control", "data"], is_held: bool
) -> None:
    link = FakeLink(TransportSettings(ack_priority=priority, flow_control="pfc"))
    link.transfer(1_000)
    link.inject(0, link.b, pfc.pack_frame(MAC_B, {CLASS_DATA: 10_000}))
    link.run(until_ns=50_000)
    assert [name for _, name, _ in link.sent] == ["a"] + ["b"] * (not is_held)
    link.run()
    assert len(link.of(Transmission, "a")) == 1


def test_with_cnps_marks_in_acknowledgements_are_no_congestion_notice() -> None:
    """Otherwise every marked packet would count twice. All CNPs are lost here."""
    settings = TransportSettings(congestion="dcqcn", congestion_notice="cnp")

    def is_cnp(number: int, name: str, frame: bytes) -> bool:
        header = parse_header(frame)
        return header is not None and header.opcode == CNP

    link = FakeLink(settings, change=_mark, drop=is_cnp)
    link.transfer(1_000_000)
    link.run(until_ns=30_000)
    assert link.b.statistics().cnps_sent > 0
    [message] = link.a.state().messages
    assert message.rate_bps == 100_000_000_000


def test_only_every_nth_packet_and_the_last_are_acknowledged() -> None:
    link = transferred(102_000, TransportSettings(ack_every=4, congestion="window"))
    assert link.b.statistics().acks_sent == 26
    assert len(link.of(Transmission, "a")) == 1


def test_a_window_smaller_than_the_acknowledgement_interval_does_not_stall() -> None:
    """The packet that fills the window requests an acknowledgement too."""
    settings = TransportSettings(ack_every=64, congestion="window", congestion_parameters={"window_bytes": 3_000})
    link = transferred(30_000, settings)
    assert link.of(Transmission, "a")[0].figures.timeouts == 0


@pytest.mark.parametrize("other", [IncomingMessage(2, 1, 101, IP_A + 1, 10), IncomingMessage(2, 2, 101, IP_A, 10)])
def test_a_queue_pair_receives_from_one_peer(other: IncomingMessage) -> None:
    link = receiving_link()
    with pytest.raises(ValueError, match="belongs to another sender"):
        link.b.expect_message(other)


def test_a_queue_pair_sends_to_one_peer() -> None:
    link = FakeLink()
    link.a.send_message(OutgoingMessage(1, 1, 101, IP_B, 10, 0))
    with pytest.raises(ValueError, match="connected elsewhere"):
        link.a.send_message(OutgoingMessage(2, 1, 102, IP_B, 10, 0))


def test_a_packet_numbered_before_the_first_is_not_acknowledged() -> None:
    link = receiving_link()
    link.inject(0, link.b, framer().frame(Opcode.SEND_FIRST, pack_psn_word(0xFFFFFF, ack_request=True), bytes(8)))
    link.run()
    assert link.b.statistics().duplicates_received == 1
    assert link.sent == []


def test_without_verification_damage_is_not_detected() -> None:
    link = transferred(
        3_000,
        TransportSettings(verify=False),
        change=lambda number, name, frame: frame[:100] + b"!" + frame[101:] if name == "a" else frame,
    )
    assert [event.figures.corrupted for event in link.of(MessageReceived, "b")] == [False]
    assert link.b.statistics().corrupted == 0


def test_a_bts_for_another_host_is_misdelivered() -> None:
    link = FakeLink()
    frame = bts(1, 5)
    link.a.receive(b"\x02" + bytes(5) + frame[6:], 1)
    link.b.receive(frame, 1)
    assert link.a.statistics().misdelivered == link.b.statistics().misdelivered == 1


@pytest.mark.parametrize("recovery", ["go-back-n", "irn"])
def test_the_number_of_waiting_answers_is_bounded(recovery: str) -> None:
    """Pause the control class and send a flood of short packets that request answers."""
    link = FakeLink(TransportSettings(loss_recovery=recovery, flow_control="pfc"))
    link.b.expect_message(IncomingMessage(1, 1, 101, IP_A, 2_000))
    link.b.receive(pfc.pack_frame(MAC_A, {CLASS_CONTROL: PFC_MAX_QUANTA}), 0)
    forged = framer().frame(Opcode.SEND_MIDDLE, pack_psn_word(1, ack_request=True), b"")
    first = framer().frame(Opcode.SEND_FIRST, pack_psn_word(0, ack_request=True), b"")
    link.b.receive(first, 1)
    for _ in range(MOST_CONTROL_FRAMES + 100):
        link.b.receive(first, 1)
        link.b.receive(forged, 1)
    statistics = link.b.statistics()
    assert link.b._wire._control.count == MOST_CONTROL_FRAMES
    assert statistics.acks_sent + statistics.naks_sent == MOST_CONTROL_FRAMES + statistics.control_overruns
    assert statistics.control_overruns > 100


def test_packets_of_unknown_peers_add_no_state() -> None:
    link = receiving_link()
    before = _container_sizes(link.b)
    for number in range(2_000):
        peer = framer(source_ip=IP_A + number % 7, destination_qpn=number, source_qpn=number)
        for opcode in (Opcode.SEND_ONLY, Opcode.SEND_FIRST, Opcode.CNP):
            link.b.receive(peer.frame(opcode, pack_psn_word(5), bytes(16)), number)
        link.b.receive(peer.frame(Opcode.ACKNOWLEDGE, pack_psn_word(9), pack_aeth(0, 1)), number)
        link.b.receive(bts(number, 5), number)
    while link.b.next_event() is not None:
        pass
    assert _container_sizes(link.b) == before


def _container_sizes(nic: Nic) -> dict[str, int]:
    parts = [(name, getattr(part, name)) for part in (nic, nic._pairs) for name in dir(part) if name[:2] != "__"]
    return {name: len(value) for name, value in parts if isinstance(value, (dict, deque, list, set))}


def test_statistics_are_a_snapshot() -> None:
    link = FakeLink()
    link.transfer(5_000)
    before = link.a.statistics()
    copy = dataclasses.replace(before)
    link.run()
    after = link.a.statistics()
    assert before == copy
    assert (after.data_sent, after.frames_sent, after.messages_completed) == (5, 5, 1)
    assert after.bytes_sent == sum(len(frame) for _, name, frame in link.sent if name == "a")
    assert link.b.statistics().bytes_received == after.bytes_sent
