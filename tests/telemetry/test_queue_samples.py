# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Queue samples of the switch as rows of the queues trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telemetry.queue_samples import SAMPLE_DTYPE, model_us, queue_rows, read_samples, samples_from_bytes
from telemetry.schema import QUEUES

SAMPLES = np.array(
    [
        (900, -1, -1, 0, 0),
        (21_000, 2, 3, 0, 1500),
        (21_000, -1, -1, 0, 1500),
        (21_000, 1, 3, 0, 0),
        (11_000, -1, -1, 64, 64),
        (11_000, 1, 7, 64, 64),
    ],
    dtype=SAMPLE_DTYPE,
)


def test_a_sample_is_thirty_two_bytes() -> None:
    """The layout is that of a C struct without padding."""
    assert SAMPLE_DTYPE.itemsize == 32
    fields, names = SAMPLE_DTYPE.fields, SAMPLE_DTYPE.names
    assert fields is not None and names is not None
    assert [fields[name][1] for name in names] == [0, 8, 12, 16, 24]


def test_rows_are_in_model_time_and_without_empty_queues() -> None:
    """Dilation 2, start at 1000 ns: 11 000 ns of wall time is 5 model us. Order: time, port, class."""
    frame = queue_rows(SAMPLES, switch="s1", start_ns=1000, dilation_factor=2)
    assert frame.schema == QUEUES.empty().schema
    assert frame.rows() == [
        (5.0, "s1", -1, -1, 64, 64),
        (5.0, "s1", 1, 7, 64, 64),
        (10.0, "s1", -1, -1, 0, 1500),
        (10.0, "s1", 2, 3, 0, 1500),
    ]


def test_a_cut_last_sample_is_left_out(tmp_path: Path) -> None:
    """A file that ends inside a sample gives the whole ones before it."""
    path = tmp_path / "s1.samples"
    path.write_bytes(SAMPLES.tobytes()[:-5])
    assert read_samples(path).tolist() == SAMPLES[:-1].tolist()
    assert samples_from_bytes(b"").size == 0


def test_no_samples_give_an_empty_frame() -> None:
    """A switch that never sampled has no rows but all columns."""
    frame = queue_rows(SAMPLES[:0], switch="s1", start_ns=0, dilation_factor=1)
    assert frame.height == 0
    assert frame.schema == QUEUES.empty().schema


def test_a_depth_beyond_the_column_is_refused() -> None:
    """No silent wrap-around at 4 GB."""
    huge = np.array([(1, -1, -1, 0, 1 << 32)], dtype=SAMPLE_DTYPE)
    with pytest.raises(ValueError, match="4294967296 bytes does not fit"):
        queue_rows(huge, switch="s1", start_ns=0, dilation_factor=1)


def test_a_dilation_below_one_is_refused() -> None:
    """Time never runs faster than the wall."""
    with pytest.raises(ValueError, match="at least 1"):
        model_us(np.array([1]), start_ns=0, dilation_factor=0)


@given(st.lists(st.integers(0, 10**12), max_size=30), st.integers(0, 10**12), st.integers(1, 10**5))
def test_times_keep_their_order_and_none_is_negative(times: list[int], start: int, factor: int) -> None:
    """Whatever the samples, rows ascend from model time 0 and whole-buffer samples since then are all there."""
    samples = np.array([(time, -1, -1, 0, 0) for time in times], dtype=SAMPLE_DTYPE)
    rows = queue_rows(samples, switch="s", start_ns=start, dilation_factor=factor)["time_us"].to_list()
    assert rows == sorted(rows)
    assert len(rows) == sum(time >= start for time in times)
    assert all(row >= 0 for row in rows)
