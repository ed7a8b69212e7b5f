# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""PowerTCP and theta-PowerTCP (Addanki et al., NSDI'22), as in their authors' simulator: a rate set by power.

The power of a hop is the rate at which bytes arrive times the bytes that are queued and in flight. Divided by that of a
busy hop without a queue, it is 1 at the operating point. It reacts to a queue and to the queue's growth. The arrival
rate is computed from two records of a hop: bytes sent plus growth of the queue. As with HPCC, a record with the same or
an older time stamp is skipped.

Theta-PowerTCP has no telemetry: the RTT stands for the bytes queued and in flight, and its slope for the growth of the
queue. The RTT is measured between the packet's start on the wire and its acknowledgement, so it contains no time in the
NIC. The sources are docs/sources.md#powertcp and docs/sources.md#theta-powertcp.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from mypy_extensions import mypyc_attr
from pydantic import Field

from sfc_testbed.hosts.transport.congestion.base import AckSample, CongestionControl, PathContext, rounded
from sfc_testbed.hosts.transport.congestion.telemetry import HopTelemetry, PathTelemetry
from sfc_testbed.request.checks import PositiveRate, Rate
from sfc_testbed.wire.units import NS_PER_S

_ADDITIVE_THOUSANDTHS: Final = 6
_MIN_THOUSANDTHS: Final = 4
"""The simulator adds 150 Mb/s and has a minimum of 100 Mb/s at 25 Gb/s."""
_LEAST_ARRIVALS: Final = 0.5
"""Least arrival rate that is used, as a fraction of the hop's rate."""
_LEAST_SLOPE: Final = 0.5
"""Least value of 1 + the RTT's slope that is used."""


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


@dataclass(frozen=True, slots=True)
class ThetaPowertcpParameters:
    """Parameters of theta-PowerTCP. The defaults are its simulator's, scaled to the line rate."""

    gamma: Annotated[float, Field(gt=0, le=1)] = 0.7
    """Weight of a new rate."""
    allowance: Annotated[float, Field(ge=1, le=10)] = 1.05
    """Factor of the base RTT at which the rate stays."""
    additive_bps: Rate | None = None
    """beta: additive increase; None: 0.6 % of the line rate."""
    min_rate_bps: PositiveRate | None = None
    """Minimum rate (MIN_RATE); None: 0.4 % of the line rate."""


