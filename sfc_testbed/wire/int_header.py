# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""In-band network telemetry (INT): the data that switches and senders write between the UDP header and the BTH.

    shim, 4 bytes: u8 records | u8 flags (bit 0: echo, bit 1: stamp, bit 2: compact, bit 3: path) | u16 path or 0
    record, 16 bytes each, newest first: u32 rate_kbps | u32 time_us | u32 tx_bytes | u32 queue_bytes

A switch pushes one record at egress and adds 16 to both lengths, unless the echo flag is set. The ICRC covers the
plain RoCEv2 packet: without shim and records, sent to port 4791, with the lengths of that shorter packet.

With the stamp flag the oldest record belongs to the sender: its rate is 0, and its time_us is the time when the packet
started on the sender's wire. In an echo, tx_bytes of that record is the one-way delay that the receiver measured.
All times are wall microseconds. Times and byte counts wrap at 2^32.

With the compact flag, five slots of 8 bytes precede the sender's record, and replace those of the switches
(`wire.int_slots`). The shim then counts the filled slots.

With the path flag, each switch that adds telemetry also includes its number and its output port in the name of the
path, a hash of 16 bits (`next_path`). The sender writes 0.
"""

import struct
from typing import Final, NamedTuple

from librt.strings import BytesWriter, write_i32_be, write_i64_be
from mypy_extensions import i64, u8

from sfc_testbed.wire import ethernet, ipv4, udp
from sfc_testbed.wire.constants import (
    INT_FLAG_COMPACT,
    INT_FLAG_ECHO,
    INT_FLAG_PATH,
    INT_FLAG_STAMP,
    INT_MAX_HOPS,
    INT_PATH_FACTOR_PORT,
    INT_PATH_FACTOR_SWITCH,
    INT_RECORD_BYTES,
    INT_SHIM_BYTES,
    INT_SLOT_BYTES,
    INT_UDP_PORT,
    IP_PROTOCOL_UDP,
    ROCE_UDP_PORT,
)
from sfc_testbed.wire.words import WORD_BYTES, half_word_at, signed, word_at

COUNTER_MODULUS: Final = 1 << 32
"""Modulus at which times (us) and byte counts wrap."""

_UDP_OFFSET: Final = ethernet.HEADER_BYTES + ipv4.HEADER_BYTES
_PORT_HIGH: Final = 36
_PORT_LOW: Final = 37
_HIGH_BYTE: Final = INT_UDP_PORT >> 8
_LOW_BYTE: Final = INT_UDP_PORT & 0xFF
_SHIM_OFFSET: Final = _UDP_OFFSET + udp.HEADER_BYTES
_SHIM_END: Final = _SHIM_OFFSET + INT_SHIM_BYTES
_SHIM = struct.Struct(">BBH")
_RECORD = struct.Struct(">4I")
MOST_TELEMETRY_BYTES = INT_SHIM_BYTES + INT_MAX_HOPS * INT_RECORD_BYTES
"""Largest telemetry that a packet can carry, in bytes."""
_COMPACT_BYTES: Final = INT_SHIM_BYTES + INT_MAX_HOPS * INT_SLOT_BYTES
_EMPTY_SLOTS: Final = bytes(INT_MAX_HOPS * INT_SLOT_BYTES)
_FLAGS: Final = INT_FLAG_ECHO | INT_FLAG_STAMP | INT_FLAG_COMPACT | INT_FLAG_PATH
_PATH_MASK: Final = 0xFFFF


class HopRecord(NamedTuple):
    """The record that a switch wrote when the packet left its port."""

    rate_kbps: int
    """Rate of the port (wall)."""
    time_us: int
    """Time on the switch's clock (wall)."""
    tx_bytes: int
    """Bytes that the port had sent before this packet."""
    queue_bytes: int
    """Bytes in all queues of the port after this packet left."""


class Telemetry(NamedTuple):
    """A decoded shim and its records."""

    is_echo: bool
    hops: tuple[HopRecord, ...]
    """Records of the switches, the last switch first, without the sender's stamp."""
    stamp: HopRecord | None
    """The sender's record, if any. In an echo its `tx_bytes` is the one-way delay (wall us)."""


def request(*, telemetry: bool, stamp_us: int | None, is_compact: bool = False, names_path: bool = False) -> bytes:
    """Return the bytes that a data packet carries: none, or a shim, empty slots if compact, and any sender's stamp.

    A header with a stamp alone has no slots, because switches add nothing to it.
    """
    slots = _EMPTY_SLOTS if is_compact and telemetry else b""
    flags = INT_FLAG_COMPACT if slots else 0
    if names_path and telemetry:
        flags |= INT_FLAG_PATH
    if stamp_us is None:
        return _SHIM.pack(0, flags, 0) + slots if telemetry else b""
    flags |= INT_FLAG_STAMP if telemetry else INT_FLAG_STAMP | INT_FLAG_ECHO
    stamp = _RECORD.pack(0, stamp_us % COUNTER_MODULUS, 0, 0)
    return _SHIM.pack(0 if slots else 1, flags, 0) + slots + stamp


