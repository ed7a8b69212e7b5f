# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Whether a wire is a wire: of frames back to back in the model, how far their real spacing is off bytes over rate.

A frame follows another if its ideal departure is the other's and its own time on the wire, so that the wire was never
idle between them. The measured spacing is that between the two calls that handed them to the kernel; frames that are
handed over in one call have none (softswitch/src/common/spacing.h does the same there).
(docs/sources.md#fidelity)
"""

from hosts.io.lateness import LatenessHistogram
from hosts.io.summaries import SpacingSummary
from wire.units import NS_PER_S

_BIT_NS = 8 * NS_PER_S


class SpacingHistogram:
    """Counts pairs of frames over any number of wires."""

    def __init__(self) -> None:
        self._deviations = LatenessHistogram()
        self._ideal_sum_ns = 0

    def record(self, deviation_ns: int, ideal_ns: int) -> None:
        """One more."""
        self._deviations.record(deviation_ns)
        self._ideal_sum_ns += ideal_ns

    def summary(self) -> SpacingSummary:
        """What has been recorded so far."""
        found = self._deviations.summary()
        ideal_ns = self._ideal_sum_ns / found.count if found.count else 0.0
        return SpacingSummary(found.count, found.p50_ns, found.p99_ns, found.max_ns, ideal_ns)


class WireSpacing:
    """Watches one wire."""

    __slots__ = ("_histogram", "_ideal_ns", "_rate_bps", "_sent_ns")

    def __init__(self, rate_bps: int, histogram: SpacingHistogram) -> None:
        """`rate_bps` in wall time."""
        self._rate_bps = rate_bps
        self._histogram = histogram
        self._ideal_ns = self._sent_ns = 0

    def record(self, size_bytes: int, ideal_ns: int, sent_ns: int) -> None:
        """The wire's next departure: when it should have left, and when it did."""
        wire_ns = size_bytes * _BIT_NS // self._rate_bps
        if 0 <= ideal_ns - self._ideal_ns - wire_ns <= 1:
            self._histogram.record(abs(sent_ns - self._sent_ns - wire_ns), wire_ns)
        self._ideal_ns = ideal_ns
        self._sent_ns = sent_ns
