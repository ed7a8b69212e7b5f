# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""CRC-32 of joined bytes, computed from the CRC-32 of their parts.

A payload is covered by several CRCs; with this module it has to be read only once. A CRC is linear: crc(a + b) is
crc(b) XOR a linear function of crc(a) which depends only on the length of b.
"""

from typing import Final

from isal.isal_zlib import crc32
from librt.vecs import vec
from mypy_extensions import i64

from sfc_testbed.wire.words import WORD_BYTES, little_word_at

_BITS: Final = 32
_ALL_ONES: Final = (1 << _BITS) - 1
_POLYNOMIAL: Final = 0xEDB88320
_BYTE_VALUES: Final = 256
_DIGIT_BITS: Final = 4
_FEW_BYTES: Final = 16
"""Largest size, in whole words, for which table look-ups cost less than calling isal's crc32.

The look-ups are compiled with the engine; a call of crc32 leaves the compiled code.
"""


class CrcShift:
    """The map from crc(a) to its contribution to crc(a + b), for one length of b. Create instances with `shift_of`.

    The function is stored as a table for each hexadecimal digit of crc(a). All tables together fit into the
    processor's cache.
    """

    __slots__ = ("_digits", "_digits_of_word", "_zero_word_term", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes: i64 = size_bytes
        self._digits = _digits_past(size_bytes)
        self._digits_of_word = _digits_past(WORD_BYTES + size_bytes)
        self._zero_word_term: i64 = self.past(crc32(bytes(WORD_BYTES)))

    def past(self, before: i64) -> i64:
        """Return the contribution of crc(a), `before`, to crc(a + b). The caller XORs it with crc(b)."""
        return _xor_of_columns(self._digits, before)

    def past_word(self, word: i64, before: i64) -> i64:
        """Return the contribution of crc(a) and of a four-byte word after a to crc(a + word + b).

        `word` is the little-endian number in the four bytes. The call costs as much as `past`, since XORing crc(a)
        into the word that follows has the same effect as computing the CRC over a first.
        """
        return _xor_of_columns(self._digits_of_word, word ^ before) ^ self._zero_word_term


def _xor_of_columns(digits: vec[i64], number: i64) -> i64:
    """Return the XOR of the columns that a number's bits select."""
    total: i64 = digits[number & 15] ^ digits[16 + (number >> 4 & 15)]
    total ^= digits[32 + (number >> 8 & 15)] ^ digits[48 + (number >> 12 & 15)]
    total ^= digits[64 + (number >> 16 & 15)] ^ digits[80 + (number >> 20 & 15)]
    total ^= digits[96 + (number >> 24 & 15)] ^ digits[112 + (number >> 28 & 15)]
    return total


def _digits_past(size_bytes: int) -> vec[i64]:
    zeros = bytes(size_bytes)
    crc_of_zeros = crc32(zeros)
    digits: list[int] = []
    for digit in range(0, _BITS, _DIGIT_BITS):
        digits += _table([crc32(zeros, 1 << bit) ^ crc_of_zeros for bit in range(digit, digit + _DIGIT_BITS)])
    return vec[i64](digits)


_SHIFTS: Final[dict[int, CrcShift]] = {}


def shift_of(size_bytes: int) -> CrcShift:
    """Return the shift for this length. Shifts are shared and never freed, so ask for a few lengths only."""
    shift = _SHIFTS.get(size_bytes)
    if shift is None:
        shift = _SHIFTS[size_bytes] = CrcShift(size_bytes)
    return shift


def _table(columns: list[int]) -> list[int]:
    """Return, for each value of a digit, the XOR of the columns that its bits select."""
    table = [0]
    for column in columns:
        table += [value ^ column for value in table]
    return table


_EMPTY_SHIFT: Final = CrcShift(0)


def word_crc(word: i64, before: i64) -> i64:
    """Return the CRC-32 of bytes whose CRC is `before`, followed by the four bytes of a little-endian `word`."""
    return _EMPTY_SHIFT.past_word(word, before)


def crc_between(frame: bytes, begin: i64, end: i64, before: i64) -> i64:
    """Return the CRC-32 of bytes whose CRC is `before`, followed by a frame's bytes from `begin` to `end`."""
    if (end - begin) % WORD_BYTES or end - begin > _FEW_BYTES:
        return i64(crc32(frame[begin:end], before))
    while begin < end:
        before = word_crc(little_word_at(frame, begin), before)
        begin += WORD_BYTES
    return before


def crcs_of_starts(block: bytes) -> vec[i64]:
    """Return a vector whose item n is the CRC-32 of a block's first n bytes, for n from 0 to the block's length."""
    steps = vec[i64]([_byte_step(value) for value in range(_BYTE_VALUES)])
    crcs = vec[i64]([0] * (len(block) + 1))
    state: i64 = _ALL_ONES
    for at in range(len(block)):
        state = steps[(state ^ block[at]) & 0xFF] ^ state >> 8
        crcs[at + 1] = state ^ _ALL_ONES
    return crcs


def _byte_step(value: i64) -> i64:
    for _ in range(8):
        value = value >> 1 ^ (value & 1) * _POLYNOMIAL
    return value
