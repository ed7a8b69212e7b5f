# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""UDP headers. As in RoCEv2, the checksum is always 0, which means that it is not computed."""

from typing import Final

from librt.strings import BytesWriter, write_i32_be
from mypy_extensions import i64

from sfc_testbed.wire.words import half_word_at, signed

HEADER_BYTES: Final = 8


class UdpHeader:
    """The ports and the length (header and payload, in bytes) of a UDP header."""

    __slots__ = ("destination_port", "length", "source_port")

    def __init__(self, source_port: i64, destination_port: i64, length: i64) -> None:
        self.source_port: int = source_port
        self.destination_port: int = destination_port
        self.length: int = length


def pack_header(source_port: int, destination_port: int, payload_bytes: int) -> bytes:
    """Return a UDP header with checksum 0."""
    header = BytesWriter()
    write_header(header, source_port, destination_port, payload_bytes)
    return header.getvalue()


def write_header(header: BytesWriter, source_port: i64, destination_port: i64, payload_bytes: i64) -> None:
    """Write a UDP header with checksum 0."""
    write_i32_be(header, signed(source_port << 16 | destination_port))
    write_i32_be(header, signed((HEADER_BYTES + payload_bytes) << 16))


def unpack_header(data: bytes, offset: int, available_bytes: int) -> UdpHeader | None:
    """Decode the header at `offset`. Return None unless its length field equals `available_bytes`."""
    if available_bytes < HEADER_BYTES or len(data) - offset < HEADER_BYTES:
        return None
    if half_word_at(data, offset + 4) != available_bytes:
        return None
    return UdpHeader(half_word_at(data, offset), half_word_at(data, offset + 2), available_bytes)
