# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the lateness histogram, of line readers and writers, and of the monotonic timer."""

import os
import select

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosts.io.lateness import LatenessHistogram
from hosts.io.lines import LineReader, LineWriter
from hosts.io.summaries import LatenessSummary
from hosts.io.timer import MonotonicTimer


@given(st.lists(st.integers(-1000, 10**9), min_size=1, max_size=200), st.sampled_from([0.5, 0.99, 1.0]))
def test_percentiles_are_at_most_a_sixteenth_too_high(samples: list[int], share: float) -> None:
    histogram = LatenessHistogram()
    for sample in samples:
        histogram.record(sample)
    ordered = sorted(max(0, sample) for sample in samples)
    true = ordered[max(0, -(-int(share * 100) * len(ordered) // 100) - 1)]
    assert true <= histogram.percentile_ns(share) <= true + true / 16


def test_an_empty_histogram_reports_zeros() -> None:
    assert LatenessHistogram().summary() == LatenessSummary(count=0, p50_ns=0, p99_ns=0, max_ns=0)


def test_a_summary_has_the_count_and_the_exact_maximum() -> None:
    histogram = LatenessHistogram()
    for late_ns in (0, 5, 5, 1_000, 100_000):
        histogram.record(late_ns)
    summary = histogram.summary()
    assert (summary.count, summary.max_ns) == (5, 100_000)
    assert summary.p50_ns == 5


def test_a_writer_does_not_block_on_a_slow_reader() -> None:
    reading, writing = os.pipe()
    writer = LineWriter(writing)
    line = b"x" * 1000 + b"\n"
    for _ in range(200):
        writer.write(line)
    assert writer.flush() is False
    reader = LineReader(reading)
    lines: list[str] = []
    while len(lines) < 200:
        lines += reader.lines()
        writer.flush()
    assert lines == ["x" * 1000] * 200
    os.close(writing)
    assert reader.lines() == []
    assert reader.is_closed
    os.close(reading)


def test_lines_for_a_closed_reader_are_discarded() -> None:
    """Check that an agent can end normally after the runner has died."""
    reading, writing = os.pipe()
    os.close(reading)
    writer = LineWriter(writing)
    writer.write(b"late\n")
    assert writer.flush() is True
    writer.drain()
    os.close(writing)


def test_lines_are_joined_from_partial_reads() -> None:
    reading, writing = os.pipe()
    reader = LineReader(reading)
    os.write(writing, b"sta")
    assert reader.lines() == []
    os.write(writing, b"rt 5\nstop\nrest")
    assert reader.lines() == ["start 5", "stop"]
    assert not reader.is_closed
    os.close(writing)
    reader.lines()
    assert reader.is_closed
    os.close(reading)


@pytest.mark.parametrize("instant_ns", [0, 1], ids=["zero", "long ago"])
def test_a_timer_for_the_past_fires_immediately_and_once(instant_ns: int) -> None:
    timer = MonotonicTimer()
    timer.arm(instant_ns)
    assert select.select([timer], [], [], 10)[0] == [timer]
    timer.clear()
    assert select.select([timer], [], [], 0)[0] == []
    timer.clear()
    timer.close()


def test_a_timer_can_be_cancelled() -> None:
    timer = MonotonicTimer()
    timer.arm(1)
    timer.arm(None)
    assert select.select([timer], [], [], 0)[0] == []
    timer.close()
