# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of lateness and spacing, of line readers and writers, and of the monotonic timer."""

import os
import select

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.hosts.io.late_bins import LateBin, LateBins, late_bin_ns
from sfc_testbed.hosts.io.lateness import LatenessHistogram
from sfc_testbed.hosts.io.lines import LineReader, LineWriter
from sfc_testbed.hosts.io.spacing import SpacingHistogram, WireSpacing
from sfc_testbed.hosts.io.summaries import LatenessSummary, SpacingSummary
from sfc_testbed.hosts.io.timer import MonotonicTimer
from sfc_testbed.wire.dilation import Dilation

# 1 Gb/s: a byte takes 8 ns.
RATE_BPS = 1_000_000_000
FRAME_BYTES, FRAME_NS = 125, 1000


@given(st.lists(st.integers(-1000, 10**9), min_size=1, max_size=200), st.sampled_from([0.5, 0.99, 1.0]))
def test_percentiles_are_at_most_a_sixteenth_too_high(samples: list[int], share: float) -> None:
    histogram = LatenessHistogram()
    for sample in samples:
        histogram.record(sample)
    ordered = sorted(max(0, sample) for sample in samples)
    true = ordered[max(0, -(-int(share * 100) * len(ordered) // 100) - 1)]
    assert true <= histogram.percentile_ns(share) <= true + true / 16


def test_a_summary_has_the_count_and_the_exact_maximum() -> None:
    histogram = LatenessHistogram()
    assert histogram.summary() == LatenessSummary(count=0, p50_ns=0, p99_ns=0, max_ns=0)
    for late_ns in (0, 5, 5, 1_000, 100_000):
        histogram.record(late_ns)
    summary = histogram.summary()
    assert (summary.count, summary.p50_ns, summary.max_ns) == (5, 5, 100_000)


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


def test_an_interval_has_the_number_of_departures_and_the_maximum_lateness() -> None:
    """Departures before the epoch and intervals without departures are left out."""
    bins = LateBins(epoch_ns=1_000, width_ns=100)
    for sent_ns, late_ns in ((900, 99), (1_000, 5), (1_099, 7), (1_050, 6), (1_300, 0), (1_399, 3)):
        bins.record(sent_ns, late_ns)
    assert bins.take() == [LateBin(1_100, 3, 7)]
    bins.record(1_400, 1)
    assert bins.take() == [LateBin(1_400, 2, 3)]
    assert bins.take() == []
    assert bins.take(is_final=True) == [LateBin(1_500, 1, 1)]
    assert bins.take(is_final=True) == []


def test_intervals_are_10_model_us_but_at_least_10_wall_ms() -> None:
    assert late_bin_ns(Dilation(10_000)) == 100_000_000
    assert late_bin_ns(Dilation(1)) == 10_000_000


def _summary(*departures: tuple[int, int]) -> SpacingSummary:
    """Return the summary for frames of 125 B, each with its ideal and its actual departure time."""
    histogram = SpacingHistogram()
    wire = WireSpacing(RATE_BPS, histogram)
    for ideal_ns, sent_ns in departures:
        wire.record(FRAME_BYTES, ideal_ns, sent_ns)
    return histogram.summary()


def test_equally_late_frames_have_no_spacing_error() -> None:
    start = 50_000
    summary = _summary(*((start + number * FRAME_NS, start + number * FRAME_NS + 700) for number in range(5)))
    assert summary == SpacingSummary(count=4, p50_ns=0, p99_ns=0, max_ns=0, ideal_ns=FRAME_NS)


def test_one_late_frame_causes_two_spacing_errors() -> None:
    """If one frame is 300 ns late, the spacing before it is too long and the spacing after it too short."""
    summary = _summary((50_000, 50_000), (51_000, 51_300), (52_000, 52_000))
    assert (summary.count, summary.p50_ns, summary.max_ns) == (2, 300, 300)


def test_frames_sent_at_once_have_the_full_spacing_as_error() -> None:
    summary = _summary((50_000, 52_000), (51_000, 52_000), (52_000, 52_000))
    assert (summary.count, summary.max_ns) == (2, FRAME_NS)


def test_frames_that_are_not_back_to_back_are_not_counted() -> None:
    assert _summary((50_000, 50_000), (51_002, 99_000), (51_900, 99_000)).count == 0
    assert _summary((50_000, 50_000), (51_001, 99_000)).count == 1, "a remainder below 1 ns is carried over"
    assert _summary() == SpacingSummary(0, 0, 0, 0, 0)
