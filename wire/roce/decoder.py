# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""RoCEv2 frames as a NIC reads them."""

from typing import Final

from mypy_extensions import i64

from wire import ethernet, ipv4, udp
from wire.constants import ECN_CONGESTION_EXPERIENCED, ETHERTYPE_IPV4, IP_PROTOCOL_UDP, QPN_MASK, ROCE_UDP_PORT
from wire.crc import CrcShift, crc_between
from wire.roce.packets import (
    AETH_BYTES,
    BECN,
    BODY_OFFSET,
    BTH_BYTES,
    BTH_HEAD,
    BTH_OFFSET,
    CNP_RESERVED,
    ICRC_BYTES,
    IMMEDIATE_BYTES,
    IMMEDIATE_OPCODES,
    IP_OFFSET,
    KNOWN_OPCODES,
    PSN_OFFSET,
    PULL_BYTES,
    SELECTIVE_BYTES,
    SEND_OPCODES,
    UDP_OFFSET,
    Opcode,
    icrc_state,
)
from wire.words import half_word_at, little_word_at, word_at

_PORT_OFFSET: Final = UDP_OFFSET + 2
"""Of the destination port, wherever there is one: a header with options is none of ours."""
_LENGTH_BYTE: Final = 17
_SOURCE_BYTE: Final = 29
_QPN_BYTE: Final = 49
"""The last bytes of the IPv4 length, the source address and the destination QP."""

_CACHED_HEADERS = 1 << 16
"""A decoder forgets all headers beyond this many, so that forged ones cannot fill the memory."""
_LATEST_HEADERS: Final = 1 << 10
"""A power of two: places for those that were seen last."""


class RoceHeader:
    """What is known of a packet from the 50 bytes before its PSN. One object serves every packet that begins so."""

    __slots__ = (
        "becn",
        "body_end",
        "congestion_experienced",
        "destination_ip",
        "destination_mac",
        "destination_qpn",
        "frame_bytes",
        "icrc_offset",
        "icrc_state",
        "is_data",
        "is_whole_words",
        "opcode",
        "prefix",
        "source_ip",
        "source_port",
        "tos",
    )

    def __init__(
        self, mac: int, ip: ipv4.Ipv4Header, ports: udp.UdpHeader, bth: tuple[int, int, int, int], state: int
    ) -> None:
        """`bth` as unpacked from its first eight bytes; `state` of the CRC after it."""
        opcode, flags, _, becn_qpn = bth
        self.opcode: i64 = opcode
        self.is_data = opcode in SEND_OPCODES
        self.tos = ip.tos
        self.destination_mac = mac
        self.source_ip = ip.source
        self.destination_ip = ip.destination
        self.source_port = ports.source_port
        self.destination_qpn = becn_qpn & QPN_MASK
        self.becn = bool(becn_qpn & BECN)
        self.congestion_experienced = ip.tos & 0x3 == ECN_CONGESTION_EXPERIENCED
        self.icrc_offset: i64 = IP_OFFSET + ip.total_length - ICRC_BYTES
        self.body_end: i64 = self.icrc_offset - (flags >> 4 & 0x3)
        self.is_whole_words = self.body_end == self.icrc_offset
        self.icrc_state: i64 = state
        self.frame_bytes: i64 = 0
        """Length of the frames it was learned from, padding of Ethernet's included, and ..."""
        self.prefix = b""
        """... what they begin with."""

    def psn_word(self, frame: bytes) -> int:
        """AckReq (top bit) and PSN (low 24 bits) of a packet that begins with this header."""
        return word_at(frame, PSN_OFFSET)

    def body(self, frame: bytes) -> bytes:
        """What follows the BTH, without padding and ICRC."""
        return frame[BODY_OFFSET : self.body_end]

    def acknowledge_kind(self, frame: bytes) -> i64:
        """Of an Acknowledge packet: the upper bits of the syndrome, 0 for an ACK, 2 where data was trimmed and 3 for a
        NAK; -1 if its body is not as long as an AETH, alone or with a selective word."""
        size = self.body_end - BODY_OFFSET
        return i64(frame[BODY_OFFSET]) >> 5 if size == AETH_BYTES or size == AETH_BYTES + SELECTIVE_BYTES else -1

    def selective_psn(self, frame: bytes) -> i64:
        """The word that IRN appends to a NAK, -1 without one; above PSN_MASK it is none."""
        if self.body_end - BODY_OFFSET < AETH_BYTES + SELECTIVE_BYTES:
            return -1
        return word_at(frame, BODY_OFFSET + AETH_BYTES)

    def icrc_is_right(self, frame: bytes) -> bool:
        """Whether the invariant CRC of the packet fits its bytes."""
        end = self.icrc_offset
        return crc_between(frame, PSN_OFFSET, end, self.icrc_state) == little_word_at(frame, end)

    def icrc_fits(self, frame: bytes, body_crc: i64, shift: CrcShift) -> bool:
        """The same, of a packet of whole words whose body's CRC-32 is known, and as long as `shift` says."""
        word = little_word_at(frame, PSN_OFFSET)
        return shift.past_word(word, self.icrc_state) ^ body_crc == little_word_at(frame, self.icrc_offset)


