# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compares the switches' measures of lateness and spacing with the hosts'."""

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.hosts.io.lateness import LatenessHistogram
from sfc_testbed.hosts.io.spacing import SpacingHistogram, WireSpacing
from softswitch.build import SOURCE_DIR

_LONGEST_NS = 2**63 - 1
_RATE_BPS = 7_000_000


@pytest.fixture(scope="session")
def face(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = tmp_path_factory.mktemp("common") / "face.so"
    source = Path(__file__).with_name("face.c")
    flags = ["-std=gnu11", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE_DIR}"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.face_record.argtypes = [ctypes.c_int64]
    loaded.face_percentile_ns.restype = ctypes.c_int64
    loaded.face_depart.argtypes = [ctypes.c_uint32, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint64]
    loaded.face_off_ns.restype = ctypes.c_int64
    loaded.face_pairs.restype = loaded.face_ideal_ns.restype = ctypes.c_uint64
    return loaded


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
