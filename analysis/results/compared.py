# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The figures that a comparison computes ratios of, by name."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.results.result import RunResult, count_of

INCAST_TAG = "incast"
"""Tag of synthetic incast flows; the paper measures FCT for the other traffic."""

RATIOS = (
    "max_buffer_bytes",
    "p50_slowdown",
    "p99_slowdown",
    "incast_p50_slowdown",
    "incast_last_slowdown",
    "throughput_gbps",
)
"""Figures for which the ratio to the first scheme is meaningful."""


def compared_figures(result: RunResult, traffic_class: str) -> Mapping[str, float | None]:
    """Return the slowdowns of a traffic class and of the incast (unless it is that class). Missing figures are None."""
    slowdown = result.fct_slowdown.get(traffic_class)
    incast = result.fct_slowdown.get(INCAST_TAG) if traffic_class != INCAST_TAG else None
    return {
        "p50_slowdown": slowdown.p50 if slowdown else None,
        "p95_slowdown": slowdown.p95 if slowdown else None,
        "p99_slowdown": slowdown.p99 if slowdown else None,
        "max_buffer_bytes": result.max_buffer_bytes,
        "incast_p50_slowdown": incast.p50 if incast else None,
        "incast_last_slowdown": incast.max if incast else None,
        "throughput_gbps": result.throughput_gbps,
        "drops": result.dropped,
        "bts_sent": count_of(result.bts, "sent"),
        "pfc_sent": count_of(result.pfc, "sent"),
    }


def ratio_of(value: float | None, base: float | None) -> float | None:
    """Return value / base, or None if either is missing or the base is zero."""
    return None if value is None or not base else value / base
