# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The switches' histogram of lateness, held against the hosts'."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosts.io.lateness import LatenessHistogram
from softswitch.build import SOURCE_DIR

_LONGEST_NS = 2**63 - 1


@pytest.fixture(scope="module")
def face(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The header, compiled."""
    library = tmp_path_factory.mktemp("lateness") / "face.so"
    source = Path(__file__).with_name("lateness_face.c")
    flags = ["-std=gnu11", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE_DIR}"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.face_record.argtypes = [ctypes.c_int64]
    loaded.face_percentile_ns.restype = ctypes.c_int64
    return loaded


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