class RoceDecoder:
    """Recognises RoCEv2 frames; checks each distinct header once.

    The header that a frame shares with an earlier one is looked for in a place that a few of its bytes name, where the
    latest such header lies, and else by all of its bytes.
    """

    __slots__ = ("_headers", "_latest")

    def __init__(self) -> None:
        self._headers: dict[bytes, RoceHeader] = {}
        self._latest: list[RoceHeader | None] = [None] * _LATEST_HEADERS

    def header(self, frame: bytes) -> RoceHeader | None:
        """The header of a well-formed RoCEv2 frame, or None for anything else (short, lying, unknown opcode...)."""
        size: i64 = len(frame)
        if size < PSN_OFFSET or half_word_at(frame, _PORT_OFFSET) != ROCE_UDP_PORT:
            return None
        place: i64 = i64(frame[_SOURCE_BYTE]) << 3 ^ i64(frame[BTH_OFFSET]) << 5 ^ i64(frame[_LENGTH_BYTE]) << 6
        place = (place ^ i64(frame[_QPN_BYTE]) ^ i64(frame[_QPN_BYTE - 1]) << 8) & (_LATEST_HEADERS - 1)
        latest = self._latest[place]
        if latest is not None and latest.frame_bytes == size and frame.startswith(latest.prefix):
            return latest
        known = self._headers.get(frame[:PSN_OFFSET])
        if known is None or known.frame_bytes != size:
            known = self._learn(frame)
        self._latest[place] = known
        return known

    def _learn(self, frame: bytes) -> RoceHeader | None:
        header = parse_header(frame)
        if header is not None:
            if len(self._headers) >= _CACHED_HEADERS:
                self._headers.clear()
            header.frame_bytes = len(frame)
            header.prefix = frame[:PSN_OFFSET]
            self._headers[header.prefix] = header
        return header


def parse_header(frame: bytes) -> RoceHeader | None:
    """Decode and validate headers from scratch; see `RoceDecoder.header`."""
    ip = ipv4.unpack_header(frame, IP_OFFSET)
    if ip is None or ip.protocol != IP_PROTOCOL_UDP or ethernet.ethertype_of(frame) != ETHERTYPE_IPV4:
        return None
    ports = udp.unpack_header(frame, UDP_OFFSET, ip.total_length - ipv4.HEADER_BYTES)
    if ports is None or ports.destination_port != ROCE_UDP_PORT:
        return None
    if ports.length < udp.HEADER_BYTES + BTH_BYTES + ICRC_BYTES:
        return None
    bth = BTH_HEAD.unpack_from(frame, BTH_OFFSET)
    mac = int.from_bytes(frame[:6], "big")
    header = RoceHeader(mac, ip, ports, bth, icrc_state(frame[IP_OFFSET:PSN_OFFSET]))
    if bth[0] not in KNOWN_OPCODES or bth[1] & 0xF or header.body_end - BODY_OFFSET < _minimum_body(bth[0]):
        return None
    return header


def _minimum_body(opcode: int) -> int:
    """Bytes that must follow the BTH of such a packet."""
    if opcode == Opcode.CNP:
        return len(CNP_RESERVED)
    if opcode == Opcode.ACKNOWLEDGE:
        return AETH_BYTES
    if opcode == Opcode.PULL:
        return PULL_BYTES
    return IMMEDIATE_BYTES if opcode in IMMEDIATE_OPCODES else 0
