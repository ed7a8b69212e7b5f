# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ethernet II headers of 14 bytes. Frames have no FCS, since a veth carries none."""

import struct
from typing import Final

from sfc_testbed.wire.addresses import pack_mac
from sfc_testbed.wire.words import half_word_at

HEADER_BYTES: Final = 14
ORDINARY_MTU_BYTES = 1500
"""Default MTU of an interface: its longest IP packet."""
LONGEST_FRAME_BYTES = 65_535 + HEADER_BYTES + 4
"""Longest frame of any interface: the largest MTU, the header and a VLAN tag."""
_ETHERTYPE_OFFSET: Final = 12
_ETHERTYPE = struct.Struct(">H")


def pack_header(destination_mac: int, source_mac: int, ethertype: int) -> bytes:
    """Return the 14 bytes of destination, source and EtherType."""
    return pack_mac(destination_mac) + pack_mac(source_mac) + _ETHERTYPE.pack(ethertype)


def ethertype_of(frame: bytes) -> int:
    """Return the EtherType of a frame, or -1 if the frame is too short to have one."""
    return int(half_word_at(frame, _ETHERTYPE_OFFSET)) if len(frame) >= HEADER_BYTES else -1
