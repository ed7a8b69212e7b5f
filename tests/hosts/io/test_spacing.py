# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the spacing errors of back-to-back frames."""

from hosts.io.spacing import SpacingHistogram, WireSpacing
from hosts.io.summaries import SpacingSummary

# 1 Gb/s: a byte takes 8 ns.
RATE_BPS = 1_000_000_000
FRAME_BYTES, FRAME_NS = 125, 1000


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
