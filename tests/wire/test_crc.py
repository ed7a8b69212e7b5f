# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""CRCs of joined bytes."""

from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st

from wire.crc import CrcShift, crc_between, crcs_of_starts, word_crc


@given(st.binary(max_size=40), st.binary(max_size=300))
def test_the_crc_of_joined_bytes_follows_from_those_of_the_parts(before: bytes, after: bytes) -> None:
    """As zlib computes it in one go."""
    assert CrcShift(len(after)).past(crc32(before)) ^ crc32(after) == crc32(before + after)


@given(st.binary(max_size=40), st.binary(min_size=4, max_size=4), st.binary(max_size=100))
def test_a_word_between_two_parts_costs_no_pass_over_it(before: bytes, word: bytes, after: bytes) -> None:
    """The CRC before it and the word itself act alike."""
    contributed = CrcShift(len(after)).past_word(int.from_bytes(word, "little"), crc32(before))
    assert contributed ^ crc32(after) == crc32(before + word + after)


@given(st.binary(max_size=40), st.binary(min_size=4, max_size=4))
def test_the_crc_of_a_word_behind_others(before: bytes, word: bytes) -> None:
    """As zlib computes it."""
    assert word_crc(int.from_bytes(word, "little"), crc32(before)) == crc32(before + word)


@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=4))
def test_the_crc_of_a_part_of_a_frame(before: bytes, part: bytes, after: bytes) -> None:
    """Of a few whole words, and of anything else."""
    whole = before + part + after
    assert crc_between(whole, len(before), len(before) + len(part), crc32(before)) == crc32(before + part)


@given(st.binary(max_size=300))
def test_the_crcs_of_all_starts_of_a_block(block: bytes) -> None:
    """Of none of its bytes, too."""
    assert list(crcs_of_starts(block)) == [crc32(block[:size]) for size in range(len(block) + 1)]
