# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""IPv4 headers without options, the only ones that this testbed sends and accepts."""

from typing import Final

from librt.strings import BytesWriter, write_i32_be
from mypy_extensions import i64

from sfc_testbed.wire.constants import IPV4_TTL
from sfc_testbed.wire.words import WORD_BYTES, half_word_at, signed, word_at

HEADER_BYTES: Final = 20
_HALF_WORD: Final = 0xFFFF
_VERSION_IHL: Final = 0x45
_DONT_FRAGMENT: Final = 0x4000
_FRAGMENT_MASK: Final = 0x3FFF


class Ipv4Header:
    """The fields of an IPv4 header that a receiver needs."""

    __slots__ = ("destination", "protocol", "source", "tos", "total_length", "ttl")

    def __init__(self, tos: i64, total_length: i64, ttl: i64, protocol: i64, source: i64, destination: i64) -> None:
        self.tos: int = tos
        self.total_length: int = total_length
        self.ttl: int = ttl
        self.protocol: int = protocol
        self.source: int = source
        self.destination: int = destination


def checksum(header: bytes, offset: i64 = 0) -> int:
    """Return the ones' complement checksum over the 20-byte header at `offset`.

    If the header's checksum field is 0, this is the checksum to store. If it holds the correct checksum, this is 0.
    """
    total: i64 = 0
    for at in range(offset, offset + HEADER_BYTES, WORD_BYTES):
        total += _half_words(word_at(header, at))
    return _folded(total)


def _half_words(word: i64) -> i64:
    """Return the sum of the two halves of a four-byte number."""
    return (word >> 16) + (word & _HALF_WORD)


def _folded(total: i64) -> i64:
    """Return the checksum for a sum of half words."""
    total = (total & _HALF_WORD) + (total >> 16)
    return ~((total & _HALF_WORD) + (total >> 16)) & _HALF_WORD


def pack_header(
    source: int, destination: int, protocol: int, payload_bytes: int, tos: int, identification: int = 0
) -> bytes:
    """Return a header as `write_header` writes it."""
    header = BytesWriter()
    write_header(header, source, destination, protocol, payload_bytes, tos, identification)
    return header.getvalue()


def write_header(
    header: BytesWriter,
    source: i64,
    destination: i64,
    protocol: i64,
    payload_bytes: i64,
    tos: i64,
    identification: i64 = 0,
) -> None:
    """Write a header with TTL 64, don't-fragment and the correct checksum.

    The identification is free (RFC 6864: atomic datagrams). With 0, headers of packets of one length can be cached.
    Raise ValueError for a payload that is too long.
    """
    length = HEADER_BYTES + payload_bytes
    if length > _HALF_WORD:
        raise ValueError(f"an IPv4 packet cannot have {length} bytes")
    first: i64 = (_VERSION_IHL << 8 | tos) << 16 | length
    third: i64 = (IPV4_TTL << 8 | protocol) << 16
    second: i64 = identification << 16 | _DONT_FRAGMENT
    total = _half_words(first) + _half_words(second) + _half_words(third) + _half_words(source)
    total += _half_words(destination)
    write_i32_be(header, signed(first))
    write_i32_be(header, signed(second))
    write_i32_be(header, signed(third | _folded(total)))
    write_i32_be(header, signed(source))
    write_i32_be(header, signed(destination))


def total_length(data: bytes, offset: i64) -> i64:
    """Return the total length in the header at `offset`.

    Return -1 if the header is truncated, has options, belongs to a fragment, or has a wrong length or checksum.
    """
    available = i64(len(data)) - offset
    if available < HEADER_BYTES:
        return -1
    head, fragment = word_at(data, offset), half_word_at(data, offset + 6)
    length = head & _HALF_WORD
    if head >> 24 != _VERSION_IHL or fragment & _FRAGMENT_MASK or length < HEADER_BYTES or length > available:
        return -1
    if checksum(data, offset):
        return -1
    return length


def unpack_header(data: bytes, offset: int = 0) -> Ipv4Header | None:
    """Decode the header at `offset`. Return None where `total_length` returns -1."""
    length = total_length(data, offset)
    if length < 0:
        return None
    head, third = word_at(data, offset), word_at(data, offset + 8)
    source, destination = word_at(data, offset + 12), word_at(data, offset + 16)
    return Ipv4Header(head >> 16 & 0xFF, length, third >> 24, third >> 16 & 0xFF, source, destination)


def with_dscp(frame: bytes, dscp: int, offset: int) -> bytes:
    """Return a copy of a frame with another DSCP in its IPv4 header at `offset`.

    The ECN bits stay, and the header checksum is updated (RFC 1624).
    """
    old = int.from_bytes(frame[offset : offset + 2], "big")
    stored = int.from_bytes(frame[offset + 10 : offset + 12], "big")
    new = (old & 0xFF03) | dscp << 2
    total = int(_folded((~stored & 0xFFFF) + (~old & 0xFFFF) + new))
    words = new.to_bytes(2, "big"), total.to_bytes(2, "big")
    return frame[:offset] + words[0] + frame[offset + 2 : offset + 10] + words[1] + frame[offset + 12 :]
