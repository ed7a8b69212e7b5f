# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""RoCEv2 packets (docs/sources.md#rocev2): base transport header, AETH, immediate data, CNP, and the invariant CRC.

Built for speed: a `RoceFramer` (one per direction of a queue pair) and a `RoceDecoder` (one per NIC) remember every
header they have built or checked together with the CRC state after it, so a packet of a known flow costs one
dictionary look-up and one CRC over its changing bytes. This module knows bytes, not queue pairs, order or time.
"""

import struct
from enum import IntEnum
from typing import Final

from isal.isal_zlib import crc32
from mypy_extensions import i64

from wire import ethernet, ipv4, udp
from wire.constants import (
    ECN_CONGESTION_EXPERIENCED,
    ETHERTYPE_IPV4,
    INT_UDP_PORT,
    IP_PROTOCOL_UDP,
    PARTITION_KEY_DEFAULT,
    PSN_MASK,
    QPN_MASK,
    ROCE_SOURCE_PORT_BASE,
    ROCE_SOURCE_PORT_QPN_MASK,
    ROCE_UDP_PORT,
)
from wire.crc import CrcShift

BTH_BYTES: Final = 12
AETH_BYTES: Final = 4
IMMEDIATE_BYTES: Final = 4
ICRC_BYTES: Final = 4
ACK_REQUEST: Final = 1 << 31
"""Bit of the last BTH word (AckReq, reserved, PSN) that asks the responder for an acknowledgement."""

IP_OFFSET: Final = 14
UDP_OFFSET: Final = 34
BTH_OFFSET: Final = 42
PSN_OFFSET: Final = 50
"""Where the last BTH word lies: everything before it is equal for all packets of a flow of one opcode and length."""
BODY_OFFSET: Final = 54

_LENGTH_BYTE: Final = 17
_SOURCE_BYTE: Final = 29
_QPN_BYTE: Final = 49
"""The last bytes of the IPv4 length, the source address and the destination QP."""

ACK_FRAME_BYTES = BODY_OFFSET + AETH_BYTES + ICRC_BYTES
"""An ACK or a NAK; a NAK of IRN has a selective word more."""

_BTH_HEAD = struct.Struct(">BBHI")
_WORD = struct.Struct(">I")
_PSEUDO_LRH = b"\xff" * 8
_BECN = 1 << 30
_CACHED_HEADERS = 1 << 16
"""A decoder forgets all headers beyond this many, so that forged ones cannot fill the memory."""
_LATEST_HEADERS: Final = 1 << 10
"""A power of two: places for those that were seen last."""

SEND_FIRST: Final = 0x00
SEND_MIDDLE: Final = 0x01
SEND_LAST: Final = 0x02
SEND_LAST_WITH_IMMEDIATE: Final = 0x03
SEND_ONLY: Final = 0x04
SEND_ONLY_WITH_IMMEDIATE: Final = 0x05
ACKNOWLEDGE: Final = 0x11
CNP: Final = 0x81
PULL: Final = 0xC0
"""Of the manufacturer's own range: a receiver asks for a packet (docs/wire-format.md); its body is a number."""


class Opcode(IntEnum):
    """The opcodes this testbed sends: reliable connection SEND, acknowledge, and the RoCEv2 CNP. The same by name: an
    enumeration costs a packet more than its comparison."""

    SEND_FIRST = SEND_FIRST
    SEND_MIDDLE = SEND_MIDDLE
    SEND_LAST = SEND_LAST
    SEND_LAST_WITH_IMMEDIATE = SEND_LAST_WITH_IMMEDIATE
    SEND_ONLY = SEND_ONLY
    SEND_ONLY_WITH_IMMEDIATE = SEND_ONLY_WITH_IMMEDIATE
    ACKNOWLEDGE = ACKNOWLEDGE
    CNP = CNP
    PULL = PULL


