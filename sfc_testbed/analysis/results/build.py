# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Builds a RunResult from the traces and counters of a run: it joins metrics, counters and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType

import polars as pl

from sfc_testbed.analysis.formatting import amount, format_us
from sfc_testbed.analysis.metrics.buffers import buffer_by_switch, natural_key
from sfc_testbed.analysis.metrics.flows import (
    SizeBinFigures,
    completion_by_class,
    faster_than_ideal,
    of_class,
    reordering,
    size_bin_edges,
    slowdown_by_class,
    slowdown_by_size,
    started_between,
    throughput_gbps,
    traffic_classes,
)
from sfc_testbed.analysis.metrics.iterations import COLUMNS as JOB_COLUMNS
from sfc_testbed.analysis.metrics.iterations import Waits, job_figures
from sfc_testbed.analysis.metrics.links import LinkBalance, link_balance
from sfc_testbed.analysis.metrics.signals import signal_figures
from sfc_testbed.analysis.results.counters import Lateness, RunCounters, Spacing
from sfc_testbed.analysis.results.fidelity import clock_margin_us, judge, lateness_share
from sfc_testbed.analysis.results.result import (
    BfcCounts,
    BfcFigures,
    FlowCounts,
    LatenessByPart,
    LatenessFigures,
    RunResult,
    SpacingByPart,
    SpacingFigures,
)
from sfc_testbed.request.spec import RunConfig
from sfc_testbed.telemetry.reader import Rows, answer

_IDENTITY = (
    "scenario",
    "scheme",
    "load_balancing",
    "scale",
    "switch",
    "clock",
    "dilation",
    "seed",
    "base_rtt_us",
    "retry_of",
    "measured_window_us",
    "has_fixed_duration",
    "setting_warnings",
    "overridden",
)
"""Fields that come from config.json."""
_COUNTED = (
    "packets",
    "drops",
    "resent",
    "unexplained_loss",
    "kernel_drops",
    "bts",
    "pfc",
    "bfc",
    "switch_events",
    "host_events",
    "wall_s",
    "packets_per_s",
)
"""Fields that come from counters and clocks, not from traces."""

_SIGNAL_BITS = 64 * 8
"""Size of a signal from egress to ingress, a minimum Ethernet frame (docs/schemes/bfc.md)."""

_FLOW_COLUMNS = (
    "tag",
    "size_bytes",
    "start_us",
    "finish_us",
    "slowdown",
    "corrupted",
    "timeouts",
    "packets_resent",
    "packets_reordered",
    "reordering_max",
    "reordering_mean",
)
"""The columns of the flows trace that figures need."""


def build_result(
    config: RunConfig,
    counters: RunCounters,
    waits: Waits = MappingProxyType({}),
    /,
    *,
    flows: Rows,
    queues: Rows,
    signals: Rows,
    links: Rows | None = None,
) -> RunResult:
    """Build the result of a run, including its verdict. Empty traces are accepted.

    `waits` has the flows that each flow waits for, which explain the slowest iterations of jobs.
    """
    needed = _needed(flows, config)
    return RunResult.model_validate(
        {
            **_identity(config),
            **_judged(config, counters, needed),
            **_flow_figures(needed, config, waits),
            **_buffer_figures(queues),
            "link_balance": _link_balance(links, config),
            **_counted(counters),
            "bfc": _bfc(counters.bfc, needed),
            "signals": signal_figures(signals),
            "lateness": LatenessByPart(
                host=_lateness(counters.host_lateness, config),
                switch=_lateness(counters.switch_lateness, config),
            ),
            "spacing": SpacingByPart(
                host=_spacing(counters.host_spacing, config),
                switch=_spacing(counters.switch_spacing, config),
            ),
        }
    )


def build_unfinished_result(
    config: RunConfig,
    reasons: Sequence[str],
    *,
    flows: Rows,
    queues: Rows,
    signals: Rows,
    links: Rows | None = None,
) -> RunResult:
    """Build the result of a run whose runner was killed before it read the counters. The verdict is invalid."""
    needed = _needed(flows, config)
    counted = _flow_counts(needed).model_copy(update={"timeouts": None, "packets_resent": None, "never_started": 0})
    return RunResult.model_validate(
        {
            **_identity(config),
            "flows": counted,
            "verdict": "invalid",
            "verdict_reasons": tuple(reasons),
            "interrupted": True,
            **_flow_figures(needed, config),
            **_buffer_figures(queues),
            "link_balance": _link_balance(links, config),
            **dict.fromkeys(_COUNTED),
            "signals": signal_figures(signals),
            "lateness": LatenessByPart(host=None, switch=None),
        }
    )


def _needed(flows: Rows, config: RunConfig) -> pl.DataFrame:
    """Return the columns that figures need, because whole rows of millions of flows would take a GB."""
    return answer(flows.lazy().select(*_FLOW_COLUMNS, *(JOB_COLUMNS if config.jobs else ())))


def _identity(config: RunConfig) -> dict[str, object]:
    """Return the fields of a result that identify its run."""
    return {"program": config.program_name, **{name: getattr(config, name) for name in _IDENTITY}}


def _judged(config: RunConfig, counters: RunCounters, flows: pl.DataFrame) -> dict[str, object]:
    counts = _flow_counts(flows)
    verdict = judge(config, counters, counts, tuple(_impossible_times(config, flows)))
    return {
        "flows": counts,
        "verdict": verdict.level,
        "verdict_reasons": verdict.reasons,
        "faithful_dilation": verdict.faithful_dilation,
    }


