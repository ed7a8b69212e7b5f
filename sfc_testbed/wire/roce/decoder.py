# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Decoding and validation of received RoCEv2 frames."""

from typing import Final

from librt.strings import read_i64_be
from mypy_extensions import i64

from sfc_testbed.wire import int_header, ipv4, udp
from sfc_testbed.wire.constants import (
    BTH_FLAGS_MASK,
    ECN_CONGESTION_EXPERIENCED,
    ETHERTYPE_IPV4,
    INT_SHIM_BYTES,
    INT_UDP_PORT,
    IP_PROTOCOL_UDP,
    QPN_MASK,
    ROCE_UDP_PORT,
)
from sfc_testbed.wire.crc import CrcShift, crc_between, shift_of, word_crc
from sfc_testbed.wire.roce.packets import (
    ACKNOWLEDGE,
    AETH_BYTES,
    BECN,
    BODY_OFFSET,
    BTH_BYTES,
    BTH_OFFSET,
    CNP,
    CNP_BYTES,
    ICRC_BYTES,
    IMMEDIATE_BYTES,
    IP_OFFSET,
    PSN_OFFSET,
    PULL,
    PULL_BYTES,
    QPN_BITS,
    SELECTIVE_BYTES,
    SEND_ONLY,
    SEND_ONLY_WITH_IMMEDIATE,
    UDP_OFFSET,
    has_immediate,
    icrc_state,
)
from sfc_testbed.wire.words import WORD_BYTES, half_word_at, little_word_at, swapped, word_at

_ETHERTYPE_OFFSET: Final = 12
_PROTOCOL_OFFSET: Final = IP_OFFSET + 9
_SOURCE_OFFSET: Final = IP_OFFSET + 12
_DESTINATION_OFFSET: Final = IP_OFFSET + 16
_PORT_OFFSET: Final = UDP_OFFSET + 2
_UDP_LENGTH_OFFSET: Final = UDP_OFFSET + 4
_PADS_OFFSET: Final = BTH_OFFSET + 1
_BECN_OFFSET: Final = BTH_OFFSET + 4
"""Offsets in a plain frame. They are fixed, since IPv4 headers with options are not accepted."""
_WORD_SHIFT: Final = shift_of(WORD_BYTES)
_PORT_SHIFT: Final = shift_of(PSN_OFFSET - UDP_OFFSET - WORD_BYTES)
"""CRC shift by the bytes of the masked header behind the UDP ports."""
_MAC_MASK: Final = (1 << 48) - 1
_LENGTH_BYTE: Final = 17
_SOURCE_BYTE: Final = 29
_QPN_BYTE: Final = 7
"""Offset of the destination QP's last byte from the BTH. `_LENGTH_BYTE` and `_SOURCE_BYTE` are offsets in the frame of
the last byte of the IPv4 length and of the source address."""

_CACHED_HEADERS: Final = 1 << 8
"""Highest number of headers that a decoder caches. It discards the oldest, so that neither forged headers nor headers
of past messages fill the memory."""
_BTH_HEAD_BYTES: Final = PSN_OFFSET - BTH_OFFSET
_LATEST_HEADERS: Final = 1 << 8
"""Number of places for the headers seen last, a power of two."""


