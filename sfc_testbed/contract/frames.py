# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Frames as switches change them: ECN marks, hops, and telemetry."""

from sfc_testbed.wire import int_slots, ipv4
from sfc_testbed.wire.constants import INT_RECORD_BYTES, INT_UDP_PORT
from sfc_testbed.wire.ethernet import HEADER_BYTES
from sfc_testbed.wire.int_header import HopRecord
from sfc_testbed.wire.int_slots import Slot

_SHIM = 42


def with_tos(frame: bytes, tos: int) -> bytes:
    """Return the frame with another TOS byte and a correct checksum."""
    return _with_ip(frame, frame[HEADER_BYTES : HEADER_BYTES + 1] + bytes([tos]) + frame[16:34])


def with_ttl(frame: bytes, ttl: int) -> bytes:
    """Return the frame with another time to live and a correct checksum."""
    return _with_ip(frame, frame[HEADER_BYTES : HEADER_BYTES + 8] + bytes([ttl]) + frame[HEADER_BYTES + 9 : 34])


def with_record(frame: bytes, record: HopRecord) -> bytes:
    """Return the frame as a switch forwards it after adding one telemetry record."""
    ip = frame[HEADER_BYTES:34]
    length = int.from_bytes(ip[2:4], "big") + INT_RECORD_BYTES
    udp_length = int.from_bytes(frame[38:40], "big") + INT_RECORD_BYTES
    shim = bytes([frame[_SHIM] + 1]) + frame[_SHIM + 1 : _SHIM + 4]
    record_bytes = b"".join(value.to_bytes(4, "big") for value in record)
    frame = frame[:38] + udp_length.to_bytes(2, "big") + frame[40:_SHIM] + shim + record_bytes + frame[_SHIM + 4 :]
    return _with_ip(frame, ip[:2] + length.to_bytes(2, "big") + ip[4:])


def with_slot(frame: bytes, slot: Slot) -> bytes:
    """Return the frame as a switch forwards it after filling one slot of compact telemetry."""
    slots = (slot, *int_slots.unpack(frame[_SHIM : _SHIM + 44]))
    shim = int_slots.pack(slots, frame[_SHIM + 1])
    return frame[:_SHIM] + shim + frame[_SHIM + len(shim) :]


def with_shim(plain: bytes, shim: bytes) -> bytes:
    """Return a plain RoCEv2 frame as a packet with this telemetry."""
    ip = plain[HEADER_BYTES:34]
    length = int.from_bytes(ip[2:4], "big") + len(shim)
    udp_length = int.from_bytes(plain[38:40], "big") + len(shim)
    ports = plain[34:36] + INT_UDP_PORT.to_bytes(2, "big")
    frame = plain[:34] + ports + udp_length.to_bytes(2, "big") + plain[40:_SHIM] + shim + plain[_SHIM:]
    return _with_ip(frame, ip[:2] + length.to_bytes(2, "big") + ip[4:])


def _with_ip(frame: bytes, ip: bytes) -> bytes:
    bare = ip[:10] + bytes(2) + ip[12:]
    return frame[:HEADER_BYTES] + bare[:10] + ipv4.checksum(bare).to_bytes(2, "big") + bare[12:] + frame[34:]
