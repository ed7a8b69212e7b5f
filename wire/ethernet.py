# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ethernet II headers: 14 bytes, no FCS (a veth carries none)."""

import struct

from mypy_extensions import i64

from wire.addresses import pack_mac

HEADER_BYTES = 14
ORDINARY_MTU_BYTES = 1500
"""The longest IP packet of an interface that nobody has asked to carry more."""
LONGEST_FRAME_BYTES = 65_535 + HEADER_BYTES + 4
"""The largest MTU there is, the header, and a VLAN tag: no interface carries more."""
_ETHERTYPE = struct.Struct(">H")


def pack_header(destination_mac: int, source_mac: int, ethertype: int) -> bytes:
    """Destination, source, EtherType."""
    return pack_mac(destination_mac) + pack_mac(source_mac) + _ETHERTYPE.pack(ethertype)


def ethertype_of(frame: bytes) -> int:
    """EtherType of a frame; -1 if the frame is too short to have one."""
    return int(_ETHERTYPE.unpack_from(frame, 12)[0]) if len(frame) >= HEADER_BYTES else -1


def word_at(frame: bytes, offset: i64) -> i64:
    """Four bytes of a frame as a number."""
    high: i64 = i64(frame[offset]) << 24 | i64(frame[offset + 1]) << 16
    return high | i64(frame[offset + 2]) << 8 | i64(frame[offset + 3])


def little_word_at(frame: bytes, offset: i64) -> i64:
    """The same in the other order of bytes, which is a CRC's."""
    low: i64 = i64(frame[offset]) | i64(frame[offset + 1]) << 8
    return low | i64(frame[offset + 2]) << 16 | i64(frame[offset + 3]) << 24