def _impossible_times(config: RunConfig, flows: pl.DataFrame) -> Iterator[str]:
    """Yield a sentence about flows, and about each tag's completion, that took less than the ideal time."""
    margin_us = clock_margin_us(config)
    if count := faster_than_ideal(flows, margin_us):
        yield f"{amount(count, 'flow')} finished faster than in an idle network, so the ideal FCT or the run is wrong."
    for job in job_figures(flows, config.jobs, {}):
        if job.min_us is not None and job.ideal_us - job.min_us > margin_us:
            yield (
                f"An iteration of job {job.job} took {format_us(job.min_us)}, less than the least possible time of "
                f"{format_us(job.ideal_us)}, so the ideal time or the run is wrong."
            )
    for tag, figures in completion_by_class(flows, config.ideal_completion_us).items():
        if figures.took_us is None or figures.ideal_us is None:
            continue
        if figures.ideal_us - figures.took_us > margin_us:
            yield (
                f"The messages of {tag} completed in {format_us(figures.took_us)}, faster than the least possible time "
                f"of {format_us(figures.ideal_us)}, so the ideal time or the run is wrong."
            )


def _flow_figures(flows: pl.DataFrame, config: RunConfig, waits: Waits = MappingProxyType({})) -> dict[str, object]:
    measured = flows if config.measured_window_us is None else started_between(flows, *config.measured_window_us)
    return {
        "fct_slowdown": slowdown_by_class(measured),
        "fct_slowdown_by_size": _size_bins(measured),
        "throughput_gbps": throughput_gbps(measured),
        "reordering": reordering(flows),
        "completion": completion_by_class(flows, config.ideal_completion_us),
        "jobs": job_figures(flows, config.jobs, waits),
    }


def _size_bins(flows: pl.DataFrame) -> dict[str, tuple[SizeBinFigures, ...]]:
    chosen = {name: of_class(flows, name) for name in traffic_classes(flows)}
    return {name: tuple(slowdown_by_size(frame, size_bin_edges(frame))) for name, frame in chosen.items()}


def _buffer_figures(queues: Rows) -> dict[str, object]:
    buffers = buffer_by_switch(queues)
    return {
        "buffer_bytes": buffers,
        "max_buffer_bytes": max((figures.max for figures in buffers.values()), default=None),
    }


def _link_balance(links: Rows | None, config: RunConfig) -> LinkBalance | None:
    if links is None or not config.equal_cost_ports:
        return None
    return link_balance(links, config.equal_cost_ports, config.measured_window_us)


def _counted(counters: RunCounters) -> dict[str, object]:
    return {
        "interrupted": counters.interrupted,
        "packets": counters.packets,
        "drops": {reason: counters.drops[reason] for reason in sorted(counters.drops, key=natural_key)},
        "resent": counters.resent,
        "unexplained_loss": counters.unexplained_loss,
        "kernel_drops": counters.kernel_drops,
        "bts": counters.bts,
        "pfc": counters.pfc,
        "switch_events": dict(sorted(counters.switch_events.items())),
        "host_events": dict(sorted(counters.host_events.items())),
        "wall_s": counters.wall_s,
        "packets_per_s": counters.packets.sent / counters.wall_s if counters.wall_s > 0 else 0.0,
    }


def _bfc(counts: BfcCounts, flows: pl.DataFrame) -> BfcFigures:
    first_us, last_us = flows["start_us"].min(), flows["finish_us"].max()
    busy_us = float(str(last_us)) - float(str(first_us)) if first_us is not None and last_us is not None else 0.0
    gbps = counts.max_signals * _SIGNAL_BITS / (1000 * busy_us) if busy_us > 0 else 0.0
    return BfcFigures(**counts.model_dump(), signal_gbps=gbps)


def _flow_counts(flows: pl.DataFrame) -> FlowCounts:
    return FlowCounts(
        total=flows.height,
        completed=flows.height - flows["finish_us"].null_count(),
        corrupted=int(flows["corrupted"].sum()),
        timeouts=int(flows["timeouts"].cast(pl.UInt64).sum()),
        packets_resent=int(flows["packets_resent"].cast(pl.UInt64).sum()),
        never_started=flows["start_us"].null_count(),
    )


def _lateness(lateness: Lateness | None, config: RunConfig) -> LatenessFigures | None:
    return None if lateness is None else LatenessFigures(**_in_model_time(lateness, config))


def _spacing(spacing: Spacing | None, config: RunConfig) -> SpacingFigures | None:
    if spacing is None:
        return None
    return SpacingFigures(
        **_in_model_time(spacing, config),
        pairs=spacing.count,
        ideal_us=spacing.ideal_ns / (1000 * config.dilation),
        p99_of_ideal=spacing.p99_ns / spacing.ideal_ns,
    )


def _in_model_time(part: Lateness | Spacing, config: RunConfig) -> dict[str, float]:
    """Return the fields of LatenessFigures."""
    wall_ns_per_model_us = 1000 * config.dilation
    return {
        "p50_us": part.p50_ns / wall_ns_per_model_us,
        "p99_us": part.p99_ns / wall_ns_per_model_us,
        "max_us": part.max_ns / wall_ns_per_model_us,
        "p99_of_base_rtt": lateness_share(part.p99_ns, config.base_rtt_us, config.dilation),
    }
