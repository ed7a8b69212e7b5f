# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""IPv4 headers without options, the only ones that this testbed sends and accepts."""

import struct
from typing import Final, NamedTuple

from mypy_extensions import i64

from sfc_testbed.wire.constants import IPV4_TTL
from sfc_testbed.wire.words import half_word_at, word_at

HEADER_BYTES: Final = 20
_HEADER = struct.Struct(">5I")
_HALF_WORD: Final = 0xFFFF
_HALF_WORD_BYTES: Final = 2
_VERSION_IHL: Final = 0x45
_DONT_FRAGMENT: Final = 0x4000
_FRAGMENT_MASK: Final = 0x3FFF


class Ipv4Header(NamedTuple):
    """The fields of an IPv4 header that a receiver needs."""

    tos: int
    total_length: int
    ttl: int
    protocol: int
    source: int
    destination: int


def checksum(header: bytes, offset: i64 = 0) -> int:
    """Return the ones' complement checksum over the 20-byte header at `offset`.

    If the header's checksum field is 0, this is the checksum to store. If it holds the correct checksum, this is 0.
    """
    total: i64 = 0
    for at in range(offset, offset + HEADER_BYTES, _HALF_WORD_BYTES):
        total += half_word_at(header, at)
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
    """Return a header with TTL 64, don't-fragment and the correct checksum.

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
    return _HEADER.pack(first, second, third | _folded(total), source, destination)


def unpack_header(data: bytes, offset: int = 0) -> Ipv4Header | None:
    """Decode the header at `offset`.

    Return None if it is truncated, has options, belongs to a fragment, or has a wrong length or checksum.
    """
    if len(data) - offset < HEADER_BYTES:
        return None
    head, third, fragment = word_at(data, offset), word_at(data, offset + 8), half_word_at(data, offset + 6)
    length: int = head & _HALF_WORD
    if head >> 24 != _VERSION_IHL or fragment & _FRAGMENT_MASK or not HEADER_BYTES <= length <= len(data) - offset:
        return None
    if checksum(data, offset):
        return None
    source, destination = word_at(data, offset + 12), word_at(data, offset + 16)
    return Ipv4Header(head >> 16 & 0xFF, length, third >> 24, third >> 16 & 0xFF, source, destination)


def with_dscp(frame: bytes, dscp: int, offset: int) -> bytes:
    """Return a copy of a frame with another DSCP in its IPv4 header at `offset`.

    The ECN bits stay, and the header checksum is updated (RFC 1624).
    """
    old = int.from_bytes(frame[offset : offset + 2], "big")
    stored = int.from_bytes(frame[offset + 10 : offset + 12], "big")
    new = (old & 0xFF03) | dscp << 2
    total = (~stored & 0xFFFF) + (~old & 0xFFFF) + new
    total = (total & 0xFFFF) + (total >> 16)
    total = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    words = new.to_bytes(2, "big"), total.to_bytes(2, "big")
    return frame[:offset] + words[0] + frame[offset + 2 : offset + 10] + words[1] + frame[offset + 12 :]
