# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Builds a RunResult from the traces and counters of a run. The one place where metrics, counters and verdict meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import polars as pl

from analysis.metrics.buffers import buffer_by_switch, natural_key
from analysis.metrics.flows import (
    SizeBinFigures,
    of_class,
    size_bin_edges,
    slowdown_by_class,
    slowdown_by_size,
    started_between,
    throughput_gbps,
    traffic_classes,
)
from analysis.metrics.signals import signal_figures
from analysis.results.fidelity import Clock, Lateness, LinkSpacing, Measurements, Verdict, judge, lateness_share
from analysis.results.result import (
    BtsCounts,
    FlowCounts,
    LatenessByPart,
    LatenessFigures,
    PacketCounts,
    PfcCounts,
    RunResult,
)


@dataclass(frozen=True)
class RunIdentity:
    """Which run it was. Times in model units."""

    scenario: str
    scheme: str
    scale: str
    switch: str
    clock: Clock
    dilation: int
    seed: int
    base_rtt_us: float
    window_us: tuple[float, float] | None = None
    """Flows that start outside are warm-up or cool-down: left out of slowdown and throughput, counted in totals."""


@dataclass(frozen=True)
class RunCounters:
    """What hosts, switches and the machine counted. Packets are frames; see PacketCounts for what balances."""

    packets_sent: int
    packets_received: int
    switch_generated: int = 0
    switch_absorbed: int = 0
    in_flight: int = 0
    drops: Mapping[str, int] = field(default_factory=dict)
    """Frames dropped by switches and hosts on purpose and counted, by reason."""
    kernel_drops: int = 0
    """Frames dropped by the kernel outside the modelled queues; they are not in `drops`."""
    bts_sent: int = 0
    bts_suppressed: int = 0
    cache_hits: int = 0
    max_suppression_entries: int = 0
    max_cache_entries: int = 0
    pfc_sent: int = 0
    delivered_bps: float | None = None
    """Model bit/s that receivers measured. Given by runs whose flows never end; None: from the completed flows."""
    host_lateness: Lateness | None = None
    switch_lateness: Lateness | None = None
    link_spacing: LinkSpacing | None = None
    interrupted: bool = False
    wall_s: float = 0.0

    @property
    def unexplained_loss(self) -> int:
        """Frames sent or generated that nobody received, absorbed, holds or dropped with a reason; negative: gained."""
        entered = self.packets_sent + self.switch_generated
        left = self.packets_received + self.switch_absorbed + self.in_flight + sum(self.drops.values())
        return entered - left


def build_result(
    identity: RunIdentity,
    counters: RunCounters,
    *,
    flows: pl.DataFrame,
    queues: pl.DataFrame,
    signals: pl.DataFrame,
) -> RunResult:
    """The result of a run, its verdict included. The frames are traces, each possibly without a row."""
    return RunResult.model_validate(
        {
            **_identity(identity),
            **_judged(identity, counters, _flow_counts(flows)),
            **_flow_figures(flows, identity, counters),
            **_buffer_figures(queues),
            **_counted(counters),
            "signals": signal_figures(signals),
            "lateness": LatenessByPart(
                host=_lateness(counters.host_lateness, identity),
                switch=_lateness(counters.switch_lateness, identity),
            ),
        }
    )


def _identity(identity: RunIdentity) -> dict[str, object]:
    named = {entry.name: getattr(identity, entry.name) for entry in fields(identity)}
    return {"measured_window_us": named.pop("window_us"), **named}


def _judged(identity: RunIdentity, counters: RunCounters, flows: FlowCounts) -> dict[str, object]:
    verdict = _verdict(identity, counters, flows)
    return {"flows": flows, "verdict": verdict.level, "verdict_reasons": verdict.reasons}


def _flow_figures(flows: pl.DataFrame, identity: RunIdentity, counters: RunCounters) -> dict[str, object]:
    measured = flows if identity.window_us is None else started_between(flows, *identity.window_us)
    gbps = throughput_gbps(measured) if counters.delivered_bps is None else counters.delivered_bps / 1e9
    return {
        "fct_slowdown": slowdown_by_class(measured),
        "fct_slowdown_by_size": _size_bins(measured),
        "throughput_gbps": gbps,
    }


def _size_bins(flows: pl.DataFrame) -> dict[str, tuple[SizeBinFigures, ...]]:
    chosen = {name: of_class(flows, name) for name in traffic_classes(flows)}
    return {name: tuple(slowdown_by_size(frame, size_bin_edges(frame))) for name, frame in chosen.items()}


def _buffer_figures(queues: pl.DataFrame) -> dict[str, object]:
    buffers = buffer_by_switch(queues)
    return {
        "buffer_bytes": buffers,
        "max_buffer_bytes": max((figures.max for figures in buffers.values()), default=0),
    }


def _counted(counters: RunCounters) -> dict[str, object]:
    return {
        "interrupted": counters.interrupted,
        "packets": _packets(counters),
        "drops": {reason: counters.drops[reason] for reason in sorted(counters.drops, key=natural_key)},
        "unexplained_loss": counters.unexplained_loss,
        "kernel_drops": counters.kernel_drops,
        "bts": _bts(counters),
        "pfc": PfcCounts(sent=counters.pfc_sent),
        "wall_s": counters.wall_s,
        "packets_per_s": counters.packets_sent / counters.wall_s if counters.wall_s > 0 else 0.0,
    }


def _verdict(identity: RunIdentity, counters: RunCounters, flows: FlowCounts) -> Verdict:
    return judge(
        Measurements(
            clock=identity.clock,
            dilation=identity.dilation,
            base_rtt_us=identity.base_rtt_us,
            packets_sent=counters.packets_sent,
            unexplained_loss=counters.unexplained_loss,
            kernel_drops=counters.kernel_drops,
            flows_total=flows.total,
            flows_completed=flows.completed,
            corrupted=flows.corrupted,
            interrupted=counters.interrupted,
            host_lateness=counters.host_lateness,
            switch_lateness=counters.switch_lateness,
            link_spacing=counters.link_spacing,
        )
    )


def _flow_counts(flows: pl.DataFrame) -> FlowCounts:
    return FlowCounts(
        total=flows.height,
        completed=flows.height - flows["finish_us"].null_count(),
        corrupted=int(flows["corrupted"].sum()),
        timeouts=int(flows["timeouts"].cast(pl.UInt64).sum()),
        packets_resent=int(flows["packets_resent"].cast(pl.UInt64).sum()),
    )


def _packets(counters: RunCounters) -> PacketCounts:
    return PacketCounts(
        sent=counters.packets_sent,
        received=counters.packets_received,
        switch_generated=counters.switch_generated,
        switch_absorbed=counters.switch_absorbed,
        in_flight=counters.in_flight,
    )


def _bts(counters: RunCounters) -> BtsCounts:
    return BtsCounts(
        sent=counters.bts_sent,
        suppressed=counters.bts_suppressed,
        cache_hits=counters.cache_hits,
        max_suppression_entries=counters.max_suppression_entries,
        max_cache_entries=counters.max_cache_entries,
    )


def _lateness(lateness: Lateness | None, identity: RunIdentity) -> LatenessFigures | None:
    if lateness is None:
        return None
    wall_ns_per_model_us = 1000 * identity.dilation
    return LatenessFigures(
        p50_us=lateness.p50_ns / wall_ns_per_model_us,
        p99_us=lateness.p99_ns / wall_ns_per_model_us,
        max_us=lateness.max_ns / wall_ns_per_model_us,
        p99_of_base_rtt=lateness_share(lateness.p99_ns, identity.base_rtt_us, identity.dilation),
    )
