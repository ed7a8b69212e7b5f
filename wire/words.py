# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Numbers of two and four bytes in a frame, in a network's order of bytes unless said otherwise.

Compiled, they cost no object: a processor's own numbers in and out.
"""

from typing import Final

from librt.strings import read_i16_be, read_i32_be, read_i32_le
from mypy_extensions import i32, i64

WORD_BYTES: Final = 4
_WORD_MASK: Final = 0xFFFFFFFF
_HALF_WORD_MASK: Final = 0xFFFF


def word_at(frame: bytes, offset: i64) -> i64:
    """Four bytes of a frame as a number."""
    return i64(read_i32_be(frame, offset)) & _WORD_MASK


def little_word_at(frame: bytes, offset: i64) -> i64:
    """The same in the other order of bytes, which is a CRC's."""
    return i64(read_i32_le(frame, offset)) & _WORD_MASK


def half_word_at(frame: bytes, offset: i64) -> i64:
    """Two bytes of a frame as a number."""
    return i64(read_i16_be(frame, offset)) & _HALF_WORD_MASK


def swapped(word: i64) -> i64:
    """The number that the four bytes of a number are in the other order."""
    return word >> 24 & 0xFF | word >> 8 & 0xFF00 | (word & 0xFF00) << 8 | (word & 0xFF) << 24


def signed(word: i64) -> i32:
    """The number with a sign that has the same 32 bits: as such `librt.strings` writes it."""
    return i32(word - (word >> 31 << 32))