class RoceHeader:
    """The decoded headers of a packet up to its PSN, without the records of telemetry.

    Packets whose headers are equal up to the PSN share one object, and so do successive packets of a queue pair that
    differ in the UDP source port: read the port from the frame.
    """

    __slots__ = (
        "_last_word",
        "_last_word_crc",
        "becn",
        "body_end",
        "body_offset",
        "bth",
        "bth_offset",
        "congestion_experienced",
        "destination_ip",
        "destination_mac",
        "destination_qpn",
        "flags",
        "frame_bytes",
        "icrc_offset",
        "icrc_state",
        "is_data",
        "is_own",
        "is_whole_words",
        "opcode",
        "prefix",
        "psn_offset",
        "shim_bytes",
        "source_ip",
        "source_port",
        "tos",
    )

    def __init__(self, frame: bytes, ip_bytes: i64) -> None:
        """Decode the headers of a plain frame, whose IPv4 and UDP headers are valid and whose BTH is complete.

        `ip_bytes` is the length of the IPv4 packet.
        """
        becn_qpn = word_at(frame, _BECN_OFFSET)
        tos = i64(frame[IP_OFFSET + 1])
        self.opcode: i64 = i64(frame[BTH_OFFSET])
        self.is_data: bool = self.opcode <= SEND_ONLY_WITH_IMMEDIATE
        self.tos: int = tos
        self.destination_mac: int = read_i64_be(frame, 0) >> 16 & _MAC_MASK
        self.source_ip: int = word_at(frame, _SOURCE_OFFSET)
        self.destination_ip: int = word_at(frame, _DESTINATION_OFFSET)
        self.source_port: int = half_word_at(frame, UDP_OFFSET)
        self.destination_qpn: int = becn_qpn & QPN_MASK
        self.becn: bool = becn_qpn & BECN != 0
        self.flags: int = becn_qpn >> QPN_BITS & BTH_FLAGS_MASK
        """The six bits after BECN."""
        self.congestion_experienced: bool = tos & 0x3 == ECN_CONGESTION_EXPERIENCED
        self.shim_bytes: i64 = 0
        self.bth_offset: i64 = BTH_OFFSET
        self.psn_offset: i64 = PSN_OFFSET
        self.body_offset: i64 = BODY_OFFSET
        self.icrc_offset: i64 = IP_OFFSET + ip_bytes - ICRC_BYTES
        self.body_end: i64 = self.icrc_offset - (i64(frame[_PADS_OFFSET]) >> 4 & 0x3)
        self.is_whole_words: bool = self.body_end == self.icrc_offset
        self.icrc_state: i64 = icrc_state(frame, IP_OFFSET)
        self.frame_bytes: i64 = 0
        """Length of the frames with this header, including Ethernet's padding."""
        self.prefix = b""
        """First bytes of those frames, up to the BTH or to the records of telemetry."""
        self._last_word: i64 = 0
        self._last_word_crc: i64 = word_crc(0, 0)
        """The last word of the latest acknowledgement and its CRC, since the word is the same for many packets."""
        self.is_own = False
        """Whether only one place of a decoder holds this object, which may then change its port."""
        self.bth: i64 = 0
        """First eight bytes of the BTH of those frames."""

    def set_source_port(self, frame: bytes, fixed: i64) -> None:
        """Change the UDP source port to that of a frame that differs in no other of the first `fixed` bytes."""
        port = half_word_at(frame, UDP_OFFSET)
        changed = swapped((port ^ self.source_port) << 16)
        self.icrc_state ^= _PORT_SHIFT.past_word(changed, 0) ^ _PORT_SHIFT.past_word(0, 0)
        self.source_port = port
        self.prefix = frame[:fixed]

    def differs_in_source_port(self, frame: bytes, fixed: i64) -> bool:
        """Whether a frame has the first `fixed` bytes of this header's frames, except for the UDP source port."""
        prefix = self.prefix
        if len(prefix) != fixed or frame[:UDP_OFFSET] != prefix[:UDP_OFFSET]:
            return False
        return frame[_PORT_OFFSET:fixed] == prefix[_PORT_OFFSET:]

    def move_behind(self, shim_bytes: i64) -> None:
        """Move the offsets of the BTH and of all that follows behind `shim_bytes` bytes of telemetry."""
        self.shim_bytes = shim_bytes
        self.bth_offset += shim_bytes
        self.psn_offset += shim_bytes
        self.body_offset += shim_bytes
        self.icrc_offset += shim_bytes
        self.body_end += shim_bytes

    def shim(self, frame: bytes) -> bytes:
        """Return the packet's telemetry in the layout of `wire.int_header`; empty for a plain packet."""
        return frame[BTH_OFFSET : self.bth_offset] if self.shim_bytes else b""

    def psn_word(self, frame: bytes) -> i64:
        """Return AckReq (top bit) and PSN (low 24 bits) of a packet with this header."""
        return word_at(frame, self.psn_offset)

    def body(self, frame: bytes) -> bytes:
        """Return the bytes between the BTH and the padding or ICRC."""
        return frame[self.body_offset : self.body_end]

    def body_word(self, frame: bytes) -> i64:
        """Return the first four bytes of the body as a number."""
        return word_at(frame, self.body_offset)

    def acknowledge_kind(self, frame: bytes) -> i64:
        """Return the upper three bits of an Acknowledge packet's syndrome: 0 ACK, 2 trimmed data, 3 NAK.

        Return -1 if the body's length fits neither an AETH nor an AETH with a selective word.
        """
        size = self.body_end - self.body_offset
        if size != AETH_BYTES and size != AETH_BYTES + SELECTIVE_BYTES:
            return -1
        return i64(frame[self.body_offset]) >> 5

    def selective_psn(self, frame: bytes) -> i64:
        """Return the selective word after the AETH, or -1 if there is none. A value above PSN_MASK is invalid."""
        if self.body_end - self.body_offset < AETH_BYTES + SELECTIVE_BYTES:
            return -1
        return word_at(frame, self.body_offset + AETH_BYTES)

    def icrc_is_right(self, frame: bytes) -> bool:
        """Whether the packet's invariant CRC is correct."""
        begin, end = self.psn_offset, self.icrc_offset
        if end - begin == 2 * WORD_BYTES:
            word, last = little_word_at(frame, begin), little_word_at(frame, begin + WORD_BYTES)
            if last != self._last_word:
                self._last_word, self._last_word_crc = last, word_crc(last, 0)
            crc = _WORD_SHIFT.past_word(word, self.icrc_state) ^ self._last_word_crc
        else:
            crc = crc_between(frame, begin, end, self.icrc_state)
        return crc == little_word_at(frame, end)

    def icrc_fits(self, frame: bytes, body_crc: i64, shift: CrcShift, missing_bytes: i64 = 0) -> bool:
        """Whether the invariant CRC of a packet with a known CRC-32 of its body is correct.

        The body consists of whole words, and its length is `shift.size_bytes`. The frame lacks the last `missing_bytes`
        of it.
        """
        word = little_word_at(frame, self.psn_offset)
        icrc = little_word_at(frame, self.icrc_offset - missing_bytes)
        return shift.past_word(word, self.icrc_state) ^ body_crc == icrc


