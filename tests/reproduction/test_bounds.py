# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The formulas of appendix C against the paper's example and against simple relations between them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sfc_testbed.reproduction.model.bounds import (
    Bottleneck,
    b_ack,
    b_ack_with_acknowledgement,
    b_bts,
    b_cache_hit,
    b_cache_miss,
    b_cache_miss_in_packets,
    b_incast,
    b_incast_in_packets,
    cache_miss_ns,
)

# R = 100 Gb/s, T_A = 4 us, T_B = 1 us, 4000 B packets, k = 26.
EXAMPLE = Bottleneck(100_000_000_000, 4_000, 1_000, 1_000, 4_000, 26)


def test_the_example_of_the_paper() -> None:
    """The paper computes B_ack = 333 KB and B_bts = 204 KB, which saves 129 KB or 38.7 %."""
    assert b_ack(EXAMPLE) == pytest.approx(333_000)
    assert b_bts(EXAMPLE) == pytest.approx(204_000)
    assert (b_ack(EXAMPLE) - b_bts(EXAMPLE)) / b_ack(EXAMPLE) == pytest.approx(0.387, abs=5e-4)
    assert b_bts(EXAMPLE) * 8 / 100_000 == pytest.approx(16.32)


def test_the_incast_bound_grows_in_proportion_to_the_senders() -> None:
    """N R (2 T_A + T_S) is 104 KB per sender."""
    assert b_incast(EXAMPLE, 1) == pytest.approx(104_000)
    assert b_incast(EXAMPLE, 40) == pytest.approx(40 * 104_000)


def test_a_cache_hit_needs_less_buffer_than_a_bts() -> None:
    """The formula has 2 T_ToR instead of 2 T_A. Senders within 6 us of the first one miss the cache."""
    assert b_cache_hit(EXAMPLE) == pytest.approx(29_000)
    assert b_cache_hit(EXAMPLE) < b_bts(replace(EXAMPLE, threshold_packets=1))
    assert cache_miss_ns(EXAMPLE) == 6_000


def test_a_sender_that_misses_the_cache_stops_with_the_first_sender() -> None:
    """All senders stop 8.32 us (T_F) after the first sender starts.

    A sender that starts together with the first one emits the same bytes. The last sender that misses the cache emits
    as much as a sender that hits it.
    """
    assert b_cache_miss(EXAMPLE, 0) == b_incast(EXAMPLE, 1)
    assert b_cache_miss(EXAMPLE, 3_000) == pytest.approx(66_500)
    assert b_cache_miss(EXAMPLE, cache_miss_ns(EXAMPLE)) == pytest.approx(b_cache_hit(EXAMPLE))


def test_refined_bounds_are_never_smaller() -> None:
    """Expected values: 2 x 62 B of acknowledgements; 27 instead of 26 whole packets per sender, and k more packets.

    A sender that is 3 us late emits 10 packets in the remaining 3 us, k packets, and one packet that hits the cache.
    """
    assert b_ack_with_acknowledgement(EXAMPLE, 62) - b_ack(EXAMPLE) == 124
    assert b_incast_in_packets(EXAMPLE, 40) == (40 * 26 + 26) * 4000
    late = replace(EXAMPLE, sender_delay_ns=EXAMPLE.sender_delay_ns + 1)
    assert b_incast_in_packets(late, 40) == (40 * 27 + 26) * 4000 > b_incast(late, 40)
    assert b_cache_miss_in_packets(EXAMPLE, 3_000) == pytest.approx(25_000 + (10 + 26 + 1) * 4000)
