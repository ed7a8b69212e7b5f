# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads numbers of two and four bytes in a frame, in network byte order unless the name says otherwise.

When compiled, the functions pass machine integers and create no Python objects.
"""

from typing import Final

from librt.strings import read_i16_be, read_i32_be, read_i32_le
from mypy_extensions import i32, i64

WORD_BYTES: Final = 4
_WORD_MASK: Final = 0xFFFFFFFF
_HALF_WORD_MASK: Final = 0xFFFF


def word_at(frame: bytes, offset: i64) -> i64:
    """Return four bytes of a frame as an unsigned number."""
    return i64(read_i32_be(frame, offset)) & _WORD_MASK


def little_word_at(frame: bytes, offset: i64) -> i64:
    """Return four bytes of a frame as an unsigned little-endian number, the byte order of the ICRC."""
    return i64(read_i32_le(frame, offset)) & _WORD_MASK


def half_word_at(frame: bytes, offset: i64) -> i64:
    """Return two bytes of a frame as an unsigned number."""
    return i64(read_i16_be(frame, offset)) & _HALF_WORD_MASK


def swapped(word: i64) -> i64:
    """Return a four-byte number with its bytes in reverse order."""
    return word >> 24 & 0xFF | word >> 8 & 0xFF00 | (word & 0xFF00) << 8 | (word & 0xFF) << 24


def signed(word: i64) -> i32:
    """Return the signed number with the same 32 bits, which is the type that `librt.strings` writes."""
    return i32(word - (word >> 31 << 32))