SEND_OPCODES: Final = frozenset(range(Opcode.SEND_FIRST, Opcode.SEND_ONLY_WITH_IMMEDIATE + 1))
IMMEDIATE_OPCODES: Final = frozenset({Opcode.SEND_LAST_WITH_IMMEDIATE, Opcode.SEND_ONLY_WITH_IMMEDIATE})
_KNOWN_OPCODES: Final = SEND_OPCODES | {Opcode.ACKNOWLEDGE, Opcode.CNP, Opcode.PULL}


class Syndrome(IntEnum):
    """AETH syndromes in use. The low five bits of an ACK are a credit code; all ones means no credit limit."""

    ACK = 0x1F
    TRIMMED = 0x40
    """Of a type that the standard reserves: the header of this very packet came without its data."""
    NAK_SEQUENCE_ERROR = 0x60


CNP_RESERVED = bytes(16)
PULL_BYTES: Final = 4
_SELECTIVE_BYTES: Final = 4


def data_opcode(*, is_first: bool, is_last: bool) -> i64:
    """Of a packet by its place in the message; the last one carries immediate data."""
    if is_last:
        return SEND_ONLY_WITH_IMMEDIATE if is_first else SEND_LAST_WITH_IMMEDIATE
    return SEND_FIRST if is_first else SEND_MIDDLE


def has_immediate(opcode: i64) -> bool:
    """Whether four bytes of immediate data precede the payload."""
    return opcode in (SEND_LAST_WITH_IMMEDIATE, SEND_ONLY_WITH_IMMEDIATE)


def ends_message(opcode: i64) -> bool:
    """Whether a data packet is its message's last."""
    return opcode in (SEND_LAST, SEND_ONLY) or has_immediate(opcode)


def data_frame_bytes(payload_bytes: int, *, is_last: bool) -> int:
    """Size of the frame that carries so many message bytes; the last one of a message has immediate data."""
    immediate_bytes = IMMEDIATE_BYTES if is_last else 0
    return BODY_OFFSET + immediate_bytes + payload_bytes + -payload_bytes % 4 + ICRC_BYTES


def source_port(qpn: int) -> int:
    """UDP source port of a queue pair: it names the sender's QP to switches and spreads ECMP (paper §4, footnote)."""
    return ROCE_SOURCE_PORT_BASE | qpn & ROCE_SOURCE_PORT_QPN_MASK


def pack_psn_word(psn: int, *, ack_request: bool = False) -> bytes:
    """The last word of a BTH: AckReq, seven reserved bits, PSN."""
    return ((ACK_REQUEST if ack_request else 0) | psn & PSN_MASK).to_bytes(4, "big")


def nearest_index(psn: int, base: int) -> int:
    """The unwrapped packet number that a 24-bit PSN stands for: the one nearest to `base`."""
    distance = (psn - base) & PSN_MASK
    return base + (distance if distance <= PSN_MASK >> 1 else distance - PSN_MASK - 1)


def pack_aeth(syndrome: int, message_sequence_number: int) -> bytes:
    """The four AETH bytes."""
    return _WORD.pack(syndrome << 24 | message_sequence_number & 0xFFFFFF)


def pack_selective(psn: int) -> bytes:
    """The word that IRN appends to a NAK and NDP to an ACK: eight zero bits and the PSN that arrived out of order."""
    return _WORD.pack(psn & PSN_MASK)


def pack_immediate(value: int) -> bytes:
    """Immediate data: in this testbed the CRC-32 of the whole message."""
    return value.to_bytes(IMMEDIATE_BYTES, "big")


def _icrc_state(header: bytes) -> int:
    """CRC state after the pseudo LRH and the masked `header` (IP to the destination QP: 36 bytes).

    TOS, TTL, both checksums and the FECN/BECN byte change on the way, so they count as ones.
    """
    masked = bytearray(header)
    masked[1] = masked[8] = masked[10] = masked[11] = 0xFF
    masked[26] = masked[27] = 0xFF
    masked[32] = 0xFF
    return crc32(masked, crc32(_PSEUDO_LRH))


