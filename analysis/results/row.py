# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run as a row in a table of many runs."""

from __future__ import annotations

from analysis.results.comparison import headline_class
from analysis.results.result import RunResult, count_of


def result_row(result: RunResult) -> dict[str, object]:
    """Return the figures of a run for a table of many runs."""
    traffic_class = headline_class(result)
    slowdown = result.fct_slowdown.get(traffic_class)
    figures = ("p50", "p95", "p99", "p99_9", "mean")
    return {
        "scenario": result.scenario,
        "scheme": result.scheme,
        "scale": result.scale,
        "clock": result.clock,
        "dilation": result.dilation,
        "seed": result.seed,
        "verdict": result.verdict,
        "flows_total": result.flows.total,
        "flows_completed": result.flows.completed,
        "traffic_class": traffic_class,
        **{f"slowdown_{name}": getattr(slowdown, name) if slowdown else None for name in figures},
        "max_buffer_bytes": result.max_buffer_bytes,
        "throughput_gbps": result.throughput_gbps,
        "drops": result.dropped,
        "bts_sent": count_of(result.bts, "sent"),
        "bts_suppressed": count_of(result.bts, "suppressed"),
        "cache_hits": count_of(result.bts, "cache_hits"),
        "pfc_sent": count_of(result.pfc, "sent"),
        "pause_us": result.signals.pause_obeyed_us,
        "wall_s": result.wall_s,
    }
