# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A histogram of how late things were done, in wall ns: sixteen buckets an octave, so percentiles are within 1/16.

Its buckets are those of softswitch/src/common/lateness.h, so that hosts and switches are judged by one measure.
"""

from collections import Counter
from dataclasses import dataclass

_SUB_BITS = 4


@dataclass(frozen=True, slots=True)
class LatenessSummary:
    """How late things were done, in wall ns; without a record all are 0."""

    count: int
    p50_ns: float
    p99_ns: float
    max_ns: float


class LatenessHistogram:
    """Counts without keeping samples. Early counts as on time."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._max_ns = 0

    def record(self, late_ns: int) -> None:
        """One more."""
        if late_ns <= 0:
            self._counts[0] += 1
            return
        shift = max(0, late_ns.bit_length() - 1 - _SUB_BITS)
        self._counts[(((late_ns >> shift) + 1) << shift) - 1] += 1
        if late_ns > self._max_ns:
            self._max_ns = late_ns

    def percentile_ns(self, share: float) -> int:
        """Greatest value of the bucket in which that share (0..1) of all records is reached; 0 without records."""
        wanted = share * self._counts.total()
        seen = 0
        for greatest_ns in sorted(self._counts):
            seen += self._counts[greatest_ns]
            if seen >= wanted:
                return min(greatest_ns, self._max_ns)
        return 0

    def summary(self) -> LatenessSummary:
        """What has been recorded so far."""
        return LatenessSummary(self._counts.total(), self.percentile_ns(0.50), self.percentile_ns(0.99), self._max_ns)
