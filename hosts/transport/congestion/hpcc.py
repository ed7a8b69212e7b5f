# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""HPCC (Li et al., SIGCOMM'19), as implemented in its authors' simulator (docs/sources.md#hpcc).

The state is the rate, from which the window is derived.

U, the bytes in flight divided by the capacity of the most loaded hop, is estimated from the telemetry of two packets.
Time stamps have a resolution of 1 us, or of up to 2 model ns in the compact layout. If two packets have the same time
stamp, the second is skipped and the next sample spans both. A packet with an older time stamp is skipped too. If a
hop's time stamp is older by more than a round trip, the stored telemetry was wrong and is replaced. So is telemetry
that is so old that its counters may have wrapped.
"""

from dataclasses import dataclass
from typing import Annotated, Final

from mypy_extensions import mypyc_attr
from pydantic import Field

from sfc_testbed.hosts.transport.congestion.base import AckSample, CongestionControl, PathContext, rounded
from sfc_testbed.hosts.transport.congestion.presets import DEFAULT_PRESET, HPCC, Preset, fill_unset
from sfc_testbed.hosts.transport.congestion.telemetry import HopTelemetry, PathTelemetry
from sfc_testbed.request.checks import Count, PositiveRate, Rate
from sfc_testbed.wire.units import NS_PER_S

_LEAST_EXCESS: Final = 1e-9
"""Minimum of U / eta, which avoids a division by 0 on an idle path; the rate is clamped in any case."""


@dataclass(frozen=True, slots=True)
class HpccParameters:
    """Parameters of HPCC. The defaults are the HPCC simulator's (docs/sources.md#hpcc)."""

    preset: Preset = DEFAULT_PRESET
    """Parameter set of the HPCC simulator from which the values that are None are taken."""
    eta: Annotated[float, Field(gt=0, le=2)] = 0.95
    """Target value of U."""
    max_stage: Count = 0
    """maxStage (MI_THRESH): additive steps before a multiplicative one; 0: only multiplicative steps. HPCC paper: 5."""
    additive_bps: Rate | None = None
    """R_AI (RATE_AI): additive increase, which makes flows converge to fairness; None: from the preset."""
    min_rate_bps: PositiveRate | None = None
    """MIN_RATE: minimum rate; None: from the preset."""
    fast_react: bool = True
    """FAST_REACT: whether acknowledgements within a round trip of the last update change the rate."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Hpcc(CongestionControl):
    """HPCC's sender: a rate and a window computed from the telemetry of the switches.

    Its state, in the names of the HPCC paper: R (`rate_bps`), R_c, U, incStage, lastUpdateSeq, and L, the last
    telemetry.
    """

    __slots__ = (
        "_additive_bps", "_last_update_bytes", "_min_rate_bps", "_parameters", "_stage", "_telemetry",
        "reference_bps", "utilization",
    )  # fmt: skip

    wants_telemetry = True
    needs_one_path = True

    Parameters = HpccParameters

    @classmethod
    def resolve(cls, parameters: HpccParameters, path: PathContext) -> HpccParameters:
        """Return the parameters with unset values from the preset."""
        return fill_unset(parameters, HPCC[parameters.preset])

    def __init__(self, parameters: HpccParameters, path: PathContext) -> None:
        super().__init__(parameters, path)
        assert parameters.additive_bps is not None and parameters.min_rate_bps is not None  # resolved
        self._parameters = parameters
        self._additive_bps: int = parameters.additive_bps
        self._min_rate_bps: int = parameters.min_rate_bps
        self.reference_bps = float(path.line_rate_bps)
        self.utilization = 1.0
        self._stage = 0
        self._last_update_bytes = -1
        self._telemetry = PathTelemetry()
        self._set_rate(self.reference_bps)

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """Perform one step of MeasureInflight and ComputeRate.

        For the first packet of a path, and after its number of hops has changed, only the telemetry is stored.
        """
        if not sample.hops:
            return
        telemetry = self._telemetry
        is_first = not telemetry.is_known
        telemetry.select(sample.path)
        if len(sample.hops) != len(telemetry.hops):
            if is_first or len(telemetry.hops):
                self._last_update_bytes = sample.sent_bytes
            telemetry.hops = sample.hops
            return
        is_full = sample.cumulative_bytes > self._last_update_bytes
        if not is_full and not self._parameters.fast_react:
            return
        if not self._measure(sample.hops, now_ns):
            return
        telemetry.hops = sample.hops
        self._compute_rate(is_full)
        if is_full:
            self._last_update_bytes = sample.sent_bytes

    def _measure(self, hops: tuple[HopTelemetry, ...], now_ns: int) -> bool:
        """Update U with the load of the most loaded hop.

        Returns False if a hop has no rate or its time stamp is not newer than the stored one.
        """
        path, layout = self.path, self.path.telemetry
        base_rtt_ns = path.base_rtt_ns
        max_load, max_load_elapsed_ns = -1.0, 0
        stored_hops = self._telemetry.hops
        for hop in range(len(hops)):
            new, old = hops[hop], stored_hops[hop]
            elapsed_ns = layout.elapsed_ns(new, old, base_rtt_ns)
            if elapsed_ns <= 0 or not new.rate_bps:
                if elapsed_ns < 0:
                    self._telemetry.hops = hops
                return False
            sent_bytes = (new.sent_bytes - old.sent_bytes) % layout.sent_modulus_bytes
            sent_bps = sent_bytes * 8 * NS_PER_S / elapsed_ns
            queue_bytes = min(new.queue_bytes, old.queue_bytes)
            load = sent_bps / new.rate_bps + queue_bytes * path.line_rate_bps / (new.rate_bps * path.bdp_bytes)
            if load > max_load:
                max_load, max_load_elapsed_ns = load, elapsed_ns
        weight = min(self._telemetry.span_ns(max_load_elapsed_ns, now_ns), base_rtt_ns) / base_rtt_ns
        self.utilization = self.utilization * (1 - weight) + max_load * weight
        return True

    def _compute_rate(self, is_full: bool) -> None:
        parameters = self._parameters
        excess = max(self.utilization / parameters.eta, _LEAST_EXCESS)
        if excess >= 1 or self._stage >= parameters.max_stage:
            rate_bps, stage = self.reference_bps / excess + self._additive_bps, 0
        else:
            rate_bps, stage = self.reference_bps + self._additive_bps, self._stage + 1
        rate_bps = self._set_rate(rate_bps)
        if is_full:
            self.reference_bps = rate_bps
            self._stage = stage

    def _set_rate(self, rate_bps: float) -> float:
        """Clamp the rate, set the pacing rate and the window, and return the clamped rate."""
        line_rate_bps = self.path.line_rate_bps
        rate_bps = min(max(rate_bps, self._min_rate_bps), line_rate_bps)
        self.rate_bps = max(1, rounded(rate_bps))
        self.window_bytes = max(1, int(self.path.bdp_bytes * rate_bps / line_rate_bps))
        return rate_bps
