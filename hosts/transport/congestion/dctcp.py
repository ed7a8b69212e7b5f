# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""DCTCP on a rate (Alizadeh et al., SIGCOMM'10), as in the HPCC simulator (docs/sources.md#dctcp).

Alpha estimates the share of marked packets. The first mark of a round trip cuts the rate by alpha / 2, and a round trip
without a cut adds a constant. A round trip ends when everything that had been sent at its start is acknowledged.
"""

from dataclasses import dataclass
from typing import Annotated

from mypy_extensions import mypyc_attr
from pydantic import Field

from sfc_testbed.hosts.transport.congestion.base import AckSample, CongestionControl, PathContext
from sfc_testbed.request.checks import PositiveRate, Rate


@dataclass(frozen=True, slots=True)
class DctcpParameters:
    """Parameters of DCTCP. The defaults are the HPCC simulator's (docs/sources.md#dctcp)."""

    gain: Annotated[float, Field(gt=0, le=1)] = 1 / 16
    """g: weight of a round trip in alpha (EWMA_GAIN)."""
    additive_bps: Rate = 615_000_000
    """Increase after each round trip without a cut (DCTCP_RATE_AI): 1000 B in 13 us."""
    min_rate_bps: PositiveRate = 1_000_000_000
    """Minimum rate (MIN_RATE)."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Dctcp(CongestionControl):
    """DCTCP's sender: a rate that marked acknowledgements cut, and a window in proportion to the rate.

    Its state is the rate, alpha, the acknowledgements and marks of this round trip, and the bytes that must be
    acknowledged before this round trip ends and before the next cut.
    """

    __slots__ = (
        "_acks", "_additive_bps", "_cut_until_bytes", "_gain", "_is_first_round", "_marked_acks", "_min_rate_bps",
        "_round_until_bytes", "alpha",
    )  # fmt: skip

    ecn_capable = True
    repaces = False

    Parameters = DctcpParameters

    def __init__(self, parameters: DctcpParameters, path: PathContext) -> None:
        super().__init__(parameters, path)
        self._gain = parameters.gain
        self._additive_bps: int = parameters.additive_bps
        self._min_rate_bps: int = min(parameters.min_rate_bps, path.line_rate_bps)
        self.alpha = 1.0
        self._acks = self._marked_acks = 0
        self._is_first_round = True
        self._round_until_bytes = 0
        self._cut_until_bytes = -1
        self._set_rate(path.line_rate_bps)

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """Count the acknowledgement, update alpha at the end of a round trip, and cut or increase the rate."""
        self._acks += 1
        self._marked_acks += sample.ecn_marked
        acked_bytes = sample.cumulative_bytes
        is_round_over = acked_bytes > self._round_until_bytes
        if is_round_over:
            self._end_round(sample.sent_bytes)
        if acked_bytes > self._cut_until_bytes:
            self._cut_until_bytes = -1
        if self._cut_until_bytes >= 0:
            return
        if sample.ecn_marked:
            self._set_rate(max(self._min_rate_bps, int(self.rate_bps * (1 - self.alpha / 2))))
            self._cut_until_bytes = sample.sent_bytes
        elif is_round_over:
            self._set_rate(min(self.path.line_rate_bps, self.rate_bps + self._additive_bps))

    def _end_round(self, sent_bytes: int) -> None:
        """Update alpha and begin the next round trip. The first acknowledgement begins the first one."""
        self._round_until_bytes = sent_bytes
        if self._is_first_round:
            self._is_first_round = False
            return
        self.alpha = (1 - self._gain) * self.alpha + self._gain * (self._marked_acks / self._acks)
        self._acks = self._marked_acks = 0

    def _set_rate(self, rate_bps: int) -> None:
        self.rate_bps = rate_bps
        self.window_bytes = max(1, self.path.bdp_bytes * rate_bps // self.path.line_rate_bps)
