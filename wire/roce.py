# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""RoCEv2 packets (docs/sources.md#rocev2): base transport header, AETH, immediate data, CNP, and the invariant CRC.

Built for speed: a `RoceFramer` (one per direction of a queue pair) and a `RoceDecoder` (one per NIC) remember every
header they have built or checked together with the CRC state after it, so a packet of a known flow costs one
dictionary look-up and one CRC over its changing bytes. This module knows bytes, not queue pairs, order or time.
"""

import struct
from enum import IntEnum
from typing import Final, NamedTuple
from zlib import crc32

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

BTH_BYTES = 12
AETH_BYTES = 4
IMMEDIATE_BYTES = 4
ICRC_BYTES = 4
ACK_REQUEST = 1 << 31
"""Bit of the last BTH word (AckReq, reserved, PSN) that asks the responder for an acknowledgement."""

IP_OFFSET = ethernet.HEADER_BYTES
UDP_OFFSET = IP_OFFSET + ipv4.HEADER_BYTES
BTH_OFFSET = UDP_OFFSET + udp.HEADER_BYTES
PSN_OFFSET = BTH_OFFSET + 8
"""Where the last BTH word lies: everything before it is equal for all packets of a flow of one opcode and length."""
BODY_OFFSET = BTH_OFFSET + BTH_BYTES

ACK_FRAME_BYTES = BODY_OFFSET + AETH_BYTES + ICRC_BYTES
"""An ACK or a NAK; a NAK of IRN has a selective word more."""

_BTH_HEAD = struct.Struct(">BBHI")
_WORD = struct.Struct(">I")
_ICRC = struct.Struct("<I")
_PSEUDO_LRH = b"\xff" * 8
_BECN = 1 << 30
_CACHED_HEADERS = 1 << 16
"""A decoder forgets all headers beyond this many, so that forged ones cannot fill the memory."""


class Opcode(IntEnum):
    """The opcodes this testbed sends: reliable connection SEND, acknowledge, and the RoCEv2 CNP."""

    SEND_FIRST = 0x00
    SEND_MIDDLE = 0x01
    SEND_LAST = 0x02
    SEND_LAST_WITH_IMMEDIATE = 0x03
    SEND_ONLY = 0x04
    SEND_ONLY_WITH_IMMEDIATE = 0x05
    ACKNOWLEDGE = 0x11
    CNP = 0x81


SEND_OPCODES: Final = frozenset(range(Opcode.SEND_FIRST, Opcode.SEND_ONLY_WITH_IMMEDIATE + 1))
IMMEDIATE_OPCODES: Final = frozenset({Opcode.SEND_LAST_WITH_IMMEDIATE, Opcode.SEND_ONLY_WITH_IMMEDIATE})
_KNOWN_OPCODES: Final = SEND_OPCODES | {Opcode.ACKNOWLEDGE, Opcode.CNP}


class Syndrome(IntEnum):
    """AETH syndromes in use. The low five bits of an ACK are a credit code; all ones means no credit limit."""

    ACK = 0x1F
    NAK_SEQUENCE_ERROR = 0x60


CNP_RESERVED = bytes(16)
_SELECTIVE_BYTES = 4


class Aeth(NamedTuple):
    """ACK extended header, and the selective word that IRN appends to a NAK."""

    syndrome: int
    message_sequence_number: int
    selective_psn: int
    """PSN of the out-of-order packet that caused this NAK (IRN §3.1); -1 when the packet does not say."""


def data_frame_bytes(payload_bytes: int, *, is_last: bool) -> int:
    """Size of the frame that carries so many message bytes; the last one of a message has immediate data."""
    immediate_bytes = IMMEDIATE_BYTES if is_last else 0
    return BODY_OFFSET + immediate_bytes + payload_bytes + -payload_bytes % 4 + ICRC_BYTES


def source_port(qpn: int) -> int:
    """UDP source port of a queue pair: it names the sender's QP to switches and spreads ECMP (paper §4, footnote)."""
    return ROCE_SOURCE_PORT_BASE | qpn & ROCE_SOURCE_PORT_QPN_MASK


def pack_psn_word(psn: int, *, ack_request: bool = False) -> bytes:
    """The last word of a BTH: AckReq, seven reserved bits, PSN."""
    return _WORD.pack((ACK_REQUEST if ack_request else 0) | psn & PSN_MASK)


def pack_aeth(syndrome: int, message_sequence_number: int) -> bytes:
    """The four AETH bytes."""
    return _WORD.pack(syndrome << 24 | message_sequence_number & 0xFFFFFF)


def unpack_aeth(body: bytes) -> Aeth | None:
    """Decode the body of an Acknowledge packet: an AETH, perhaps with a selective word; None for another length."""
    if len(body) == AETH_BYTES:
        (word,) = _WORD.unpack(body)
        return Aeth(word >> 24, word & 0xFFFFFF, -1)
    if len(body) == AETH_BYTES + _SELECTIVE_BYTES:
        word, selective = struct.unpack(">II", body)
        return Aeth(word >> 24, word & 0xFFFFFF, selective) if selective <= PSN_MASK else None
    return None


def pack_selective(psn: int) -> bytes:
    """The word IRN appends to a NAK: eight zero bits and the PSN that arrived out of order."""
    return _WORD.pack(psn & PSN_MASK)


