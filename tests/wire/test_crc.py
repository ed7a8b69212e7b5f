# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""CRCs of joined bytes."""

from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st

from wire.crc import CrcShift


@given(st.binary(max_size=40), st.binary(max_size=300))
def test_the_crc_of_joined_bytes_follows_from_those_of_the_parts(before: bytes, after: bytes) -> None:
    """As zlib computes it in one go."""
    assert CrcShift(len(after)).past(crc32(before)) ^ crc32(after) == crc32(before + after)


@given(st.binary(max_size=40), st.binary(min_size=4, max_size=4), st.binary(max_size=100))
def test_a_word_between_two_parts_costs_no_pass_over_it(before: bytes, word: bytes, after: bytes) -> None:
    """The CRC before it and the word itself act alike."""
    contributed = CrcShift(len(after)).past_word(int.from_bytes(word, "little"), crc32(before))
    assert contributed ^ crc32(after) == crc32(before + word + after)
