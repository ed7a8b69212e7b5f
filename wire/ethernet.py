# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ethernet II headers: 14 bytes, no FCS (a veth carries none)."""

import struct

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
