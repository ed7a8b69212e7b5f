# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A histogram of lateness in wall ns, with sixteen buckets per octave, so that percentiles are exact to 1/16.

The buckets are the same as in softswitch's c/common/lateness.h, so lateness of hosts and switches is comparable.
"""

from sfc_testbed.hosts.io.summaries import LatenessSummary

_SUB_BITS = 4


class LatenessHistogram:
    """A histogram that keeps bucket counts instead of samples. Negative lateness counts as 0."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._max_ns = 0

    def record(self, late_ns: int) -> None:
        greatest_ns = 0
        if late_ns > 0:
            shift = max(0, late_ns.bit_length() - 1 - _SUB_BITS)
            greatest_ns = (((late_ns >> shift) + 1) << shift) - 1
        self._counts[greatest_ns] = self._counts.get(greatest_ns, 0) + 1
        if late_ns > self._max_ns:
            self._max_ns = late_ns

    def percentile_ns(self, share: float) -> int:
        """Return the upper bound of the bucket that contains the percentile `share` (0..1); 0 without values."""
        target_count = share * sum(self._counts.values())
        count = 0
        for greatest_ns in sorted(self._counts):
            count += self._counts[greatest_ns]
            if count >= target_count:
                return min(greatest_ns, self._max_ns)
        return 0

    def summary(self) -> LatenessSummary:
        """Return a summary of all values recorded so far."""
        count = sum(self._counts.values())
        return LatenessSummary(count, self.percentile_ns(0.50), self.percentile_ns(0.99), self._max_ns)