def echo(shim: bytes, now_us: int) -> bytes:
    """Return the telemetry of the answer to a data packet with this shim. The packet arrived at `now_us`."""
    echoed = BytesWriter()
    echoed.write(shim)
    flags = i64(shim[1]) | INT_FLAG_ECHO
    echoed[1] = u8(flags)
    if flags & INT_FLAG_STAMP:
        stamp_at = i64(len(shim)) - INT_RECORD_BYTES
        sent_us = word_at(shim, stamp_at + WORD_BYTES)
        echoed.truncate(stamp_at)
        write_i64_be(echoed, sent_us)
        write_i32_be(echoed, signed(i64(now_us - sent_us) & COUNTER_MODULUS - 1))
        write_i32_be(echoed, 0)
    return echoed.getvalue()


def next_path(path: int, switch_id: int, port: int) -> int:
    """Return the name of a path after one more hop, as switches compute it, for tests and for models of a switch."""
    return ((path * INT_PATH_FACTOR_SWITCH + switch_id) * INT_PATH_FACTOR_PORT + port) & _PATH_MASK


def path_of(shim: bytes) -> int:
    """Return the name of the path that a packet with this shim has taken; 0 if the shim has none."""
    return half_word_at(shim, 2) if i64(shim[1]) & INT_FLAG_PATH else 0


def pack(telemetry: Telemetry) -> bytes:
    """Return the shim and the records that follow the UDP header, for tests and for models of a switch."""
    records = telemetry.hops if telemetry.stamp is None else (*telemetry.hops, telemetry.stamp)
    flags = (INT_FLAG_ECHO if telemetry.is_echo else 0) | (INT_FLAG_STAMP if telemetry.stamp is not None else 0)
    return _SHIM.pack(len(records), flags, 0) + b"".join(_RECORD.pack(*record) for record in records)


def unpack(shim: bytes) -> Telemetry:
    """Decode the shim and the records that `strip` returned, for tests; the shim must not be compact."""
    flags = shim[1]
    records = tuple(HopRecord._make(fields) for fields in _RECORD.iter_unpack(shim[INT_SHIM_BYTES:]))
    is_echo = bool(flags & INT_FLAG_ECHO)
    if flags & INT_FLAG_STAMP:
        return Telemetry(is_echo, records[:-1], records[-1])
    return Telemetry(is_echo, records, None)


def telemetry_bytes(count: i64, flags: i64) -> i64:
    """Return the length of the telemetry whose shim has this number of records, or of filled slots, and these flags."""
    if not flags & INT_FLAG_COMPACT:
        return INT_SHIM_BYTES + count * INT_RECORD_BYTES
    return _COMPACT_BYTES + INT_RECORD_BYTES if flags & INT_FLAG_STAMP else _COMPACT_BYTES


def has_telemetry(frame: bytes) -> bool:
    """Whether a frame may carry telemetry, judged by its UDP port. `strip` checks the rest."""
    return len(frame) > _PORT_LOW and frame[_PORT_LOW] == _LOW_BYTE and frame[_PORT_HIGH] == _HIGH_BYTE


def strip(frame: bytes) -> tuple[bytes, bytes] | None:
    """Return the plain frame (port 4791, lengths without telemetry) and the shim with its records.

    Return None if the frame is malformed.
    """
    header_and_end = _plain_header(frame)
    if header_and_end is None:
        return None
    header, end = header_and_end
    return header + frame[end:], frame[_SHIM_OFFSET:end]


def _plain_header(frame: bytes) -> tuple[bytes, int] | None:
    """Return the headers up to UDP that the packet would have without telemetry, and the offset of its BTH.

    Return None if a header is malformed or a length is wrong.
    """
    ip = ipv4.unpack_header(frame, ethernet.HEADER_BYTES)
    if ip is None or ip.protocol != IP_PROTOCOL_UDP or len(frame) < _SHIM_END:
        return None
    ports = udp.unpack_header(frame, _UDP_OFFSET, ip.total_length - ipv4.HEADER_BYTES)
    if ports is None or ports.destination_port != INT_UDP_PORT:
        return None
    shim = word_at(frame, _SHIM_OFFSET)
    records, flags, path = shim >> 24, shim >> 16 & 0xFF, shim & _PATH_MASK
    shim_bytes = telemetry_bytes(records, flags)
    payload_bytes = i64(ports.length) - udp.HEADER_BYTES - shim_bytes
    if records > INT_MAX_HOPS or flags & ~_FLAGS or payload_bytes < 0 or (path and not flags & INT_FLAG_PATH):
        return None
    if flags & (INT_FLAG_STAMP | INT_FLAG_COMPACT) == INT_FLAG_STAMP and not records:
        return None
    plain = BytesWriter()
    plain.write(frame[: ethernet.HEADER_BYTES])
    ipv4.write_header(plain, ip.source, ip.destination, IP_PROTOCOL_UDP, udp.HEADER_BYTES + payload_bytes, ip.tos)
    udp.write_header(plain, ports.source_port, ROCE_UDP_PORT, payload_bytes)
    return plain.getvalue(), int(_SHIM_OFFSET + shim_bytes)
