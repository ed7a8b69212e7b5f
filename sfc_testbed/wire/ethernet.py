# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ethernet II headers of 14 bytes. Frames have no FCS, since a veth carries none."""

from typing import Final

from librt.strings import BytesWriter, write_i16_be, write_i32_be
from mypy_extensions import i16, i64

from sfc_testbed.wire.words import half_word_at, signed

HEADER_BYTES: Final = 14
ORDINARY_MTU_BYTES = 1500
"""Default MTU of an interface: its longest IP packet."""
LONGEST_FRAME_BYTES = 65_535 + HEADER_BYTES + 4
"""Longest frame of any interface: the largest MTU, the header and a VLAN tag."""
_ETHERTYPE_OFFSET: Final = 12


def pack_header(destination_mac: i64, source_mac: i64, ethertype: i64) -> bytes:
    """Return the 14 bytes of destination, source and EtherType."""
    header = BytesWriter()
    write_i32_be(header, signed(destination_mac >> 16))
    write_i32_be(header, signed((destination_mac & 0xFFFF) << 16 | source_mac >> 32))
    write_i32_be(header, signed(source_mac & 0xFFFFFFFF))
    write_i16_be(header, i16(ethertype - (ethertype >> 15 << 16)))
    return header.getvalue()


def ethertype_of(frame: bytes) -> int:
    """Return the EtherType of a frame, or -1 if the frame is too short to have one."""
    return int(half_word_at(frame, _ETHERTYPE_OFFSET)) if len(frame) >= HEADER_BYTES else -1
