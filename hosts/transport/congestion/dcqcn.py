# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""DCQCN with a static window (Zhu et al., SIGCOMM'15; docs/sources.md#dcqcn): CNPs cut the rate and a timer raises it.

The timers start at the first CNP. Alpha is updated every `alpha_interval_ns`, and a cut is possible 1 ns after every
`decrease_interval_ns`. If an increase and a cut are due at the same instant, the increase comes first, as in the HPCC
simulator. Only timers that can have an effect are set; alpha's updates are computed when alpha is read,
with the same result.
"""

from dataclasses import dataclass, replace
from typing import Annotated

from mypy_extensions import mypyc_attr
from pydantic import Field

from sfc_testbed.hosts.transport.congestion.base import UNLIMITED_WINDOW, CongestionControl, PathContext
from sfc_testbed.hosts.transport.congestion.presets import DCQCN, DEFAULT_PRESET, Preset, fill_unset
from sfc_testbed.request.checks import MAX_BYTES, Count, PositiveNanoseconds, PositiveRate, Rate
from sfc_testbed.wire.units import NS_PER_S

ONE_BDP = -1
"""Value of `window_bytes` that means one BDP."""


@dataclass(frozen=True, slots=True)
class DcqcnParameters:
    """Parameters of DCQCN. The defaults are the HPCC simulator's; the window is the SFC paper's."""

    preset: Preset = DEFAULT_PRESET
    """Parameter set of the HPCC simulator from which the values that are None are taken."""
    window_bytes: Annotated[int, Field(ge=ONE_BDP, le=MAX_BYTES)] = ONE_BDP
    """Maximum bytes in flight; -1: one BDP (the static window of +W); 0: no window."""
    alpha_interval_ns: PositiveNanoseconds = 1_000
    """Period of alpha's update (ALPHA_RESUME_INTERVAL)."""
    decrease_interval_ns: PositiveNanoseconds = 4_000
    """Shortest time between two cuts (RATE_DECREASE_INTERVAL)."""
    increase_interval_ns: PositiveNanoseconds | None = None
    """Period of rate increases after the latest cut (RP_TIMER); None: from the preset."""
    gain: Annotated[float, Field(gt=0, le=1)] = 1 / 256
    """g: weight of a new sample in alpha (EWMA_GAIN)."""
    fast_recovery_stages: Count = 1
    """F: number of increases that only halve the distance to R_T (FAST_RECOVERY_TIMES)."""
    additive_bps: Rate | None = None
    """R_AI: increase of R_T at the first step after fast recovery; None: from the preset."""
    hyper_bps: Rate | None = None
    """R_HAI: increase of R_T at every later step; None: from the preset."""
    min_rate_bps: PositiveRate | None = None
    """R_min: minimum rate; None: from the preset."""
    clamp_target: bool = False
    """CLAMP_TARGET_RATE: whether every cut sets R_T to the rate before the cut. Otherwise only a cut after an increase
    does, so that after a burst of cuts the rate recovers towards the rate before the burst."""
    window_based: bool = False
    """Whether the rate sets a window of rate x base RTT, and at least one packet, instead of the pace. The NICs of the
    SFC paper's testbed have windows of at least one packet (section 5.2)."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Dcqcn(CongestionControl):
    """DCQCN's reaction point: a rate that CNPs cut and a timer raises.

    Its state is the current rate R_C, the target rate R_T, alpha, the stage, and whether a CNP has arrived
    since each timer.
    """

    __slots__ = (
        "_additive_bps", "_alpha_marked", "_alpha_ns", "_cut_marked", "_cut_ns", "_hyper_bps", "_increase_interval_ns",
        "_increase_ns", "_min_rate_bps", "_parameters", "_stage", "alpha", "current_bps", "target_bps",
    )  # fmt: skip

    ecn_capable = True
    repaces = False

    Parameters = DcqcnParameters

    @classmethod
    def resolve(cls, parameters: DcqcnParameters, path: PathContext) -> DcqcnParameters:
        """Return the parameters with unset values from the preset and a window of -1 replaced by the BDP."""
        full = fill_unset(parameters, DCQCN[parameters.preset])
        return replace(full, window_bytes=path.bdp_bytes) if full.window_bytes == ONE_BDP else full

    def __init__(self, parameters: DcqcnParameters, path: PathContext) -> None:
        super().__init__(parameters, path)
        assert parameters.increase_interval_ns is not None and parameters.additive_bps is not None  # resolved
        assert parameters.hyper_bps is not None and parameters.min_rate_bps is not None
        self._parameters = parameters
        self._increase_interval_ns: int = parameters.increase_interval_ns
        self._additive_bps: int = parameters.additive_bps
        self._hyper_bps: int = parameters.hyper_bps
        self._min_rate_bps: int = min(parameters.min_rate_bps, path.line_rate_bps)
        self.window_bytes = parameters.window_bytes or UNLIMITED_WINDOW
        self.current_bps: int = self.rate_bps
        self.target_bps = float(self.rate_bps)
        self.alpha = 1.0
        self._alpha_marked = self._cut_marked = False
        self._alpha_ns: int | None = None
        self._cut_ns = 0
        self._increase_ns: int | None = None
        self._stage = 0

    def on_congestion_notice(self, now_ns: int) -> None:
        """Record a CNP for both timers; the first CNP starts them."""
        if self._alpha_ns is None:
            self._alpha_ns = now_ns + self._parameters.alpha_interval_ns
            self._cut_ns = now_ns + self._parameters.decrease_interval_ns + 1
            self.target_bps = float(self.current_bps)
        else:
            self._catch_up_alpha(now_ns)
            self._alpha_marked = True
        if not self._cut_marked:
            self._cut_marked = True
            if self._cut_ns < now_ns:
                interval_ns = self._parameters.decrease_interval_ns
                self._cut_ns += -(-(now_ns - self._cut_ns) // interval_ns) * interval_ns

    def on_timer(self, now_ns: int) -> None:
        """Perform the increases and the cut that are due, in order of time."""
        is_cut_due = self._cut_marked and self._cut_ns <= now_ns
        last_ns = self._cut_ns if is_cut_due else now_ns
        while self._increase_ns is not None and self._increase_ns <= last_ns:
            self._increase()
            self._increase_ns += self._increase_interval_ns
        if is_cut_due:
            self._cut(self._cut_ns)

    def next_timer_ns(self) -> int | None:
        """Return the time of the next cut, if a CNP has arrived, or of the next increase, whichever is earlier."""
        if not self._cut_marked:
            return self._increase_ns
        return self._cut_ns if self._increase_ns is None else min(self._cut_ns, self._increase_ns)

    def _catch_up_alpha(self, now_ns: int) -> None:
        """Update alpha for the periods that have ended; only the first of them can contain a CNP."""
        if self._alpha_ns is None or self._alpha_ns > now_ns:
            return
        parameters = self._parameters
        periods = (now_ns - self._alpha_ns) // parameters.alpha_interval_ns + 1
        keep = 1 - parameters.gain
        self.alpha = keep * self.alpha + parameters.gain * self._alpha_marked
        self.alpha *= keep ** (periods - 1)
        self._alpha_marked = False
        self._alpha_ns += periods * parameters.alpha_interval_ns

    def _cut(self, now_ns: int) -> None:
        parameters = self._parameters
        self._catch_up_alpha(now_ns)
        if parameters.clamp_target or self._stage:
            self.target_bps = float(self.current_bps)
        self._set_rate(max(self._min_rate_bps, round(self.current_bps * (1 - self.alpha / 2))))
        self._stage = 0
        self._cut_marked = False
        self._cut_ns = now_ns + parameters.decrease_interval_ns
        self._increase_ns = now_ns + self._increase_interval_ns

    def _increase(self) -> None:
        parameters = self._parameters
        if self._stage >= parameters.fast_recovery_stages:
            is_hyper = self._stage > parameters.fast_recovery_stages
            gained_bps = self._hyper_bps if is_hyper else self._additive_bps
            self.target_bps = min(self.target_bps + gained_bps, float(self.path.line_rate_bps))
        self._set_rate(round((self.current_bps + self.target_bps) / 2))
        self._stage += 1

    def _set_rate(self, rate_bps: int) -> None:
        self.current_bps = rate_bps
        if not self._parameters.window_based:
            self.rate_bps = rate_bps
            return
        path = self.path
        most_bytes = self._parameters.window_bytes or UNLIMITED_WINDOW
        window_bytes = rate_bps * path.base_rtt_ns // (8 * NS_PER_S)
        self.window_bytes = min(max(window_bytes, path.payload_bytes), most_bytes)
