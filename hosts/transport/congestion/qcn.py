# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""QCN's reaction point (IEEE 802.1Qau; docs/sources.md#qcn): feedback cuts the rate, sent bytes and time raise it.

Before the first feedback, and after the rate has returned to the line rate, a flow is not limited and no timer runs.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Final

from mypy_extensions import mypyc_attr
from pydantic import Field

from sfc_testbed.hosts.transport.congestion.base import CongestionControl, PathContext
from sfc_testbed.request.checks import Count, PositiveBytes, PositiveNanoseconds, PositiveRate, Rate
from sfc_testbed.wire.constants import BtsCause
from sfc_testbed.wire.units import NS_PER_S

# The standard's times and rates are for 10 Gb/s. Expressed as bytes and fractions of the line rate, they suit any rate.
_TIMER_BYTES: Final = 18_750_000
_ADDITIVE_SHARE: Final = 2_000
_HYPER_SHARE: Final = 200
_MIN_SHARE: Final = 2_000
# At the first increase after a cut, a target rate above 10 times the current rate is divided by 8.
_FAR: Final = 10
_NEARER: Final = 8


@dataclass(frozen=True, slots=True)
class QcnParameters:
    """Parameters of QCN. The defaults are the standard's for 10 Gb/s, scaled to the line rate (docs/sources.md#qcn)."""

    byte_reset_bytes: PositiveBytes = 150_000
    """Payload bytes between two increases by the byte counter (rpgByteReset)."""
    time_reset_ns: PositiveNanoseconds | None = None
    """Time between two increases by the timer (rpgTimeReset); None: 18.75 MB at line rate, 15 ms at 10 Gb/s."""
    threshold: Count = 5
    """Number of increases, by byte counter or timer, that only halve the distance to R_T (rpgThreshold)."""
    additive_bps: Rate | None = None
    """R_AI: increase of R_T after fast recovery (rpgAiRate); None: 1/2000 of the line rate, 5 Mb/s at 10 Gb/s."""
    hyper_bps: Rate | None = None
    """R_HAI: increase of R_T, times the number of cycles, once byte counter and timer are both past the threshold
    (rpgHaiRate); None: 1/200 of the line rate."""
    gain: Annotated[float, Field(gt=0, le=1)] = 1 / 128
    """G_d: fraction by which a feedback of 1 reduces the rate (rpgGd)."""
    min_decrease_factor: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Minimum fraction of the rate that remains after one feedback (rpgMinDecFac)."""
    min_rate_bps: PositiveRate | None = None
    """Minimum rate (rpgMinRate); None: 1/2000 of the line rate."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Qcn(CongestionControl):
    """QCN's reaction point: a rate that feedback cuts and that a byte counter and a timer raise.

    Its state is the current rate R_C (`rate_bps`), the target rate R_T, and the number of increases by byte counter
    and by timer since the last cut.
    """

    __slots__ = (
        "_additive_bps", "_byte_reset_bytes", "_bytes_left", "_gain", "_hyper_bps", "_is_limited", "_least_factor",
        "_min_rate_bps", "_threshold", "_time_reset_ns", "_timer_ns", "byte_stage", "target_bps", "time_stage",
    )  # fmt: skip

    obeyed_cause = BtsCause.FEEDBACK

    Parameters = QcnParameters

    @classmethod
    def resolve(cls, parameters: QcnParameters, path: PathContext) -> QcnParameters:
        """Return the parameters with unset values derived from the line rate."""
        line_rate_bps = path.line_rate_bps
        derived = {
            "time_reset_ns": 8 * NS_PER_S * _TIMER_BYTES // line_rate_bps,
            "additive_bps": line_rate_bps // _ADDITIVE_SHARE,
            "hyper_bps": line_rate_bps // _HYPER_SHARE,
            "min_rate_bps": line_rate_bps // _MIN_SHARE,
        }
        return replace(
            parameters, **{name: max(1, value) for name, value in derived.items() if getattr(parameters, name) is None}
        )

    def __init__(self, parameters: QcnParameters, path: PathContext) -> None:
        super().__init__(parameters, path)
        assert parameters.time_reset_ns is not None and parameters.additive_bps is not None  # resolved
        assert parameters.hyper_bps is not None and parameters.min_rate_bps is not None
        self._byte_reset_bytes: int = parameters.byte_reset_bytes
        self._time_reset_ns: int = parameters.time_reset_ns
        self._threshold: int = parameters.threshold
        self._additive_bps: int = parameters.additive_bps
        self._hyper_bps: int = parameters.hyper_bps
        self._gain = parameters.gain
        self._least_factor = parameters.min_decrease_factor
        self._min_rate_bps: int = min(parameters.min_rate_bps, path.line_rate_bps)
        self.target_bps = float(path.line_rate_bps)
        self.byte_stage = self.time_stage = 0
        self._bytes_left = 0
        self._timer_ns: int | None = None
        self._is_limited = False

    def on_feedback(self, feedback: int, now_ns: int) -> None:
        """Cut the rate. R_T becomes the rate before the cut if the byte counter has expired since the last cut."""
        if self.byte_stage or not self._is_limited:
            self.target_bps = float(self.rate_bps)
        factor = max(self._least_factor, 1 - self._gain * feedback)
        self.rate_bps = max(self._min_rate_bps, round(self.rate_bps * factor))
        self.byte_stage = self.time_stage = 0
        self._bytes_left = self._byte_reset_bytes
        self._timer_ns = now_ns + self._time_reset_ns
        self._is_limited = True

    def on_sent(self, size_bytes: int, now_ns: int) -> None:
        """Decrease the byte counter, and increase the rate when it expires."""
        if not self._is_limited:
            return
        self._bytes_left -= size_bytes
        if self._bytes_left <= 0:
            self.byte_stage += 1
            is_slow = self.byte_stage < self._threshold
            self._bytes_left += self._byte_reset_bytes if is_slow else max(1, self._byte_reset_bytes // 2)
            self._increase()

    def on_timer(self, now_ns: int) -> None:
        """Perform the increases that are due."""
        while self._timer_ns is not None and self._timer_ns <= now_ns:
            self.time_stage += 1
            is_slow = self.time_stage < self._threshold
            self._timer_ns += self._time_reset_ns if is_slow else max(1, self._time_reset_ns // 2)
            self._increase()

    def next_timer_ns(self) -> int | None:
        """Return the time of the next increase by the timer; None while the flow is not limited."""
        return self._timer_ns

    def _increase(self) -> None:
        line_rate_bps = float(self.path.line_rate_bps)
        cycles = min(self.byte_stage, self.time_stage) - self._threshold
        if self.byte_stage + self.time_stage == 1 and self.target_bps > _FAR * self.rate_bps:
            self.target_bps /= _NEARER
        elif cycles > 0:
            self.target_bps = min(self.target_bps + cycles * self._hyper_bps, line_rate_bps)
        elif max(self.byte_stage, self.time_stage) > self._threshold:
            self.target_bps = min(self.target_bps + self._additive_bps, line_rate_bps)
        self.rate_bps = round((self.rate_bps + self.target_bps) / 2)
        if self.rate_bps >= self.path.line_rate_bps:
            self._timer_ns = None
            self._is_limited = False
