# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Numbers in frames."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from librt.strings import BytesWriter, write_i32_be

from wire.words import half_word_at, little_word_at, signed, swapped, word_at


@given(st.binary(max_size=20), st.binary(min_size=4, max_size=4))
def test_words_are_read_wherever_they_lie(before: bytes, word: bytes) -> None:
    """In both orders of bytes, without a sign."""
    frame = before + word
    assert word_at(frame, len(before)) == int.from_bytes(word, "big")
    assert little_word_at(frame, len(before)) == swapped(word_at(frame, len(before))) == int.from_bytes(word, "little")
    assert half_word_at(frame, len(before) + 2) == int.from_bytes(word[2:], "big")


@given(st.integers(0, (1 << 32) - 1))
def test_what_is_written_has_the_same_bits(word: int) -> None:
    """Of numbers that have no sign, the upper half is written as negative ones."""
    writer = BytesWriter()
    write_i32_be(writer, signed(word))
    assert writer.getvalue() == word.to_bytes(4, "big")