class _Ends:
    """What all packets of one opcode and length share: what stands before and after the shim (all of it before, where
    there is none) up to the last BTH word, the CRC's state there, and the padding."""

    __slots__ = ("after", "before", "padding", "state")

    def __init__(self, before: bytes, after: bytes, state: int, padding: bytes) -> None:
        self.before = before
        self.after = after
        self.state = state
        self.padding = padding


class RoceFramer:
    """Builds the frames of one direction of one queue pair."""

    __slots__ = ("_addresses", "_answer", "_destination_qpn", "_ends", "_macs", "_source_port", "_tos")

    def __init__(
        self,
        *,
        destination_mac: int,
        source_mac: int,
        source_ip: int,
        destination_ip: int,
        source_qpn: int,
        destination_qpn: int,
        tos: int,
    ) -> None:
        """`tos` is the whole IPv4 TOS byte: DSCP << 2 | ECN."""
        self._macs = ethernet.pack_header(destination_mac, source_mac, ETHERTYPE_IPV4)
        self._addresses = (source_ip, destination_ip)
        self._source_port = source_port(source_qpn)
        self._destination_qpn = destination_qpn & QPN_MASK
        self._tos = tos
        self._ends: dict[int, _Ends] = {}
        self._answer: _Ends | None = None

    def acknowledgement(self, psn: int, aeth: int) -> bytes:
        """The frame of a plain Acknowledge packet, from its two words: what stands before them is a template."""
        answer = self._answer
        if answer is None:
            self._answer = answer = self._ends_of(AETH_BYTES, 0, ACKNOWLEDGE, False)
        words = (psn << 32 | aeth).to_bytes(8, "big")
        return b"".join((answer.before, words, crc32(words, answer.state).to_bytes(ICRC_BYTES, "little")))

    def frame(self, opcode: int, psn_word: bytes, body: bytes, *, becn: bool = False, shim: bytes = b"") -> bytes:
        """A whole frame with a right ICRC; `body` is what follows the BTH (AETH, immediate, payload), unpadded.

        `shim` is the telemetry of `wire.int_header`, which the ICRC does not cover; empty for a plain packet.
        """
        ends = self._ends_of(len(body), len(shim), opcode, becn)
        rest = psn_word + body + ends.padding
        icrc = crc32(rest, ends.state).to_bytes(ICRC_BYTES, "little")
        return b"".join((ends.before, shim, ends.after, rest, icrc))

    def full_frame(self, opcode: int, word: int, body: bytes, body_crc: i64, shift: CrcShift, shim: bytes) -> bytes:
        """The same, without another pass over a body whose CRC-32 is known and whose length is that of `shift`. `word`
        is AckReq and PSN."""
        psn_word = word.to_bytes(4, "big")
        if len(body) % 4:
            return self.frame(opcode, psn_word, body, shim=shim)
        ends = self._ends_of(len(body), len(shim), opcode, False)
        icrc: int = shift.past_word(ethernet.little_word_at(psn_word, 0), ends.state) ^ body_crc
        if not shim:
            return b"".join((ends.before, psn_word, body, icrc.to_bytes(ICRC_BYTES, "little")))
        return b"".join((ends.before, shim, ends.after, psn_word, body, icrc.to_bytes(ICRC_BYTES, "little")))

    def _ends_of(self, body_bytes: int, shim_bytes: int, opcode: int, becn: bool) -> _Ends:
        key = ((body_bytes << 8 | shim_bytes) << 8 | opcode) << 1 | becn
        ends = self._ends.get(key)
        if ends is None:
            ends = self._ends[key] = self._headers(body_bytes, shim_bytes, opcode, becn)
        return ends

    def _headers(self, body_bytes: int, shim_bytes: int, opcode: int, becn: bool) -> _Ends:
        pad = -body_bytes % 4
        udp_payload = BTH_BYTES + body_bytes + pad + ICRC_BYTES
        qpn_word = (_BECN if becn else 0) | self._destination_qpn
        bth = _BTH_HEAD.pack(opcode, pad << 4, PARTITION_KEY_DEFAULT, qpn_word)
        plain = self._outer(udp_payload, ROCE_UDP_PORT) + bth
        state = _icrc_state(plain[IP_OFFSET:])
        if shim_bytes:
            return _Ends(self._outer(udp_payload + shim_bytes, INT_UDP_PORT), bth, state, bytes(pad))
        return _Ends(plain, b"", state, bytes(pad))

    def _outer(self, udp_payload: int, port: int) -> bytes:
        ip = ipv4.pack_header(*self._addresses, IP_PROTOCOL_UDP, udp.HEADER_BYTES + udp_payload, self._tos)
        return self._macs + ip + udp.pack_header(self._source_port, port, udp_payload)


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
        self.becn = bool(becn_qpn & _BECN)
        self.congestion_experienced = ip.tos & 0x3 == ECN_CONGESTION_EXPERIENCED
        self.icrc_offset: i64 = IP_OFFSET + ip.total_length - ICRC_BYTES
        self.body_end: i64 = self.icrc_offset - (flags >> 4 & 0x3)
        self.is_whole_words = self.body_end == self.icrc_offset
        self.icrc_state = state
        self.frame_bytes: i64 = 0
        """Length of the frames it was learned from, padding of Ethernet's included, and ..."""
        self.prefix = b""
        """... what they begin with."""

    def psn_word(self, frame: bytes) -> int:
        """AckReq (top bit) and PSN (low 24 bits) of a packet that begins with this header."""
        return ethernet.word_at(frame, PSN_OFFSET)

    def body(self, frame: bytes) -> bytes:
        """What follows the BTH, without padding and ICRC."""
        return frame[BODY_OFFSET : self.body_end]

    def acknowledge_kind(self, frame: bytes) -> i64:
        """Of an Acknowledge packet: the upper bits of the syndrome, 0 for an ACK, 2 where data was trimmed and 3 for a
        NAK; -1 if its body is not as long as an AETH, alone or with a selective word."""
        size = self.body_end - BODY_OFFSET
        return i64(frame[BODY_OFFSET]) >> 5 if size == AETH_BYTES or size == AETH_BYTES + _SELECTIVE_BYTES else -1

    def selective_psn(self, frame: bytes) -> i64:
        """The word that IRN appends to a NAK, -1 without one; above PSN_MASK it is none."""
        if self.body_end - BODY_OFFSET < AETH_BYTES + _SELECTIVE_BYTES:
            return -1
        return ethernet.word_at(frame, BODY_OFFSET + AETH_BYTES)

    def icrc_is_right(self, frame: bytes) -> bool:
        """Whether the invariant CRC of the packet fits its bytes."""
        end = self.icrc_offset
        return crc32(frame[PSN_OFFSET:end], self.icrc_state) == ethernet.little_word_at(frame, end)

    def icrc_fits(self, frame: bytes, body_crc: i64, shift: CrcShift) -> bool:
        """The same, of a packet of whole words whose body's CRC-32 is known, and as long as `shift` says."""
        word = ethernet.little_word_at(frame, PSN_OFFSET)
        return shift.past_word(word, self.icrc_state) ^ body_crc == ethernet.little_word_at(frame, self.icrc_offset)


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
        if size < PSN_OFFSET:
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
    bth = _BTH_HEAD.unpack_from(frame, BTH_OFFSET)
    mac = int.from_bytes(frame[:6], "big")
    header = RoceHeader(mac, ip, ports, bth, _icrc_state(frame[IP_OFFSET:PSN_OFFSET]))
    if bth[0] not in _KNOWN_OPCODES or bth[1] & 0xF or header.body_end - BODY_OFFSET < _minimum_body(bth[0]):
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
