# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""RoCEv2 frames as a NIC reads them."""

from typing import Final

from librt.strings import read_i64_be
from mypy_extensions import i64

from wire import ethernet, int_header, ipv4, udp
from wire.constants import (
    ECN_CONGESTION_EXPERIENCED,
    ETHERTYPE_IPV4,
    INT_RECORD_BYTES,
    INT_SHIM_BYTES,
    INT_UDP_PORT,
    IP_PROTOCOL_UDP,
    QPN_MASK,
    ROCE_UDP_PORT,
)
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
_QPN_BYTE: Final = 7
"""The last bytes of the IPv4 length, of the source address, and, from the BTH on, of the destination QP."""

_CACHED_HEADERS: Final = 1 << 11
"""A decoder forgets the oldest beyond this many: neither forged ones nor those of past messages fill the memory."""
_BTH_HEAD_BYTES: Final = PSN_OFFSET - BTH_OFFSET
_LATEST_HEADERS: Final = 1 << 10
"""A power of two: places for those that were seen last."""


class RoceHeader:
    """What is known of a packet from what stands before its PSN, telemetry's records left out. One object serves every
    packet that begins so."""

    __slots__ = (
        "becn",
        "body_end",
        "body_offset",
        "bth",
        "bth_offset",
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
        "psn_offset",
        "shim_bytes",
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
        self.shim_bytes: i64 = 0
        self.bth_offset: i64 = BTH_OFFSET
        self.psn_offset: i64 = PSN_OFFSET
        self.body_offset: i64 = BODY_OFFSET
        self.icrc_offset: i64 = IP_OFFSET + ip.total_length - ICRC_BYTES
        self.body_end: i64 = self.icrc_offset - (flags >> 4 & 0x3)
        self.is_whole_words = self.body_end == self.icrc_offset
        self.icrc_state: i64 = state
        self.frame_bytes: i64 = 0
        """Length of the frames it was learned from, padding of Ethernet's included, and ..."""
        self.prefix = b""
        """... what they begin with, up to the BTH or to telemetry's records, and ..."""
        self.bth: i64 = 0
        """... the first eight bytes of their BTH."""

    def move_behind(self, shim_bytes: i64) -> None:
        """BTH and all after it stand behind so many bytes of telemetry."""
        self.shim_bytes = shim_bytes
        self.bth_offset += shim_bytes
        self.psn_offset += shim_bytes
        self.body_offset += shim_bytes
        self.icrc_offset += shim_bytes
        self.body_end += shim_bytes

    def shim(self, frame: bytes) -> bytes:
        """The packet's telemetry, as `wire.int_header` has it; empty for a plain one."""
        return frame[BTH_OFFSET : self.bth_offset] if self.shim_bytes else b""

    def psn_word(self, frame: bytes) -> int:
        """AckReq (top bit) and PSN (low 24 bits) of a packet that begins with this header."""
        return word_at(frame, self.psn_offset)

    def body(self, frame: bytes) -> bytes:
        """What follows the BTH, without padding and ICRC."""
        return frame[self.body_offset : self.body_end]

    def body_word(self, frame: bytes) -> i64:
        """The first four bytes of the body as a number."""
        return word_at(frame, self.body_offset)

    def acknowledge_kind(self, frame: bytes) -> i64:
        """Of an Acknowledge packet: the upper bits of the syndrome, 0 for an ACK, 2 where data was trimmed and 3 for a
        NAK; -1 if its body is not as long as an AETH, alone or with a selective word."""
        size = self.body_end - self.body_offset
        return i64(frame[self.body_offset]) >> 5 if size == AETH_BYTES or size == AETH_BYTES + SELECTIVE_BYTES else -1

    def selective_psn(self, frame: bytes) -> i64:
        """The word that IRN appends to a NAK, -1 without one; above PSN_MASK it is none."""
        if self.body_end - self.body_offset < AETH_BYTES + SELECTIVE_BYTES:
            return -1
        return word_at(frame, self.body_offset + AETH_BYTES)

    def icrc_is_right(self, frame: bytes) -> bool:
        """Whether the invariant CRC of the packet fits its bytes."""
        end = self.icrc_offset
        return crc_between(frame, self.psn_offset, end, self.icrc_state) == little_word_at(frame, end)

    def icrc_fits(self, frame: bytes, body_crc: i64, shift: CrcShift) -> bool:
        """The same, of a packet of whole words whose body's CRC-32 is known, and as long as `shift` says."""
        word = little_word_at(frame, self.psn_offset)
        return shift.past_word(word, self.icrc_state) ^ body_crc == little_word_at(frame, self.icrc_offset)


class RoceDecoder:
    """Recognises RoCEv2 frames, with telemetry or without; checks each distinct header once.

    The header that a frame shares with an earlier one is looked for in a place that a few of its bytes name, where the
    latest such header lies, and else by all of its bytes but telemetry's records.
    """

    __slots__ = ("_headers", "_latest")

    def __init__(self) -> None:
        self._headers: dict[bytes, RoceHeader] = {}
        self._latest: list[RoceHeader | None] = [None] * _LATEST_HEADERS

    def header(self, frame: bytes) -> RoceHeader | None:
        """The header of a well-formed RoCEv2 frame, or None for anything else (short, lying, unknown opcode...)."""
        size: i64 = len(frame)
        if size < PSN_OFFSET:
            return None
        at: i64 = BTH_OFFSET
        fixed = at
        port = half_word_at(frame, _PORT_OFFSET)
        if port == INT_UDP_PORT:
            fixed = at + INT_SHIM_BYTES
            at = fixed + i64(frame[at]) * INT_RECORD_BYTES
            if size < at + BTH_BYTES:
                return None
        elif port != ROCE_UDP_PORT:
            return None
        place: i64 = i64(frame[_SOURCE_BYTE]) << 3 ^ i64(frame[at]) << 5 ^ i64(frame[_LENGTH_BYTE]) << 6
        place = (place ^ i64(frame[at + _QPN_BYTE]) ^ i64(frame[at + _QPN_BYTE - 1]) << 8) & (_LATEST_HEADERS - 1)
        latest = self._latest[place]
        if (
            latest is not None
            and latest.frame_bytes == size
            and latest.bth_offset == at
            and latest.bth == read_i64_be(frame, at)
            and frame.startswith(latest.prefix)
        ):
            return latest
        key = frame[:fixed] + frame[at : at + _BTH_HEAD_BYTES]
        known = self._headers.get(key)
        if known is None or known.frame_bytes != size:
            known = _parse_any(frame)
            if known is not None:
                known.frame_bytes = size
                known.prefix = frame[:fixed]
                known.bth = read_i64_be(frame, at)
                self._keep(key, known)
        self._latest[place] = known
        return known

    def _keep(self, key: bytes, header: RoceHeader) -> None:
        headers = self._headers
        if len(headers) >= _CACHED_HEADERS and key not in headers:
            del headers[next(iter(headers))]
        headers[key] = header


def _parse_any(frame: bytes) -> RoceHeader | None:
    """As `parse_header`, of a packet with telemetry too."""
    if not int_header.has_telemetry(frame):
        return parse_header(frame)
    found = int_header.strip(frame)
    if found is None:
        return None
    plain, shim = found
    header = parse_header(plain)
    if header is not None:
        header.move_behind(len(shim))
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
