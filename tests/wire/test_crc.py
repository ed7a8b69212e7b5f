# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of CRCs of joined bytes, compared with zlib."""

from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.wire.crc import CrcShift, crc_between, crcs_of_starts, word_crc


@given(st.binary(max_size=40), st.binary(max_size=300))
def test_the_crc_of_joined_bytes_follows_from_those_of_the_parts(before: bytes, after: bytes) -> None:
    assert CrcShift(len(after)).past(crc32(before)) ^ crc32(after) == crc32(before + after)


@given(st.binary(max_size=40), st.binary(min_size=4, max_size=4), st.binary(max_size=100))
def test_the_crc_of_two_parts_with_a_word_between_them(before: bytes, word: bytes, after: bytes) -> None:
    contribution = CrcShift(len(after)).past_word(int.from_bytes(word, "little"), crc32(before))
    assert contribution ^ crc32(after) == crc32(before + word + after)


@given(st.binary(max_size=40), st.binary(min_size=4, max_size=4))
def test_the_crc_of_bytes_followed_by_a_word(before: bytes, word: bytes) -> None:
    assert word_crc(int.from_bytes(word, "little"), crc32(before)) == crc32(before + word)


@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=4))
def test_the_crc_of_a_part_of_a_frame(before: bytes, part: bytes, after: bytes) -> None:
    """A part of few whole words takes a faster path than other parts."""
    whole = before + part + after
    assert crc_between(whole, len(before), len(before) + len(part), crc32(before)) == crc32(before + part)


@given(st.binary(max_size=300))
def test_the_crcs_of_all_starts_of_a_block(block: bytes) -> None:
    assert list(crcs_of_starts(block)) == [crc32(block[:size]) for size in range(len(block) + 1)]
