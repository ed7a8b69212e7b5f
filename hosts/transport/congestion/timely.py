# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""TIMELY (Mittal et al., SIGCOMM'15), as in the HPCC simulator (docs/sources.md#timely): a rate set by the RTT's slope.

The rate changes once in a round trip, which ends when everything that had been sent at its start is acknowledged. The
RTT is measured between the packet's start on the wire and its acknowledgement, so it contains no time in the NIC.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Final

from mypy_extensions import mypyc_attr
from pydantic import Field

from sfc_testbed.hosts.transport.congestion.base import AckSample, CongestionControl, PathContext
from sfc_testbed.request.checks import Count, Nanoseconds, PositiveNanoseconds, PositiveRate, Rate

_ADDITIVE_SHARE: Final = 1_000
_HYPER_SHARE: Final = 200
"""The simulator's increments are 10 and 50 Mb/s for each 10 Gb/s of line rate."""


@dataclass(frozen=True, slots=True)
class TimelyParameters:
    """Parameters of TIMELY. The defaults are the HPCC simulator's (docs/sources.md#timely)."""

    weight: Annotated[float, Field(gt=0, le=1)] = 0.875
    """alpha (TimelyAlpha): weight of a new difference of RTTs in their average."""
    beta: Annotated[float, Field(gt=0, le=1)] = 0.8
    """Strength of decreases (TimelyBeta)."""
    low_ns: Nanoseconds = 50_000
    """T_low (TimelyTLow): the rate always increases below this RTT."""
    high_ns: PositiveNanoseconds = 500_000
    """T_high (TimelyTHigh): the rate always decreases above this RTT."""
    min_rtt_ns: PositiveNanoseconds = 20_000
    """minRTT (TimelyMinRtt): RTT by which the average difference is divided to get the gradient."""
    additive_bps: Rate | None = None
    """delta (RATE_AI): increase after a round trip; None: 1/1000 of the line rate, 100 Mb/s at 100 Gb/s."""
    hyper_bps: Rate | None = None
    """Increase after more than `hyper_after` increases in a row (RATE_HAI); None: 1/200 of the line rate."""
    hyper_after: Count = 5
    """N: number of consecutive increases by `additive_bps`."""
    min_rate_bps: PositiveRate = 1_000_000_000
    """Minimum rate (MIN_RATE)."""
    has_window: bool = False
    """Whether a window of one BDP x rate / line rate limits the bytes in flight (`timely_vwin` of the simulator)."""

    def __post_init__(self) -> None:
        """Refuse thresholds in the wrong order."""
        if self.low_ns > self.high_ns:
            raise ValueError(f"low_ns: must be at most high_ns ({self.high_ns} ns), not {self.low_ns}")


@mypyc_attr(allow_interpreted_subclasses=True)
class Timely(CongestionControl):
    """TIMELY's sender: a rate that follows the RTT and its gradient, without a window by default.

    Its state is the rate, the last RTT, the average difference between consecutive RTTs, and the number of consecutive
    increases.
    """

    __slots__ = (
        "_additive_bps", "_beta", "_has_window", "_high_ns", "_hyper_after", "_hyper_bps", "_increases", "_last_rtt_ns",
        "_low_ns", "_min_rate_bps", "_min_rtt_ns", "_round_until_bytes", "_weight", "difference_ns",
    )  # fmt: skip

    repaces = False

    Parameters = TimelyParameters

    @classmethod
    def resolve(cls, parameters: TimelyParameters, path: PathContext) -> TimelyParameters:
        """Return the parameters with unset values derived from the line rate."""
        additive_bps, hyper_bps = parameters.additive_bps, parameters.hyper_bps
        if additive_bps is None:
            additive_bps = path.line_rate_bps // _ADDITIVE_SHARE
        if hyper_bps is None:
            hyper_bps = path.line_rate_bps // _HYPER_SHARE
        return replace(parameters, additive_bps=additive_bps, hyper_bps=hyper_bps)

    def __init__(self, parameters: TimelyParameters, path: PathContext) -> None:
        super().__init__(parameters, path)
        assert parameters.additive_bps is not None and parameters.hyper_bps is not None  # resolved
        self._weight = parameters.weight
        self._beta = parameters.beta
        self._low_ns: int = parameters.low_ns
        self._high_ns: int = parameters.high_ns
        self._min_rtt_ns: int = parameters.min_rtt_ns
        self._additive_bps: int = parameters.additive_bps
        self._hyper_bps: int = parameters.hyper_bps
        self._hyper_after: int = parameters.hyper_after
        self._min_rate_bps: int = min(parameters.min_rate_bps, path.line_rate_bps)
        self._has_window: bool = parameters.has_window
        self.difference_ns = 0.0
        self._last_rtt_ns = -1
        self._increases = 0
        self._round_until_bytes = 0
        self._set_rate(path.line_rate_bps)

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """Change the rate at the end of a round trip. The first RTT is only stored."""
        rtt_ns = sample.rtt_ns
        if rtt_ns is None or sample.cumulative_bytes <= self._round_until_bytes:
            return
        if self._last_rtt_ns >= 0:
            self._change_rate(rtt_ns)
        self._last_rtt_ns = rtt_ns
        self._round_until_bytes = sample.sent_bytes

    def _change_rate(self, rtt_ns: int) -> None:
        difference_ns = (1 - self._weight) * self.difference_ns + self._weight * (rtt_ns - self._last_rtt_ns)
        self.difference_ns = difference_ns
        gradient = difference_ns / self._min_rtt_ns
        if rtt_ns < self._low_ns:
            self._increase()
        elif rtt_ns > self._high_ns:
            self._decrease(1 - self._beta * (1 - self._high_ns / rtt_ns))
        elif gradient <= 0:
            self._increase()
        else:
            self._decrease(1 - self._beta * gradient)

    def _increase(self) -> None:
        gain_bps = self._additive_bps if self._increases < self._hyper_after else self._hyper_bps
        self._increases += 1
        self._set_rate(min(self.path.line_rate_bps, self.rate_bps + gain_bps))

    def _decrease(self, factor: float) -> None:
        self._increases = 0
        self._set_rate(max(self._min_rate_bps, int(self.rate_bps * max(0.0, factor))))

    def _set_rate(self, rate_bps: int) -> None:
        self.rate_bps = rate_bps
        if self._has_window:
            self.window_bytes = max(1, self.path.bdp_bytes * rate_bps // self.path.line_rate_bps)
