# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of RoCEv2 packets, compared with scapy and a packet captured from a real NIC, and of damaged packets."""

from collections.abc import Callable
from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from sfc_testbed.wire import ipv4, udp
from sfc_testbed.wire.constants import PSN_MASK, ROCE_UDP_PORT
from sfc_testbed.wire.crc import shift_of
from sfc_testbed.wire.int_header import request, strip
from sfc_testbed.wire.roce.decoder import RoceDecoder, RoceHeader, parse_header
from sfc_testbed.wire.roce.framer import RoceFramer
from sfc_testbed.wire.roce.packets import (
    ACK_FRAME_BYTES,
    BTH_OFFSET,
    CNP_RESERVED,
    Opcode,
    Syndrome,
    data_frame_bytes,
    pack_aeth,
    pack_immediate,
    pack_psn_word,
    pack_selective,
    source_port,
)
from sfc_testbed.wire.scapy_layers import AETH, BTH

# A CNP captured on a ConnectX-4 Lx, from the tests of scapy's RoCE layer.
CONNECTX_CNP = bytes.fromhex(
    "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a00"
    "1201000012b7002800008100ffff40000118000000000000000000000000000000000000000082fd002a"
)


def framer(tos: int = 0x68) -> RoceFramer:
    """Return a framer from QP 5 at 10.0.0.1 to QP 7 at 10.0.0.2."""
    return RoceFramer(
        destination_mac=0x0200_0000_0002,
        source_mac=0x0200_0000_0001,
        source_ip=0x0A00_0001,
        destination_ip=0x0A00_0002,
        source_qpn=5,
        destination_qpn=7,
        tos=tos,
    )


def header_of(frame: bytes, decode: Callable[[bytes], RoceHeader | None] = parse_header) -> RoceHeader:
    """Return the header of a frame that must be valid."""
    header = decode(frame)
    assert header is not None
    return header


@given(st.binary(max_size=1500), st.integers(0, 2**24 - 1), st.booleans())
def test_data_frame_has_scapys_fields_and_icrc(payload: bytes, psn: int, ack_request: bool) -> None:
    frame = framer().frame(Opcode.SEND_MIDDLE, pack_psn_word(psn, ack_request=ack_request), payload)
    packet = Ether(frame)
    bth = packet[BTH]
    assert (packet[UDP].sport, packet[UDP].dport, packet[UDP].chksum) == (0xC005, ROCE_UDP_PORT, 0)
    assert (bth.opcode, bth.psn, bth.ackreq, bth.dqpn, bth.pkey) == (Opcode.SEND_MIDDLE, psn, ack_request, 7, 0xFFFF)
    assert bth.padcount == -len(payload) % 4
    assert packet[IP].tos == 0x68
    bth.icrc = None
    assert bytes(packet) == frame
    assert len(frame) == data_frame_bytes(len(payload), is_last=False)


@given(st.binary(max_size=1500), st.integers(0, 2**24 - 1))
def test_data_frame_round_trips(payload: bytes, psn: int) -> None:
    frame = framer().frame(Opcode.SEND_ONLY_WITH_IMMEDIATE, pack_psn_word(psn), pack_immediate(9) + payload)
    header = header_of(frame, RoceDecoder().header)
    assert header.icrc_is_right(frame)
    assert header.psn_word(frame) == psn
    assert header.body(frame) == pack_immediate(9) + payload
    assert (header.source_ip, header.destination_ip, header.destination_qpn) == (0x0A00_0001, 0x0A00_0002, 7)
    assert len(frame) == data_frame_bytes(len(payload), is_last=True)


def test_icrc_of_a_captured_cnp_is_right() -> None:
    header = header_of(CONNECTX_CNP)
    assert header.opcode == Opcode.CNP
    assert header.becn
    assert header.destination_qpn == 0x118
    assert header.icrc_is_right(CONNECTX_CNP)


def test_the_icrc_does_not_cover_fields_that_routers_change() -> None:
    """Routers change TTL, TOS (ECN marks) and the IP checksum."""
    packet = Ether(framer(tos=0x6A).frame(Opcode.SEND_ONLY, pack_psn_word(1), b"abcd"))
    packet[IP].ttl = 61
    packet[IP].tos = 0x6B
    del packet[IP].chksum
    frame = bytes(packet)
    header = header_of(frame)
    assert header.congestion_experienced
    assert header.icrc_is_right(frame)


@given(st.integers(0, 63), st.integers(0, 63), st.booleans())
def test_switches_may_change_the_flags_after_becn(sent: int, changed: int, becn: bool) -> None:
    frame = framer().frame(Opcode.SEND_MIDDLE, pack_psn_word(5), bytes(1000), becn=becn, flags=sent)
    for flags in (sent, changed):
        passed = frame[: BTH_OFFSET + 4] + bytes([becn << 6 | flags]) + frame[BTH_OFFSET + 5 :]
        header = header_of(passed)
        assert (header.flags, header.becn, header.destination_qpn) == (flags, becn, 7)
        assert header.icrc_is_right(passed)


@given(st.data())
def test_one_wrong_bit_in_transport_or_payload_is_noticed(data: st.DataObject) -> None:
    """Header checks or the ICRC detect the error. The masked FECN/BECN byte is left out."""
    frame = bytearray(framer().frame(Opcode.SEND_MIDDLE, pack_psn_word(3), bytes(range(40))))
    position = data.draw(st.integers(26, len(frame) - 1).filter(lambda at: at not in (40, 41, 46)))
    frame[position] ^= 1 << data.draw(st.integers(0, 7))
    header = parse_header(bytes(frame))
    assert header is None or not header.icrc_is_right(bytes(frame))


