# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Errors in the spacing of back-to-back frames: measured spacing compared with frame size divided by line rate.

Two frames are back to back if the wire is never idle between them: the second one's ideal departure is the first one's
plus its own serialization time. The measured spacing is the time between the two calls that handed the frames to the
kernel, so it is 0 for frames handed over in one call. c/common/spacing.h of softswitch does the same.
(docs/sources.md#fidelity)
"""

from sfc_testbed.hosts.io.lateness import LatenessHistogram
from sfc_testbed.hosts.io.summaries import SpacingSummary
from sfc_testbed.wire.units import NS_PER_S

_BIT_NS = 8 * NS_PER_S


class SpacingHistogram:
    """A histogram of spacing errors of back-to-back frames, over any number of wires."""

    def __init__(self) -> None:
        self._deviations = LatenessHistogram()
        self._ideal_sum_ns = 0

    def record(self, deviation_ns: int, ideal_ns: int) -> None:
        self._deviations.record(deviation_ns)
        self._ideal_sum_ns += ideal_ns

    def summary(self) -> SpacingSummary:
        """Return a summary of all pairs recorded so far."""
        deviations = self._deviations.summary()
        ideal_ns = self._ideal_sum_ns / deviations.count if deviations.count else 0.0
        return SpacingSummary(deviations.count, deviations.p50_ns, deviations.p99_ns, deviations.max_ns, ideal_ns)


class WireSpacing:
    """The departures on one wire, recorded into a histogram."""

    __slots__ = ("_histogram", "_ideal_ns", "_sent_ns", "rate_bps")

    def __init__(self, rate_bps: int, histogram: SpacingHistogram) -> None:
        """Record the spacing errors into `histogram`; `rate_bps` is in wall units and may change."""
        self.rate_bps = rate_bps
        self._histogram = histogram
        self._ideal_ns = self._sent_ns = 0

    def record(self, size_bytes: int, ideal_ns: int, sent_ns: int) -> None:
        """Record the wire's next departure, with its ideal and its actual time."""
        wire_ns = size_bytes * _BIT_NS // self.rate_bps
        if 0 <= ideal_ns - self._ideal_ns - wire_ns <= 1:
            self._histogram.record(abs(sent_ns - self._sent_ns - wire_ns), wire_ns)
        self._ideal_ns = ideal_ns
        self._sent_ns = sent_ns
