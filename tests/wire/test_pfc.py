# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of 802.1Qbb frames and quanta."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.l2 import Ether

from sfc_testbed.wire.pfc import pack_frame, quanta_for, quanta_ns, unpack_frame
from sfc_testbed.wire.scapy_layers import PFC

_QUANTA = st.dictionaries(st.integers(0, 7), st.integers(0, 65535))


@given(_QUANTA)
def test_frames_round_trip(quanta: dict[int, int]) -> None:
    """Decoding returns exactly the enabled classes, including those with zero quanta."""
    frame = pack_frame(0x0200_0000_0001, quanta)
    decoded = unpack_frame(frame)
    assert len(frame) == 60
    assert decoded is not None
    assert decoded.source_mac == 0x0200_0000_0001
    assert decoded.pause_quanta == quanta


def test_scapy_reads_the_same_classes() -> None:
    """The frame pauses class 3 for 100 quanta and resumes class 0."""
    layer = Ether(pack_frame(1, {0: 0, 3: 100}))[PFC]
    assert (layer.c0_enabled, layer.c3_enabled, layer.c6_enabled) == (1, 1, 0)
    assert layer.c3_pause_time == 100


@pytest.mark.parametrize("quanta", [{8: 1}, {-1: 1}, {0: 65536}, {0: -1}])
def test_classes_and_quanta_outside_their_fields_are_refused(quanta: dict[int, int]) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        pack_frame(1, quanta)


def test_other_frames_are_not_pfc() -> None:
    """The frames are truncated, a plain PAUSE, of another EtherType, and with an invalid enable vector."""
    frame = pack_frame(1, {3: 1})
    assert unpack_frame(frame[:33]) is None
    assert unpack_frame(frame[:14] + b"\0\1" + frame[16:]) is None
    assert unpack_frame(frame[:12] + b"\x08\x00" + frame[14:]) is None
    assert unpack_frame(frame[:16] + b"\1" + frame[17:]) is None


def test_quanta_follow_the_line_rate() -> None:
    """A microsecond at 100 Gb/s has 195.3 quanta, rounded up. Time dilation does not change the number."""
    assert quanta_for(1_000, 100_000_000_000) == 196
    assert quanta_for(1_000_000, 100_000_000) == 196
    assert quanta_for(1 << 40, 100_000_000_000) == 65535
    assert quanta_for(0, 1) == 0


@given(st.integers(0, 80_000), st.sampled_from([10_000_000, 100_000_000_000, 400_000_000_000]))
def test_quanta_cover_the_pause_by_less_than_two(pause_ns: int, rate_bps: int) -> None:
    covered = quanta_ns(quanta_for(pause_ns, rate_bps), rate_bps)
    assert pause_ns <= covered <= pause_ns + quanta_ns(2, rate_bps)
