# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The switches' histogram of lateness, held against the hosts'."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from hosts.io.lateness import LatenessHistogram

_LONGEST_NS = 2**63 - 1


def _percentile_ns(face: ctypes.CDLL, samples: Sequence[int], percent: int) -> int:
    face.face_clear()
    for each in samples:
        face.face_record(each)
    found: int = face.face_percentile_ns(percent)
    return found


@given(st.lists(st.integers(-1000, 10**10), min_size=1, max_size=100), st.sampled_from([50, 99, 100]))
def test_hosts_and_switches_measure_alike(face: ctypes.CDLL, samples: list[int], percent: int) -> None:
    """The same buckets in both languages: equal percentiles of equal samples."""
    hosts = LatenessHistogram()
    for each in samples:
        hosts.record(each)
    assert _percentile_ns(face, samples, percent) == hosts.percentile_ns(percent / 100)


def test_a_percentile_is_at_most_a_sixteenth_above_the_truth(face: ctypes.CDLL) -> None:
    """Fine enough to hold against a limit: powers of two had been up to twice the truth."""
    for true_ns in (1, 15, 16, 31, 33, 1_000, 65_537, 33_000_000, 2**40 + 1):
        found_ns = _percentile_ns(face, [true_ns] * 98 + [100 * true_ns] * 2, 98)
        assert true_ns <= found_ns <= true_ns * 17 / 16


def test_every_time_has_a_bucket(face: ctypes.CDLL) -> None:
    """Also the longest that there is."""
    for late_ns in (-_LONGEST_NS, 0, 2**62, _LONGEST_NS):
        assert _percentile_ns(face, [late_ns], 100) == max(0, late_ns)
