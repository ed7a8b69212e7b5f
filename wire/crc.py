# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""CRC-32 of joined bytes from the CRC-32 of their parts, so that one pass over a payload serves all that covers it.

A CRC is linear: crc(a + b) is crc(b) XOR a linear function of crc(a) which depends on the length of b only.
"""

from typing import Final
from zlib import crc32

from mypy_extensions import i64

_BITS: Final = 32
_DIGIT_BITS: Final = 4


class CrcShift:
    """That function for one length: a table for each hexadecimal digit of the CRC before, together small enough to stay
    in a processor's cache. `shift_of` makes them."""

    __slots__ = ("_digits", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes: i64 = size_bytes
        zeros = bytes(size_bytes)
        of_zeros = crc32(zeros)
        self._digits: list[int] = []
        for digit in range(0, _BITS, _DIGIT_BITS):
            self._digits += _table([crc32(zeros, 1 << bit) ^ of_zeros for bit in range(digit, digit + _DIGIT_BITS)])

    def past(self, before: i64) -> i64:
        """What the CRC of the bytes before contributes to that of the whole; XOR it with the CRC of the part after."""
        digits = self._digits
        total: i64 = digits[before & 15] ^ digits[16 + (before >> 4 & 15)]
        total ^= digits[32 + (before >> 8 & 15)] ^ digits[48 + (before >> 12 & 15)]
        total ^= digits[64 + (before >> 16 & 15)] ^ digits[80 + (before >> 20 & 15)]
        total ^= digits[96 + (before >> 24 & 15)] ^ digits[112 + (before >> 28 & 15)]
        return total


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
