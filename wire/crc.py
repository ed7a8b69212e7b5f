# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""CRC-32 of joined bytes from the CRC-32 of their parts, so that one pass over a payload serves all that covers it.

A CRC is linear: crc(a + b) is crc(b) XOR a linear function of crc(a) which depends on the length of b only.
"""

from typing import Final

from isal.isal_zlib import crc32
from librt.vecs import vec
from mypy_extensions import i64

from wire.words import WORD_BYTES, little_word_at

_BITS: Final = 32
_ALL_ONES: Final = (1 << _BITS) - 1
_POLYNOMIAL: Final = 0xEDB88320
_BYTE_VALUES: Final = 256
_DIGIT_BITS: Final = 4
_FEW_BYTES: Final = 16
"""Of whole words: looking them up costs less than a call of a function that is not compiled with the engine."""


class CrcShift:
    """That function for one length: a table for each hexadecimal digit of the CRC before, together small enough to stay
    in a processor's cache. `shift_of` makes them."""

    __slots__ = ("_digits", "_digits_of_word", "_of_no_word", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes: i64 = size_bytes
        self._digits = _digits_past(size_bytes)
        self._digits_of_word = _digits_past(WORD_BYTES + size_bytes)
        self._of_no_word: i64 = self.past(crc32(bytes(WORD_BYTES)))

    def past(self, before: i64) -> i64:
        """What the CRC of the bytes before contributes to that of the whole; XOR it with the CRC of the part after."""
        return _chosen(self._digits, before)

    def past_word(self, word: i64, before: i64) -> i64:
        """The same where four bytes lie between the two parts, read as a little-endian number, at no more cost: a CRC
        so far acts like a change of the four bytes that follow."""
        return _chosen(self._digits_of_word, word ^ before) ^ self._of_no_word


def _chosen(digits: vec[i64], number: i64) -> i64:
    """The XOR of the columns that a number's bits choose."""
    total: i64 = digits[number & 15] ^ digits[16 + (number >> 4 & 15)]
    total ^= digits[32 + (number >> 8 & 15)] ^ digits[48 + (number >> 12 & 15)]
    total ^= digits[64 + (number >> 16 & 15)] ^ digits[80 + (number >> 20 & 15)]
    total ^= digits[96 + (number >> 24 & 15)] ^ digits[112 + (number >> 28 & 15)]
    return total


def _digits_past(size_bytes: int) -> vec[i64]:
    zeros = bytes(size_bytes)
    of_zeros = crc32(zeros)
    digits: list[int] = []
    for digit in range(0, _BITS, _DIGIT_BITS):
        digits += _table([crc32(zeros, 1 << bit) ^ of_zeros for bit in range(digit, digit + _DIGIT_BITS)])
    return vec[i64](digits)


_SHIFTS: Final[dict[int, CrcShift]] = {}


def shift_of(size_bytes: int) -> CrcShift:
    """The function for this length: one for all that ask, and for few lengths, since none is ever forgotten."""
    shift = _SHIFTS.get(size_bytes)
    if shift is None:
        shift = _SHIFTS[size_bytes] = CrcShift(size_bytes)
    return shift


def _table(columns: list[int]) -> list[int]:
    """The XOR of the columns chosen by the bits of each digit."""
    table = [0]
    for column in columns:
        table += [value ^ column for value in table]
    return table


_NOTHING_AFTER: Final = CrcShift(0)


def word_crc(word: i64, before: i64) -> i64:
    """CRC-32 of four bytes, read as a little-endian number, behind bytes that have `before`."""
    return _NOTHING_AFTER.past_word(word, before)


def crc_between(frame: bytes, begin: i64, end: i64, before: i64) -> i64:
    """CRC-32 of a frame's bytes from `begin` to `end`, behind bytes that have `before`."""
    if (end - begin) % WORD_BYTES or end - begin > _FEW_BYTES:
        return i64(crc32(frame[begin:end], before))
    while begin < end:
        before = word_crc(little_word_at(frame, begin), before)
        begin += WORD_BYTES
    return before


def crcs_of_starts(block: bytes) -> vec[i64]:
    """CRC-32 of a block's first n bytes, for every n from 0."""
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
