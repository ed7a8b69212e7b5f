# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Theta-PowerTCP (Addanki et al., NSDI'22), as in its authors' simulator (docs/sources.md#theta-powertcp).

It is PowerTCP without telemetry: the RTT stands for the bytes queued and in flight, and its slope for the growth of the
queue. The RTT is measured between the packet's start on the wire and its acknowledgement, so it contains no time in the
NIC.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Final

from mypy_extensions import mypyc_attr
from pydantic import Field

from hosts.transport.congestion.base import AckSample, CongestionControl, PathContext
from request.checks import PositiveRate, Rate

_ADDITIVE_THOUSANDTHS: Final = 6
_MIN_THOUSANDTHS: Final = 4
"""The simulator adds 150 Mb/s and has a minimum of 100 Mb/s at 25 Gb/s."""
_LEAST_SLOPE: Final = 0.5
"""Least value of 1 + the RTT's slope that is used."""


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
class ThetaPowertcp(CongestionControl):
    """Theta-PowerTCP's sender: a rate and a window computed from the RTT and its slope.

    Its state is the rate, the rate at the start of this round trip, the smoothed power, the last RTT and its time, and
    the smallest RTT, which is at most that of the network's longest path.
    """

    __slots__ = (
        "_additive_bps", "_allowance", "_gamma", "_last_ns", "_last_rtt_ns", "_min_rate_bps", "_round_until_bytes",
        "base_rtt_ns", "power", "reference_bps",
    )  # fmt: skip

    Parameters = ThetaPowertcpParameters

    @classmethod
    def resolve(cls, parameters: ThetaPowertcpParameters, path: PathContext) -> ThetaPowertcpParameters:
        """Return the parameters with unset values derived from the line rate."""
        additive_bps, min_rate_bps = parameters.additive_bps, parameters.min_rate_bps
        if additive_bps is None:
            additive_bps = path.line_rate_bps * _ADDITIVE_THOUSANDTHS // 1_000
        if min_rate_bps is None:
            min_rate_bps = max(1, path.line_rate_bps * _MIN_THOUSANDTHS // 1_000)
        return replace(parameters, additive_bps=additive_bps, min_rate_bps=min_rate_bps)

    def __init__(self, parameters: ThetaPowertcpParameters, path: PathContext) -> None:
        super().__init__(parameters, path)
        assert parameters.additive_bps is not None and parameters.min_rate_bps is not None  # resolved
        self._gamma = parameters.gamma
        self._allowance = parameters.allowance
        self._additive_bps: int = parameters.additive_bps
        self._min_rate_bps: int = min(parameters.min_rate_bps, path.line_rate_bps)
        self.base_rtt_ns: int = path.base_rtt_ns
        self.power = 1.0
        self.reference_bps = float(path.line_rate_bps)
        self._round_until_bytes = 0
        self._last_rtt_ns = 0
        self._last_ns = -1
        self._set_rate(self.reference_bps)

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """Compute the rate from the power. The first RTT is only stored."""
        rtt_ns = sample.rtt_ns
        if not rtt_ns or now_ns <= self._last_ns:
            return
        self.base_rtt_ns = min(self.base_rtt_ns, rtt_ns)
        is_round_over = sample.cumulative_bytes > self._round_until_bytes
        if self._last_ns >= 0:
            self._measure(rtt_ns, now_ns - self._last_ns)
            rate_bps = self.reference_bps / self.power + self._additive_bps
            rate_bps = self._set_rate(self._gamma * rate_bps + (1 - self._gamma) * self.reference_bps)
            if is_round_over:
                self.reference_bps = rate_bps
        self._last_rtt_ns = rtt_ns
        self._last_ns = now_ns
        if is_round_over:
            self._round_until_bytes = sample.sent_bytes

    def _measure(self, rtt_ns: int, elapsed_ns: int) -> None:
        """Update the power with the RTT and its slope since the last acknowledgement."""
        base_rtt_ns = self.base_rtt_ns
        slope = max(_LEAST_SLOPE, 1 + (rtt_ns - self._last_rtt_ns) / elapsed_ns)
        weight = min(elapsed_ns, base_rtt_ns) / base_rtt_ns
        self.power = self.power * (1 - weight) + slope * rtt_ns / (self._allowance * base_rtt_ns) * weight

    def _set_rate(self, rate_bps: float) -> float:
        """Clamp the rate, set the pacing rate and the window, and return the clamped rate."""
        line_rate_bps = self.path.line_rate_bps
        rate_bps = min(max(rate_bps, self._min_rate_bps), line_rate_bps)
        self.rate_bps = max(1, round(rate_bps))
        self.window_bytes = max(1, int(self.path.bdp_bytes * rate_bps / line_rate_bps))
        return rate_bps
