# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ethernet II headers: 14 bytes, no FCS (a veth carries none)."""

import struct
from typing import Final

from wire.addresses import pack_mac
from wire.words import half_word_at

HEADER_BYTES: Final = 14
ORDINARY_MTU_BYTES = 1500
"""The longest IP packet of an interface that nobody has asked to carry more."""
LONGEST_FRAME_BYTES = 65_535 + HEADER_BYTES + 4
"""The largest MTU there is, the header, and a VLAN tag: no interface carries more."""
_ETHERTYPE_OFFSET: Final = 12
_ETHERTYPE = struct.Struct(">H")


def pack_header(destination_mac: int, source_mac: int, ethertype: int) -> bytes:
    """Destination, source, EtherType."""
    return pack_mac(destination_mac) + pack_mac(source_mac) + _ETHERTYPE.pack(ethertype)


def ethertype_of(frame: bytes) -> int:
    """EtherType of a frame; -1 if the frame is too short to have one."""
    return int(half_word_at(frame, _ETHERTYPE_OFFSET)) if len(frame) >= HEADER_BYTES else -1
