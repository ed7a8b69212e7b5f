# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""UDP headers. As in RoCEv2, the checksum is always 0, which means that it is not computed."""

import struct
from typing import Final, NamedTuple

from sfc_testbed.wire.words import half_word_at

HEADER_BYTES: Final = 8
_HEADER = struct.Struct(">HHHH")


class UdpHeader(NamedTuple):
    """The ports and the length (header and payload, in bytes) of a UDP header."""

    source_port: int
    destination_port: int
    length: int


def pack_header(source_port: int, destination_port: int, payload_bytes: int) -> bytes:
    """Return a UDP header with checksum 0."""
    return _HEADER.pack(source_port, destination_port, HEADER_BYTES + payload_bytes, 0)


def unpack_header(data: bytes, offset: int, available_bytes: int) -> UdpHeader | None:
    """Decode the header at `offset`. Return None unless its length field equals `available_bytes`."""
    if available_bytes < HEADER_BYTES or len(data) - offset < HEADER_BYTES:
        return None
    if half_word_at(data, offset + 4) != available_bytes:
        return None
    return UdpHeader(half_word_at(data, offset), half_word_at(data, offset + 2), available_bytes)
