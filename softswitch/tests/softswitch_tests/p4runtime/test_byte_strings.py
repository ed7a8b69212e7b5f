# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of byte strings, with the examples of the P4Runtime specification."""

import pytest

from softswitch.p4runtime.byte_strings import decoded, decoded_signed, encoded, encoded_signed
from softswitch.p4runtime.status import Refusal


@pytest.mark.parametrize(
    ("bits", "raw", "value", "shortest"),
    [
        (8, b"\x63", 99, b"\x63"),
        (16, b"\x00\x63", 99, b"\x63"),
        (16, b"\x00\x30\x64", 0x3064, b"\x30\x64"),
        (12, b"\x00\x00\x63", 99, b"\x63"),
        (1, b"\x00", 0, b"\x00"),
    ],
)
def test_unsigned_values(bits: int, raw: bytes, value: int, shortest: bytes) -> None:
    assert decoded(raw, bits, "it") == value
    assert encoded(value) == shortest


@pytest.mark.parametrize(
    ("bits", "raw", "value", "shortest"),
    [
        (8, b"\x63", 99, b"\x63"),
        (8, b"\xff\x9d", -99, b"\x9d"),
        (12, b"\xfd\x1d", -739, b"\xfd\x1d"),
        (16, b"\x00\x00", 0, b"\x00"),
        (16, b"\x80\x00", -(1 << 15), b"\x80\x00"),
    ],
)
def test_signed_values(bits: int, raw: bytes, value: int, shortest: bytes) -> None:
    assert decoded_signed(raw, bits, "it") == value % (1 << bits)
    assert encoded_signed(value % (1 << bits), bits) == shortest


@pytest.mark.parametrize(
    ("bits", "raw"), [(8, b"\x01\x63"), (8, b""), (16, b"\x01\x00\x63"), (12, b"\x10\x63"), (12, b"\x00\x40\x63")]
)
def test_unsigned_values_that_do_not_fit(bits: int, raw: bytes) -> None:
    with pytest.raises(Refusal):
        decoded(raw, bits, "it")


@pytest.mark.parametrize(("bits", "raw"), [(8, b"\x00\x9d"), (12, b"\x8d\x1d"), (16, b"")])
def test_signed_values_that_do_not_fit(bits: int, raw: bytes) -> None:
    with pytest.raises(Refusal):
        decoded_signed(raw, bits, "it")
