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
