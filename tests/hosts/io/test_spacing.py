# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Spacing of frames that follow one another on a wire."""

from hosts.io.spacing import SpacingHistogram, WireSpacing
from hosts.io.summaries import SpacingSummary

# 1 Gb/s: a byte takes 8 ns.
RATE_BPS = 1_000_000_000
FRAME_BYTES, FRAME_NS = 125, 1000


def _summary(*departures: tuple[int, int]) -> SpacingSummary:
    """Of frames of 125 B that should have left at an ideal time, and did at another."""
    histogram = SpacingHistogram()
    wire = WireSpacing(RATE_BPS, histogram)
    for ideal_ns, sent_ns in departures:
        wire.record(FRAME_BYTES, ideal_ns, sent_ns)
    return histogram.summary()


def test_equally_late_frames_keep_their_spacing() -> None:
    """Lateness is not judged here."""
    start = 50_000
    found = _summary(*((start + number * FRAME_NS, start + number * FRAME_NS + 700) for number in range(5)))
    assert found == SpacingSummary(count=4, p50_ns=0, p99_ns=0, max_ns=0, ideal_ns=FRAME_NS)


def test_a_stutter_is_off_in_both_directions() -> None:
    """One frame is 300 ns late: the spacing before it is too long, the one after it too short."""
    found = _summary((50_000, 50_000), (51_000, 51_300), (52_000, 52_000))
    assert (found.count, found.p50_ns, found.max_ns) == (2, 300, 300)


def test_a_burst_is_off_by_all_that_should_lie_between() -> None:
    """Three frames at once."""
    found = _summary((50_000, 52_000), (51_000, 52_000), (52_000, 52_000))
    assert (found.count, found.max_ns) == (2, FRAME_NS)


def test_frames_after_an_idle_wire_are_no_pair() -> None:
    """Nor the first one, nor one that the model moved closer than bytes over rate."""
    assert _summary((50_000, 50_000), (51_002, 99_000), (51_900, 99_000)).count == 0
    assert _summary((50_000, 50_000), (51_001, 99_000)).count == 1, "a remainder below one ns is carried on"
    assert _summary() == SpacingSummary(0, 0, 0, 0, 0)
