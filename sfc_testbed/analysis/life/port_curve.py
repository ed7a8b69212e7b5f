# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The waiting time in the queue of a port, from its sampled depth and the bytes that it sent.

The departure curve is the sum of the bytes that the port sent; the arrival curve is the departure curve plus the depth
of the queue. In a first-in first-out queue, the waiting time of a packet is the horizontal distance of the two curves
(docs/sources.md#waiting-times). This holds for a paused or slow port too. Between two samples both curves are straight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfc_testbed.analysis.metrics.percentiles import Values

_BITS_PER_US = 1e6
_LEAST_QUEUE_BYTES = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class PortCurve:
    """The samples of a port. `times_us` begins with 0; all other arrays have as many values."""

    times_us: Values
    departed_bytes: Values
    """The bytes that the port had sent until each time."""
    arrived_bytes: Values
    high_water_bytes: Values
    """The most bytes that were queued in the interval that ends at each time."""
    rate_bps: int

    @classmethod
    def of_samples(
        cls, times_us: Values, departed_bytes: Values, depth_bytes: Values, high_water_bytes: Values, rate_bps: int
    ) -> PortCurve:
        """Return the curves of a port from the samples at the ends of intervals."""
        departed = _from_zero(departed_bytes)
        arrived = np.maximum.accumulate(departed + _from_zero(depth_bytes))
        return cls(_from_zero(times_us), departed, arrived, _from_zero(high_water_bytes), rate_bps)

    def entered_us(self, left_us: Values) -> Values:
        """Return when packets that left the port at these times had entered its queue."""
        departed, arrived = (
            np.interp(left_us, self.times_us, curve) for curve in (self.departed_bytes, self.arrived_bytes)
        )
        place = np.searchsorted(self.arrived_bytes, departed, side="right") - 1
        place = np.clip(place, 0, len(self.times_us) - 2)
        low, high = self.arrived_bytes[place], self.arrived_bytes[place + 1]
        begin, end = self.times_us[place], self.times_us[place + 1]
        share = np.where(high > low, (departed - low) / np.maximum(high - low, 1.0), 1.0)
        entered = np.minimum(begin + np.clip(share, 0.0, 1.0) * (end - begin), left_us)
        return np.where(arrived - departed < _LEAST_QUEUE_BYTES, left_us, entered)

    def most_us(self, begin_us: float, end_us: float) -> float:
        """Return how long the longest queue between two times needs to drain at the rate of the link."""
        first, last = np.searchsorted(self.times_us, (begin_us, end_us))
        peak = self.high_water_bytes[first : last + 1].max(initial=0.0)
        return float(peak) * 8 * _BITS_PER_US / self.rate_bps

    def idle_share(self, begin_us: float, end_us: float) -> float:
        """Return the part of its capacity that the link left unused although packets were queued.

        Only intervals between these times count that begin and end with a queue.
        """
        first = max(0, int(np.searchsorted(self.times_us, begin_us, side="right")) - 1)
        last = int(np.searchsorted(self.times_us, end_us))
        times, departed = self.times_us[first : last + 1], self.departed_bytes[first : last + 1]
        is_queued = self.arrived_bytes[first : last + 1] > departed
        is_busy = is_queued[:-1] & is_queued[1:]
        capacity = np.diff(times)[is_busy].sum() * self.rate_bps / 8 / _BITS_PER_US
        return max(0.0, 1 - float(np.diff(departed)[is_busy].sum() / capacity)) if capacity > 0 else 0.0


def _from_zero(values: Values) -> Values:
    return np.concatenate([[0.0], values])


def saturated(curve: PortCurve, share: float) -> tuple[Values, Values]:
    """Return begin and end of the sampling intervals in which the link carried at least this share of its capacity."""
    lengths = np.diff(curve.times_us)
    sent = np.diff(curve.departed_bytes) * 8 * _BITS_PER_US / curve.rate_bps
    is_busy = sent >= share * lengths
    return curve.times_us[:-1][is_busy], curve.times_us[1:][is_busy]