@given(st.integers(0, 61))
def test_truncated_frames_are_refused(length: int) -> None:
    frame = framer().frame(Opcode.ACKNOWLEDGE, pack_psn_word(3), pack_aeth(Syndrome.ACK, 1))
    assert len(frame) == ACK_FRAME_BYTES == 62
    assert parse_header(frame[:length]) is None


@given(st.binary(max_size=120))
def test_random_bytes_are_refused_without_an_exception(noise: bytes) -> None:
    assert RoceDecoder().header(noise) is None


def test_frames_padded_by_the_link_are_read_to_their_ip_length() -> None:
    """Ethernet pads short frames. The padding does not belong to the packet."""
    frame = framer().frame(Opcode.SEND_ONLY, pack_psn_word(3), b"") + bytes(6)
    header = header_of(frame)
    assert header.body(frame) == b""
    assert header.icrc_is_right(frame)


def test_a_datagram_too_short_for_a_transport_header_is_refused() -> None:
    frame = framer().frame(Opcode.SEND_ONLY, pack_psn_word(0), b"")
    ip = ipv4.pack_header(1, 2, 17, 16, 0)
    assert parse_header(frame[:14] + ip + udp.pack_header(1, ROCE_UDP_PORT, 8) + bytes(60)) is None


def test_unknown_opcodes_and_bodies_too_short_for_their_opcode_are_refused() -> None:
    """An RDMA WRITE (0x06) is well-formed but not supported by the testbed."""
    for opcode, size in ((0x06, 16), (Opcode.ACKNOWLEDGE, 0), (Opcode.SEND_ONLY_WITH_IMMEDIATE, 0), (Opcode.CNP, 12)):
        assert parse_header(framer().frame(opcode, pack_psn_word(0), bytes(size))) is None


def test_ack_and_nak_have_scapys_aeth() -> None:
    for syndrome in Syndrome:
        packet = Ether(framer().frame(Opcode.ACKNOWLEDGE, pack_psn_word(3), pack_aeth(syndrome, 12)))
        assert (packet[AETH].syndrome, packet[AETH].msn) == (syndrome, 12)


def test_cnp_has_scapys_layout() -> None:
    frame = framer().frame(Opcode.CNP, pack_psn_word(0), CNP_RESERVED, becn=True)
    bth = Ether(frame)[BTH]
    assert (bth.opcode, bth.becn, bth.psn, bth.dqpn) == (0x81, 1, 0, 7)
    assert frame[42:54] == bytes.fromhex("8100ffff4000000700000000")


def test_aeth_bodies_round_trip_or_are_refused() -> None:
    """A body has four bytes, or eight with IRN's selective word, whose top byte must be zero."""

    def read(body: bytes) -> tuple[int, int]:
        frame = framer().frame(Opcode.ACKNOWLEDGE, pack_psn_word(0), body)
        header = header_of(frame)
        return header.acknowledge_kind(frame), header.selective_psn(frame)

    assert read(pack_aeth(0x60, 5)) == (3, -1)
    assert read(pack_aeth(0x1F, 5) + pack_selective(9)) == (0, 9)
    assert read(pack_aeth(0x60, 5) + b"\xff\0\0\0")[1] > PSN_MASK
    assert read(pack_aeth(0x60, 5) + b"a")[0] == -1


def test_source_port_carries_the_low_bits_of_the_qp() -> None:
    """A BTS identifies its flow by the source port."""
    assert source_port(5) == 0xC005
    assert source_port(0x4001) == 0xC001


def test_forged_headers_do_not_fill_the_decoders_memory() -> None:
    """The decoder discards the oldest header and still decodes frames with that header."""
    decoder = RoceDecoder()
    frame = framer().frame(Opcode.SEND_ONLY, pack_psn_word(0), b"abcd")
    template = bytearray(frame)
    for number in range(7_000):
        template[0:6] = number.to_bytes(6, "big")
        assert decoder.header(bytes(template)) is not None
    assert len(decoder._headers) <= 1 << 11
    assert decoder.header(frame) is not None


@given(st.lists(st.integers(0, 0xFFFF), min_size=2, max_size=6), st.booleans(), st.binary(min_size=40, max_size=40))
def test_packets_of_a_queue_pair_may_have_different_source_ports(ports: list[int], has_shim: bool, body: bytes) -> None:
    """A framer that changes its port builds the frames of one that always had it, and the decoder reads them."""
    changing, decoder = framer(), RoceDecoder()
    shim = request(telemetry=True, stamp_us=None) if has_shim else b""
    for number, port in enumerate([*ports, *ports]):
        changing.set_source_port(port)
        frames = [
            changing.frame(Opcode.SEND_LAST, pack_psn_word(number), body, shim=shim),
            changing.full_frame(0, number, body, crc32(body), shift_of(len(body)), shim),
            changing.acknowledgement(number, 0x1F000000, shim=shim),
        ]
        for frame in frames:
            assert frame[34:36] == port.to_bytes(2, "big")
            stripped = strip(frame) if has_shim else None
            alone = header_of(frame if stripped is None else stripped[0])
            header = header_of(frame, decoder.header)
            assert header.icrc_is_right(frame)
            assert (header.source_port, header.icrc_state) == (port, alone.icrc_state)
            assert (header.opcode, header.psn_word(frame), header.body(frame)) == (
                alone.opcode,
                number,
                alone.body(frame if stripped is None else stripped[0]),
            )
            damaged = bytearray(frame)
            damaged[30] ^= 1  # an address, so that the IPv4 checksum is wrong
            assert decoder.header(bytes(damaged)) is None
