# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compares the switches' measure of spacing with the hosts'."""

import ctypes

from hypothesis import given
from hypothesis import strategies as st

from hosts.io.spacing import SpacingHistogram, WireSpacing

_RATE_BPS = 7_000_000

departures = st.lists(
    st.tuples(st.integers(60, 1500), st.sampled_from([0, 0, 0, 1, 2, -1, 50_000]), st.integers(0, 10**8)), max_size=40
)
"""Departures as (bytes, extra gap in the model in ns, lateness in ns)."""


@given(departures)
def test_hosts_and_switches_measure_the_same_spacing(face: ctypes.CDLL, frames: list[tuple[int, int, int]]) -> None:
    face.face_clear()
    hosts = SpacingHistogram()
    wire = WireSpacing(_RATE_BPS, hosts)
    due_ns = ideal_sum_ns = pairs = 0
    for size_bytes, gap_ns, late_ns in frames:
        ideal_ns = size_bytes * 8_000_000_000 // _RATE_BPS
        due_ns += ideal_ns + gap_ns
        pairs += gap_ns in (0, 1)
        ideal_sum_ns += ideal_ns * (gap_ns in (0, 1))
        wire.record(size_bytes, due_ns, due_ns + late_ns)
        face.face_depart(size_bytes, due_ns, due_ns + late_ns, _RATE_BPS)
    summary = hosts.summary()
    assert (face.face_pairs(), face.face_ideal_ns()) == (pairs, ideal_sum_ns)
    assert summary.count == pairs
    assert (face.face_off_ns(50), face.face_off_ns(99)) == (summary.p50_ns, summary.p99_ns)


def test_a_wire_without_a_rate_has_no_spacing(face: ctypes.CDLL) -> None:
    face.face_clear()
    for _ in range(3):
        face.face_depart(100, 0, 0, 0)
    assert face.face_pairs() == 0