class RoceDecoder:
    """A decoder of RoCEv2 frames with or without telemetry. It validates each distinct header once.

    A few bytes of a frame select a place that holds the latest header seen with these bytes. If that header is another
    one, the decoder looks up all bytes up to the PSN, except the records of telemetry. Packets of a queue pair may have
    different UDP source ports: the place then holds a header of its own, whose port changes.
    """

    __slots__ = ("_headers", "_latest")

    def __init__(self) -> None:
        self._headers: dict[bytes, RoceHeader] = {}
        self._latest: list[RoceHeader | None] = [None] * _LATEST_HEADERS

    def header(self, frame: bytes, missing_bytes: i64 = 0) -> RoceHeader | None:
        """Return the header of a well-formed RoCEv2 frame, of whose body some bytes may be missing.

        Return None for other frames: too short, a wrong length or checksum, or an unknown opcode. The ICRC is not
        checked.
        """
        size: i64 = len(frame) + missing_bytes
        if len(frame) < PSN_OFFSET:
            return None
        at: i64 = BTH_OFFSET
        fixed = at
        port = half_word_at(frame, _PORT_OFFSET)
        if port == INT_UDP_PORT:
            fixed = at + INT_SHIM_BYTES
            at += int_header.telemetry_bytes(i64(frame[at]), i64(frame[at + 1]))
            if len(frame) < at + BTH_BYTES:
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
        ):
            if frame.startswith(latest.prefix):
                return latest
            if latest.differs_in_source_port(frame, fixed):
                return self._with_other_port(latest, place, frame, fixed, missing_bytes)
        key = frame[:fixed] + frame[at : at + _BTH_HEAD_BYTES]
        known = self._headers.get(key)
        if known is None or known.frame_bytes != size:
            known = _parse_any(frame + bytes(missing_bytes) if missing_bytes else frame)
            if known is not None:
                known.frame_bytes = size
                known.prefix = frame[:fixed]
                known.bth = read_i64_be(frame, at)
                self._keep(key, known)
        self._latest[place] = known
        return known

    def _with_other_port(
        self, latest: RoceHeader, place: i64, frame: bytes, fixed: i64, missing_bytes: i64
    ) -> RoceHeader | None:
        """Return the header of a frame that differs in its UDP source port only from the latest one at a place."""
        if latest.is_own:
            latest.set_source_port(frame, fixed)
            return latest
        own = _parse_any(frame + bytes(missing_bytes) if missing_bytes else frame)
        if own is not None:
            own.is_own = True
            own.frame_bytes, own.bth, own.prefix = latest.frame_bytes, latest.bth, frame[:fixed]
        self._latest[place] = own
        return own

    def _keep(self, key: bytes, header: RoceHeader) -> None:
        headers = self._headers
        if len(headers) >= _CACHED_HEADERS and key not in headers:
            del headers[next(iter(headers))]
        headers[key] = header


def _parse_any(frame: bytes) -> RoceHeader | None:
    """Decode and validate the headers of a packet with or without telemetry."""
    if not int_header.has_telemetry(frame):
        return parse_header(frame)
    plain_and_shim = int_header.strip(frame)
    if plain_and_shim is None:
        return None
    plain, shim = plain_and_shim
    header = parse_header(plain)
    if header is not None:
        header.move_behind(len(shim))
    return header


def parse_header(frame: bytes) -> RoceHeader | None:
    """Decode and validate the headers of a packet without telemetry, without a cache; see `RoceDecoder.header`."""
    ip_bytes = ipv4.total_length(frame, IP_OFFSET)
    if ip_bytes < ipv4.HEADER_BYTES + udp.HEADER_BYTES + BTH_BYTES + ICRC_BYTES:
        return None
    if frame[_PROTOCOL_OFFSET] != IP_PROTOCOL_UDP or half_word_at(frame, _ETHERTYPE_OFFSET) != ETHERTYPE_IPV4:
        return None
    if half_word_at(frame, _PORT_OFFSET) != ROCE_UDP_PORT:
        return None
    if half_word_at(frame, _UDP_LENGTH_OFFSET) != ip_bytes - ipv4.HEADER_BYTES:
        return None
    header = RoceHeader(frame, ip_bytes)
    least = _minimum_body(header.opcode)
    if least < 0 or frame[_PADS_OFFSET] & 0xF or header.body_end - BODY_OFFSET < least:
        return None
    return header


def _minimum_body(opcode: i64) -> i64:
    """Return the least length of the body of a packet with this opcode; -1 for an unknown opcode."""
    if opcode == ACKNOWLEDGE:
        return AETH_BYTES
    if has_immediate(opcode):
        return IMMEDIATE_BYTES
    if opcode <= SEND_ONLY:
        return 0
    if opcode == CNP:
        return CNP_BYTES
    return PULL_BYTES if opcode == PULL else -1
