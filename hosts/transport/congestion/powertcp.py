# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""PowerTCP (Addanki et al., NSDI'22), as in its authors' simulator (docs/sources.md#powertcp): a rate set by power.

The power of a hop is the rate at which bytes arrive times the bytes that are queued and in flight. Divided by that of a
busy hop without a queue, it is 1 at the operating point. It reacts to a queue and to the queue's growth. The arrival
rate is computed from two records of a hop: bytes sent plus growth of the queue. As with HPCC, a record with the same or
an older time stamp is skipped.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Final

from mypy_extensions import mypyc_attr
from pydantic import Field

from hosts.transport.congestion.base import AckSample, CongestionControl, PathContext
from hosts.transport.congestion.telemetry import HopTelemetry
from request.checks import PositiveRate, Rate
from wire.units import NS_PER_S

_ADDITIVE_THOUSANDTHS: Final = 6
_MIN_THOUSANDTHS: Final = 4
"""The simulator adds 150 Mb/s and has a minimum of 100 Mb/s at 25 Gb/s."""
_LEAST_ARRIVALS: Final = 0.5
"""Least arrival rate that is used, as a share of the hop's rate."""


@dataclass(frozen=True, slots=True)
class PowertcpParameters:
    """Parameters of PowerTCP. The defaults are its simulator's, scaled to the line rate (docs/sources.md#powertcp)."""

    gamma: Annotated[float, Field(gt=0, le=1)] = 0.9
    """Weight of a new rate."""
    target: Annotated[float, Field(gt=0, le=2)] = 0.95
    """Power at which the rate stays (U_TARGET)."""
    additive_bps: Rate | None = None
    """beta: additive increase; None: 0.6 % of the line rate."""
    min_rate_bps: PositiveRate | None = None
    """Minimum rate (MIN_RATE); None: 0.4 % of the line rate."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Powertcp(CongestionControl):
    """PowerTCP's sender: a rate and a window computed from the telemetry of the switches.

    Its state is the rate, the rate at the start of this round trip, the smoothed power, and the last telemetry.
    """

    __slots__ = (
        "_additive_bps", "_gamma", "_hops", "_min_rate_bps", "_round_until_bytes", "_target", "power", "reference_bps",
    )  # fmt: skip

    wants_telemetry = True
    needs_one_path = True

    Parameters = PowertcpParameters

    @classmethod
    def resolve(cls, parameters: PowertcpParameters, path: PathContext) -> PowertcpParameters:
        """Return the parameters with unset values derived from the line rate."""
        additive_bps, min_rate_bps = parameters.additive_bps, parameters.min_rate_bps
        if additive_bps is None:
            additive_bps = path.line_rate_bps * _ADDITIVE_THOUSANDTHS // 1_000
        if min_rate_bps is None:
            min_rate_bps = max(1, path.line_rate_bps * _MIN_THOUSANDTHS // 1_000)
        return replace(parameters, additive_bps=additive_bps, min_rate_bps=min_rate_bps)

    def __init__(self, parameters: PowertcpParameters, path: PathContext) -> None:
        super().__init__(parameters, path)
        assert parameters.additive_bps is not None and parameters.min_rate_bps is not None  # resolved
        self._gamma = parameters.gamma
        self._target = parameters.target
        self._additive_bps: int = parameters.additive_bps
        self._min_rate_bps: int = min(parameters.min_rate_bps, path.line_rate_bps)
        self.power = 1.0
        self.reference_bps = float(path.line_rate_bps)
        self._round_until_bytes = 0
        self._hops: tuple[HopTelemetry, ...] = ()
        self._set_rate(self.reference_bps)

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """Compute the rate from the power. For the first packet and on another path, only the telemetry is stored."""
        if not sample.hops:
            return
        is_round_over = sample.cumulative_bytes > self._round_until_bytes
        if len(sample.hops) != len(self._hops):
            self._hops = sample.hops
        elif self._measure(sample.hops):
            self._hops = sample.hops
            rate_bps = self.reference_bps * self._target / self.power + self._additive_bps
            rate_bps = self._set_rate(self._gamma * rate_bps + (1 - self._gamma) * self.reference_bps)
            if is_round_over:
                self.reference_bps = rate_bps
        else:
            return
        if is_round_over:
            self._round_until_bytes = sample.sent_bytes

    def _measure(self, hops: tuple[HopTelemetry, ...]) -> bool:
        """Update the power with that of the most powerful hop.

        Returns False if a hop has no rate or its time stamp is not newer than the stored one.
        """
        layout, base_rtt_ns = self.path.telemetry, self.path.base_rtt_ns
        max_power, max_elapsed_ns = 0.0, 0
        stored_hops = self._hops
        for hop in range(len(hops)):
            new, old = hops[hop], stored_hops[hop]
            elapsed_ns = layout.elapsed_ns(new, old, base_rtt_ns)
            if elapsed_ns <= 0 or not new.rate_bps:
                if elapsed_ns < 0:
                    self._hops = hops
                return False
            sent_bytes = (new.sent_bytes - old.sent_bytes) % layout.sent_modulus_bytes
            arrived_bytes = sent_bytes + new.queue_bytes - old.queue_bytes
            arrivals = max(_LEAST_ARRIVALS, arrived_bytes * 8 * NS_PER_S / elapsed_ns / new.rate_bps)
            hop_bdp_bytes = new.rate_bps * base_rtt_ns / (8 * NS_PER_S)
            power = arrivals * (1 + new.queue_bytes / hop_bdp_bytes)
            if power > max_power:
                max_power, max_elapsed_ns = power, elapsed_ns
        weight = min(max_elapsed_ns, base_rtt_ns) / base_rtt_ns
        self.power = self.power * (1 - weight) + max_power * weight
        return True

    def _set_rate(self, rate_bps: float) -> float:
        """Clamp the rate, set the pacing rate and the window, and return the clamped rate."""
        line_rate_bps = self.path.line_rate_bps
        rate_bps = min(max(rate_bps, self._min_rate_bps), line_rate_bps)
        self.rate_bps = max(1, round(rate_bps))
        self.window_bytes = max(1, int(self.path.bdp_bytes * rate_bps / line_rate_bps))
        return rate_bps
