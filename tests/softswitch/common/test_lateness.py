# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compares the switches' histogram of lateness with the hosts'."""

import ctypes
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from hosts.io.lateness import LatenessHistogram

_LONGEST_NS = 2**63 - 1


def _percentile_ns(face: ctypes.CDLL, samples: Sequence[int], percent: int) -> int:
    face.face_clear()
    for sample_ns in samples:
        face.face_record(sample_ns)
    percentile_ns: int = face.face_percentile_ns(percent)
    return percentile_ns


@given(st.lists(st.integers(-1000, 10**10), min_size=1, max_size=100), st.sampled_from([50, 99, 100]))
def test_hosts_and_switches_have_equal_percentiles(face: ctypes.CDLL, samples: list[int], percent: int) -> None:
    hosts = LatenessHistogram()
    for sample_ns in samples:
        hosts.record(sample_ns)
    assert _percentile_ns(face, samples, percent) == hosts.percentile_ns(percent / 100)


def test_every_time_has_a_bucket(face: ctypes.CDLL) -> None:
    for late_ns in (-_LONGEST_NS, 0, 2**62, _LONGEST_NS):
        assert _percentile_ns(face, [late_ns], 100) == max(0, late_ns)
