# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of converting a switch's queue samples to rows of the queues trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfc_testbed.telemetry.queue_samples import SAMPLE_DTYPE, link_rows, queue_rows, sample_chunks, samples_from_bytes
from sfc_testbed.telemetry.schema import LINKS, QUEUES

SAMPLES = np.array(
    [
        (900, -1, -1, 0, 0, 0),
        (21_000, 2, 3, 0, 0, 1500),
        (21_000, -1, -1, 0, 0, 1500),
        (21_000, 1, 3, 0, 0, 0),
        (11_000, -1, -1, 0, 64, 64),
        (11_000, 1, 7, 0, 64, 64),
    ],
    dtype=SAMPLE_DTYPE,
)


def test_a_sample_is_thirty_two_bytes() -> None:
    """The layout equals a C struct without padding."""
    assert SAMPLE_DTYPE.itemsize == 32
    fields, names = SAMPLE_DTYPE.fields, SAMPLE_DTYPE.names
    assert fields is not None and names is not None
    assert [fields[name][1] for name in names] == [0, 8, 12, 14, 16, 24]


def test_rows_are_in_model_time_and_without_empty_queues() -> None:
    """The start is at 1000 ns and the dilation is 2, so wall time 11 000 ns is 5 model us."""
    frame = queue_rows(SAMPLES, switch="s1", start_ns=1000, dilation_factor=2)
    assert frame.schema == QUEUES.empty().schema
    assert frame.rows() == [
        (5.0, "s1", -1, -1, 64, 64),
        (5.0, "s1", 1, 7, 64, 64),
        (10.0, "s1", -1, -1, 0, 1500),
        (10.0, "s1", 2, 3, 0, 1500),
    ]


def test_queues_of_a_class_with_several_have_no_rows_of_their_own() -> None:
    """Rows are by class, so the first queue's sample of 500 B is left out."""
    samples = np.array([(11_000, 1, 3, 0, 800, 900), (11_000, 1, 3, 1, 500, 600)], dtype=SAMPLE_DTYPE)
    assert queue_rows(samples, switch="s1", start_ns=1000, dilation_factor=2).rows() == [(5.0, "s1", 1, 3, 800, 900)]


def test_samples_of_links_have_a_trace_of_their_own() -> None:
    """The samples are received before sent bytes; the columns are sent before received bytes."""
    links = [
        (11_000, 2, -1, -1, 700, 60),
        (11_000, 2, -1, -2, 40, 0),
        (11_000, 1, -1, -1, 0, 1500),
        (900, 1, -1, -1, 5, 5),
        (900, 1, -1, -2, 5, 0),
    ]
    samples = np.concatenate([SAMPLES, np.array(links, dtype=SAMPLE_DTYPE)])
    frame = link_rows(samples, switch="s1", start_ns=1000, dilation_factor=2)
    assert frame.schema == LINKS.empty().schema
    assert frame.rows() == [(5.0, "s1", 1, 1500, 0, 0), (5.0, "s1", 2, 60, 700, 40)]
    alone = queue_rows(SAMPLES, switch="s1", start_ns=1000, dilation_factor=2)
    assert queue_rows(samples, switch="s1", start_ns=1000, dilation_factor=2).equals(alone)


def test_a_truncated_last_sample_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "s1.samples"
    path.write_bytes(np.sort(SAMPLES, order="time_ns").tobytes()[:-5])
    assert np.concatenate([*sample_chunks(path)]).tolist() == np.sort(SAMPLES, order="time_ns")[:-1].tolist()
    assert samples_from_bytes(b"").size == 0


def test_a_switch_that_never_started_has_no_samples(tmp_path: Path) -> None:
    """The file of its samples is missing or empty."""
    assert list(sample_chunks(tmp_path / "none")) == []
    (tmp_path / "empty").touch()
    assert list(sample_chunks(tmp_path / "empty")) == []


@settings(deadline=None)
@given(st.lists(st.integers(0, 30), max_size=60), st.integers(1, 8))
def test_chunks_give_the_rows_of_the_whole_file(
    tmp_path_factory: pytest.TempPathFactory, times: list[int], rows: int
) -> None:
    """Samples of one instant stay in one chunk, so sorting within chunks sorts all rows."""
    path = tmp_path_factory.mktemp("samples") / "s1.samples"
    ports = [(time, 100 - number, 0, 0, number, number + 1) for number, time in enumerate(sorted(times))]
    samples = np.array(ports, dtype=SAMPLE_DTYPE)
    path.write_bytes(samples.tobytes())
    chunks = [queue_rows(chunk, switch="s", start_ns=5, dilation_factor=2) for chunk in sample_chunks(path, rows)]
    whole = queue_rows(samples, switch="s", start_ns=5, dilation_factor=2)
    assert pl.concat([whole.clear(), *chunks]).equals(whole)
    assert all(np.unique(chunk["time_ns"]).size <= rows for chunk in sample_chunks(path, rows))


def test_a_depth_beyond_the_column_is_refused() -> None:
    """The column must not wrap silently at 4 GB."""
    huge = np.array([(1, -1, -1, 0, 0, 1 << 32)], dtype=SAMPLE_DTYPE)
    with pytest.raises(ValueError, match="4294967296 bytes does not fit"):
        queue_rows(huge, switch="s1", start_ns=0, dilation_factor=1)


@given(st.lists(st.integers(0, 10**12), max_size=30), st.integers(0, 10**12), st.integers(1, 10**5))
def test_times_keep_their_order_and_none_is_negative(times: list[int], start: int, factor: int) -> None:
    """Rows are sorted by time, and no sample of the whole buffer after model time 0 is missing."""
    samples = np.array([(time, -1, -1, 0, 0, 0) for time in times], dtype=SAMPLE_DTYPE)
    rows = queue_rows(samples, switch="s", start_ns=start, dilation_factor=factor)["time_us"].to_list()
    assert rows == sorted(rows)
    assert len(rows) == sum(time > start for time in times)
    assert all(row >= 0 for row in rows)