@mypyc_attr(allow_interpreted_subclasses=True)
class PowerControl(CongestionControl):
    """A sender with a rate and a window computed from the power.

    Its state is the rate, the rate at the start of this round trip, and the smoothed power.
    """

    __slots__ = (
        "_additive_bps", "_gamma", "_min_rate_bps", "_round_until_bytes", "_target", "power", "reference_bps",
    )  # fmt: skip

    @classmethod
    def resolve(cls, parameters: Any, path: PathContext) -> Any:
        """Return the parameters with unset values derived from the line rate."""
        additive_bps, min_rate_bps = parameters.additive_bps, parameters.min_rate_bps
        if additive_bps is None:
            additive_bps = path.line_rate_bps * _ADDITIVE_THOUSANDTHS // 1_000
        if min_rate_bps is None:
            min_rate_bps = max(1, path.line_rate_bps * _MIN_THOUSANDTHS // 1_000)
        return replace(parameters, additive_bps=additive_bps, min_rate_bps=min_rate_bps)

    def __init__(self, parameters: Any, path: PathContext, target: float) -> None:
        """Start at the line rate. `target` is the power at which the rate stays."""
        super().__init__(parameters, path)
        self._gamma: float = parameters.gamma
        self._target = target
        self._additive_bps: int = parameters.additive_bps
        self._min_rate_bps: int = min(parameters.min_rate_bps, path.line_rate_bps)
        self.power = 1.0
        self.reference_bps = float(path.line_rate_bps)
        self._round_until_bytes = 0
        self._set_rate(self.reference_bps)

    def _follow(self, sample: AckSample, *, is_measured: bool) -> None:
        """Compute the rate if the acknowledgement measured the power, and begin a new round trip if one is over."""
        is_round_over = sample.cumulative_bytes > self._round_until_bytes
        if is_measured:
            rate_bps = self.reference_bps * self._target / self.power + self._additive_bps
            rate_bps = self._set_rate(self._gamma * rate_bps + (1 - self._gamma) * self.reference_bps)
            if is_round_over:
                self.reference_bps = rate_bps
        if is_round_over:
            self._round_until_bytes = sample.sent_bytes

    def _set_rate(self, rate_bps: float) -> float:
        """Clamp the rate, set the pacing rate and the window, and return the clamped rate."""
        line_rate_bps = self.path.line_rate_bps
        rate_bps = min(max(rate_bps, self._min_rate_bps), line_rate_bps)
        self.rate_bps = max(1, rounded(rate_bps))
        self.window_bytes = max(1, int(self.path.bdp_bytes * rate_bps / line_rate_bps))
        return rate_bps


@mypyc_attr(allow_interpreted_subclasses=True)
class Powertcp(PowerControl):
    """PowerTCP's sender, which measures the power with the telemetry of the switches."""

    __slots__ = ("_telemetry",)

    wants_telemetry = True
    needs_one_path = True

    Parameters = PowertcpParameters

    def __init__(self, parameters: PowertcpParameters, path: PathContext) -> None:
        super().__init__(parameters, path, parameters.target)
        self._telemetry = PathTelemetry()

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """Compute the rate from the power. For the first packet of a path, only the telemetry is stored."""
        if not sample.hops:
            return
        telemetry = self._telemetry
        telemetry.select(sample.path)
        is_same_path = len(sample.hops) == len(telemetry.hops)
        if is_same_path and not self._measure(sample.hops, now_ns):
            return
        telemetry.hops = sample.hops
        self._follow(sample, is_measured=is_same_path)

    def _measure(self, hops: tuple[HopTelemetry, ...], now_ns: int) -> bool:
        """Update the power with the largest power of all hops.

        Returns False if a hop has no rate or its time stamp is not newer than the stored one.
        """
        layout, base_rtt_ns = self.path.telemetry, self.path.base_rtt_ns
        max_power, max_elapsed_ns = 0.0, 0
        stored_hops = self._telemetry.hops
        for hop in range(len(hops)):
            new, old = hops[hop], stored_hops[hop]
            elapsed_ns = layout.elapsed_ns(new, old, base_rtt_ns)
            if elapsed_ns <= 0 or not new.rate_bps:
                if elapsed_ns < 0:
                    self._telemetry.hops = hops
                return False
            sent_bytes = (new.sent_bytes - old.sent_bytes) % layout.sent_modulus_bytes
            arrived_bytes = sent_bytes + new.queue_bytes - old.queue_bytes
            arrivals = max(_LEAST_ARRIVALS, arrived_bytes * 8 * NS_PER_S / elapsed_ns / new.rate_bps)
            hop_bdp_bytes = new.rate_bps * base_rtt_ns / (8 * NS_PER_S)
            power = arrivals * (1 + new.queue_bytes / hop_bdp_bytes)
            if power > max_power:
                max_power, max_elapsed_ns = power, elapsed_ns
        weight = min(self._telemetry.span_ns(max_elapsed_ns, now_ns), base_rtt_ns) / base_rtt_ns
        self.power = self.power * (1 - weight) + max_power * weight
        return True


@mypyc_attr(allow_interpreted_subclasses=True)
class ThetaPowertcp(PowerControl):
    """Theta-PowerTCP's sender, which measures the power with the RTT and its slope.

    Its state includes the last RTT and its time, and the smallest RTT, which is at most that of the network's longest
    path.
    """

    __slots__ = ("_allowance", "_last_ns", "_last_rtt_ns", "base_rtt_ns")

    Parameters = ThetaPowertcpParameters

    def __init__(self, parameters: ThetaPowertcpParameters, path: PathContext) -> None:
        super().__init__(parameters, path, 1.0)
        self._allowance = parameters.allowance
        self.base_rtt_ns: int = path.base_rtt_ns
        self._last_rtt_ns = 0
        self._last_ns = -1

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """Compute the rate from the power. The first RTT is only stored."""
        rtt_ns = sample.rtt_ns
        if not rtt_ns or now_ns <= self._last_ns:
            return
        self.base_rtt_ns = min(self.base_rtt_ns, rtt_ns)
        is_first = self._last_ns < 0
        if not is_first:
            self._measure(rtt_ns, now_ns - self._last_ns)
        self._last_rtt_ns = rtt_ns
        self._last_ns = now_ns
        self._follow(sample, is_measured=not is_first)

    def _measure(self, rtt_ns: int, elapsed_ns: int) -> None:
        """Update the power with the RTT and its slope since the last acknowledgement."""
        base_rtt_ns = self.base_rtt_ns
        slope = max(_LEAST_SLOPE, 1 + (rtt_ns - self._last_rtt_ns) / elapsed_ns)
        weight = min(elapsed_ns, base_rtt_ns) / base_rtt_ns
        self.power = self.power * (1 - weight) + slope * rtt_ns / (self._allowance * base_rtt_ns) * weight
