# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of reading and writing numbers in frames."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from librt.strings import BytesWriter, write_i32_be

from sfc_testbed.wire.words import half_word_at, little_word_at, signed, swapped, word_at


@given(st.binary(max_size=20), st.binary(min_size=4, max_size=4))
def test_words_are_read_at_any_offset_in_both_byte_orders(before: bytes, word: bytes) -> None:
    frame = before + word
    assert word_at(frame, len(before)) == int.from_bytes(word, "big")
    assert little_word_at(frame, len(before)) == swapped(word_at(frame, len(before))) == int.from_bytes(word, "little")
    assert half_word_at(frame, len(before) + 2) == int.from_bytes(word[2:], "big")


@given(st.integers(0, (1 << 32) - 1))
def test_unsigned_words_are_written_as_signed_numbers_with_the_same_bits(word: int) -> None:
    writer = BytesWriter()
    write_i32_be(writer, signed(word))
    assert writer.getvalue() == word.to_bytes(4, "big")
