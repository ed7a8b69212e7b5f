# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A histogram of how late things were done, in wall ns: sixteen buckets an octave, so percentiles are within 1/16.

Its buckets are those of softswitch/src/common/lateness.h, so that hosts and switches are judged by one measure.
"""

from hosts.io.summaries import LatenessSummary

_SUB_BITS = 4


class LatenessHistogram:
    """Counts without keeping samples. Early counts as on time."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._max_ns = 0

    def record(self, late_ns: int) -> None:
        """One more."""
        greatest_ns = 0
        if late_ns > 0:
            shift = max(0, late_ns.bit_length() - 1 - _SUB_BITS)
            greatest_ns = (((late_ns >> shift) + 1) << shift) - 1
        self._counts[greatest_ns] = self._counts.get(greatest_ns, 0) + 1
        if late_ns > self._max_ns:
            self._max_ns = late_ns

    def percentile_ns(self, share: float) -> int:
        """Greatest value of the bucket in which that share (0..1) of all records is reached; 0 without records."""
        wanted = share * sum(self._counts.values())
        seen = 0
        for greatest_ns in sorted(self._counts):
            seen += self._counts[greatest_ns]
            if seen >= wanted:
                return min(greatest_ns, self._max_ns)
        return 0

    def summary(self) -> LatenessSummary:
        """What has been recorded so far."""
        count = sum(self._counts.values())
        return LatenessSummary(count, self.percentile_ns(0.50), self.percentile_ns(0.99), self._max_ns)
