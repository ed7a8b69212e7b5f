# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of rewriting the DSCP of a frame."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wire import ipv4

ADDRESS = st.integers(0, 2**32 - 1)


@given(ADDRESS, ADDRESS, st.integers(0, 255), st.integers(0, 63), st.binary(max_size=40))
def test_dscp_is_replaced_and_the_checksum_right(src: int, dst: int, tos: int, dscp: int, payload: bytes) -> None:
    """ECN bits, addresses, length and payload stay the same."""
    frame = bytes(14) + ipv4.pack_header(src, dst, 6, len(payload), tos) + payload
    changed = ipv4.with_dscp(frame, dscp, 14)
    header = ipv4.unpack_header(changed, 14)
    assert header is not None
    assert header == ipv4.Ipv4Header(dscp << 2 | tos & 3, 20 + len(payload), 64, 6, src, dst)
    assert changed[34:] == payload
