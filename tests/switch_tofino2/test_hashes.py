# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The hashes of the Tofino 2 program are the standard ones, and a new period parts flows that collided in the last."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from sfc_testbed.place import ROOT
from tools.tofino2 import SOURCES

CHECK = b"123456789"
CHECK_VALUES = {"crc32c": 0xE3069283, "crc32d": 0x87315576, "crc32q": 0x3010BF7F}
"""The CRC of CHECK by each polynomial, as catalogues of CRCs state it."""
SUPPRESSION = (ROOT / SOURCES / "include" / "control" / "bts" / "suppression.p4").read_text()
DECLARED = re.compile(r"CRCPolynomial<bit<32>>\((\w+), (\w+), false, false, (\w+), (\w+)\) (\w+);")
PLACES = 1 << 14


def _mirrored(word: int, bits: int) -> int:
    return int(f"{word:0{bits}b}"[::-1], 2)


def crc(
    columns: list[NDArray[np.uint64]], polynomial: int, mirrored: bool, first: int, last: int
) -> NDArray[np.uint64]:
    """Return the CRC of each row; a column is a byte."""
    register = np.full(columns[0].shape, first, dtype=np.uint64)
    top, all_bits = np.uint64(1 << 31), np.uint64(0xFFFFFFFF)
    reverse = np.array([_mirrored(byte, 8) for byte in range(256)], dtype=np.uint64)
    for column in columns:
        register ^= (reverse[column] if mirrored else column) << np.uint64(24)
        for _ in range(8):
            carry = (register & top) != 0
            register = (register << np.uint64(1)) & all_bits
            register[carry] ^= np.uint64(polynomial)
    if mirrored:
        register = np.array([_mirrored(int(word), 32) for word in register], dtype=np.uint64)
    result: NDArray[np.uint64] = register ^ np.uint64(last)
    return result


def declared(name: str) -> tuple[int, bool, int, int]:
    """Return polynomial, whether bits are mirrored, first value and last XOR of a hash of the program."""
    [(polynomial, mirrored, first, last)] = {words[:4] for words in DECLARED.findall(SUPPRESSION) if words[4] == name}
    return int(polynomial, 16), mirrored == "true", int(first, 0), int(last, 0)


def crc32(words: NDArray[np.uint64], name: str | None = None) -> NDArray[np.uint64]:
    columns = [(words >> np.uint64(shift)) & np.uint64(255) for shift in (24, 16, 8, 0)]
    return crc(columns, *(declared(name) if name else (0x04C11DB7, True, 0xFFFFFFFF, 0xFFFFFFFF)))


@pytest.mark.parametrize("name", CHECK_VALUES)
def test_each_polynomial_is_a_standard_one(name: str) -> None:
    columns = [np.array([byte], dtype=np.uint64) for byte in CHECK]
    assert crc(columns, *declared(name))[0] == CHECK_VALUES[name]


@pytest.mark.parametrize("row", [None, "crc32c", "crc32d"])
def test_flows_that_collide_in_a_period_do_not_in_the_next(row: str | None) -> None:
    """With the number as a mere prefix of the key, all pairs would collide again; by chance one in 16,384 does."""
    flows = np.random.default_rng(1).integers(0, 1 << 32, 20_000, dtype=np.uint64)

    def places(period: int) -> NDArray[np.uint64]:
        salt = crc32(np.array([period], dtype=np.uint64), "crc32q")
        result: NDArray[np.uint64] = crc32((flows + salt) & np.uint64(0xFFFFFFFF), row) % np.uint64(PLACES)
        return result

    before, after = places(1000), places(1001)
    order = np.argsort(before, kind="stable")
    collided = before[order][1:] == before[order][:-1]
    again = collided & (after[order][1:] == after[order][:-1])
    assert collided.sum() > 5000
    assert again.sum() < collided.sum() / 100