def pack_immediate(value: int) -> bytes:
    """Immediate data: in this testbed the CRC-32 of the whole message."""
    return _WORD.pack(value)


def _icrc_state(header: bytes) -> int:
    """CRC state after the pseudo LRH and the masked `header` (IP to the destination QP: 36 bytes).

    TOS, TTL, both checksums and the FECN/BECN byte change on the way, so they count as ones.
    """
    masked = bytearray(header)
    masked[1] = masked[8] = masked[10] = masked[11] = 0xFF
    masked[26] = masked[27] = 0xFF
    masked[32] = 0xFF
    return crc32(masked, crc32(_PSEUDO_LRH))


class RoceFramer:
    """Builds the frames of one direction of one queue pair."""

    __slots__ = ("_addresses", "_destination_qpn", "_ends", "_macs", "_source_port", "_tos")

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
        self._ends: dict[int, tuple[bytes, bytes, int, bytes]] = {}

    def frame(self, opcode: int, psn_word: bytes, body: bytes, *, becn: bool = False, shim: bytes = b"") -> bytes:
        """A whole frame with a right ICRC; `body` is what follows the BTH (AETH, immediate, payload), unpadded.

        `shim` is the telemetry of `wire.int_header`, which the ICRC does not cover; empty for a plain packet.
        """
        key = ((len(body) << 8 | len(shim)) << 8 | opcode) << 1 | becn
        end = self._ends.get(key)
        if end is None:
            end = self._ends[key] = self._headers(len(body), len(shim), opcode, becn)
        before, after, state, padding = end
        rest = psn_word + body + padding
        if shim:
            return before + shim + after + rest + _ICRC.pack(crc32(rest, state))
        return before + rest + _ICRC.pack(crc32(rest, state))

    def _headers(self, body_bytes: int, shim_bytes: int, opcode: int, becn: bool) -> tuple[bytes, bytes, int, bytes]:
        """What stands before and after the shim (all of it before, if there is none) up to the last BTH word, the CRC's
        state there, and the padding."""
        pad = -body_bytes % 4
        udp_payload = BTH_BYTES + body_bytes + pad + ICRC_BYTES
        qpn_word = (_BECN if becn else 0) | self._destination_qpn
        bth = _BTH_HEAD.pack(opcode, pad << 4, PARTITION_KEY_DEFAULT, qpn_word)
        plain = self._outer(udp_payload, ROCE_UDP_PORT) + bth
        state = _icrc_state(plain[IP_OFFSET:])
        if shim_bytes:
            return self._outer(udp_payload + shim_bytes, INT_UDP_PORT), bth, state, bytes(pad)
        return plain, b"", state, bytes(pad)

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
        "icrc_offset",
        "icrc_state",
        "opcode",
        "source_ip",
        "source_port",
        "tos",
    )

    def __init__(
        self, mac: int, ip: ipv4.Ipv4Header, ports: udp.UdpHeader, bth: tuple[int, int, int, int], state: int
    ) -> None:
        """`bth` as unpacked from its first eight bytes; `state` of the CRC after it."""
        opcode, flags, _, becn_qpn = bth
        self.opcode = opcode
        self.tos = ip.tos
        self.destination_mac = mac
        self.source_ip = ip.source
        self.destination_ip = ip.destination
        self.source_port = ports.source_port
        self.destination_qpn = becn_qpn & QPN_MASK
        self.becn = bool(becn_qpn & _BECN)
        self.congestion_experienced = ip.tos & 0x3 == ECN_CONGESTION_EXPERIENCED
        self.icrc_offset = IP_OFFSET + ip.total_length - ICRC_BYTES
        self.body_end = self.icrc_offset - (flags >> 4 & 0x3)
        self.icrc_state = state

    def psn_word(self, frame: bytes) -> int:
        """AckReq (top bit) and PSN (low 24 bits) of a packet that begins with this header."""
        return int.from_bytes(frame[PSN_OFFSET:BODY_OFFSET], "big")

    def body(self, frame: bytes) -> bytes:
        """What follows the BTH, without padding and ICRC."""
        return frame[BODY_OFFSET : self.body_end]

    def icrc_is_right(self, frame: bytes) -> bool:
        """Whether the invariant CRC of the packet fits its bytes."""
        stored = frame[self.icrc_offset : self.icrc_offset + ICRC_BYTES]
        return crc32(frame[PSN_OFFSET : self.icrc_offset], self.icrc_state) == int.from_bytes(stored, "little")


class RoceDecoder:
    """Recognises RoCEv2 frames; checks each distinct header once."""

    __slots__ = ("_headers",)

    def __init__(self) -> None:
        self._headers: dict[tuple[bytes, int], RoceHeader] = {}

    def header(self, frame: bytes) -> RoceHeader | None:
        """The header of a well-formed RoCEv2 frame, or None for anything else (short, lying, unknown opcode...)."""
        key = (frame[:PSN_OFFSET], len(frame))
        return self._headers.get(key) or self._learn(key, frame)

    def _learn(self, key: tuple[bytes, int], frame: bytes) -> RoceHeader | None:
        header = parse_header(frame)
        if header is not None:
            if len(self._headers) >= _CACHED_HEADERS:
                self._headers.clear()
            self._headers[key] = header
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
    return IMMEDIATE_BYTES if opcode in IMMEDIATE_OPCODES else 0
