# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The figures in which a live run is held against the virtual one, each with its tolerance and the reason for it.

A tolerance is a share of the virtual figure, but not less than a fixed amount where the figure comes in lumps, up to
half of it: what does not happen at all on one clock is never within. They were stated before the first comparison and
made no wider since; a figure that misses its own is told as such.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from analysis.formatting import format_bytes, format_number, format_us
from analysis.metrics.buffers import switches, time_weighted_mean, whole_buffer, whole_buffers
from analysis.results.result import count_of
from analysis.results.stored import Run

Taken = Mapping[str, float | None]
"""Figures by traffic class; of the run as a whole under the empty name. None: the run cannot carry it."""

WHOLE_RUN = ""
_SHOWN_UNITS = {"B": format_bytes, "us": format_us}


@dataclass(frozen=True)
class Tolerance:
    """How far the live figure may be from the virtual one."""

    share: float
    """Of the virtual figure."""
    reason: str
    least: float = 0.0
    """In the figure's unit, where the share comes to less; never more than half of the virtual figure."""

    def around(self, virtual: float) -> float:
        """In the figure's unit."""
        return max(self.share * abs(virtual), min(self.least, abs(virtual) / 2))


@dataclass(frozen=True)
class Metric:
    """One figure, or one for each traffic class."""

    name: str
    unit: str
    """`B`, `us`; empty: a count or a ratio."""
    meaning: str
    tolerance: Tolerance
    take: Callable[[Run], Taken]
    shown: str = ""
    """What people read; empty: the name without its unit."""

    def write(self, value: float) -> str:
        """A figure with its unit, as people read it."""
        return _SHOWN_UNITS.get(self.unit, format_number)(int(value) if value == int(value) else value)

    @property
    def tolerance_text(self) -> str:
        """`5 %, or 2.2 KB up to half of the figure`."""
        tolerance = self.tolerance
        if not tolerance.share and not tolerance.least:
            return "must be equal"
        least = f", or {self.write(tolerance.least)} up to half of the figure" if tolerance.least else ""
        return f"{100 * tolerance.share:g} %{least}"


def _whole(figure: Callable[[Run], float | None]) -> Callable[[Run], Taken]:
    return lambda run: {WHOLE_RUN: figure(run)}


def _slowdown(percentile: str) -> Callable[[Run], Taken]:
    return lambda run: {name: getattr(figures, percentile) for name, figures in run.result.fct_slowdown.items()}


def mean_queued_bytes(run: Run) -> float | None:
    """Time-weighted mean of what all switches together held while flows were under way.

    Of all together, because in a symmetric load chance decides which switch is the fullest.
    """
    ends = run.flows["finish_us"].drop_nulls()
    whole = whole_buffers(run.queues)
    if ends.is_empty() or whole.is_empty():
        return None
    begin, end = float(run.flows["start_us"].drop_nulls().to_numpy().min()), float(ends.to_numpy().max())
    inside = pl.col("time_us").is_between(begin, end)
    means = []
    for name in switches(whole):
        rows = whole_buffer(whole, name).filter(inside)
        means.append(time_weighted_mean(rows["time_us"].to_numpy(), rows["depth_bytes"].to_numpy().astype(float)))
    found = [mean for mean in means if mean is not None]
    return sum(found) if found else None


def _paused_us(run: Run) -> float | None:
    paused = run.flows["paused_us"].drop_nulls()
    return float(paused.sum()) if paused.len() else None


_GOAL = "the testbed's goal; the paper's effects are of 20 % and more, so that none can come from it"
_RACE = (
    "which of two packets that arrive together finds the queue above its threshold is open on a live network, and "
    "suppression makes one signal of many"
)

METRICS: tuple[Metric, ...] = (
    Metric(
        "peak_buffer_bytes",
        "B",
        "highest high-water mark of any switch's shared buffer",
        Tolerance(0.05, f"{_GOAL}; a queue holds whole packets, and which of two comes first is open", 2_200),
        _whole(lambda run: run.result.max_buffer_bytes),
    ),
    Metric(
        "mean_buffer_bytes",
        "B",
        "time-weighted mean of what all switches together hold, from the first start to the last finish",
        Tolerance(0.10, "depth times duration, each of which may be 5 % off; sampled, so not between samples", 2_200),
        _whole(mean_queued_bytes),
        shown="mean of all buffers",  # beside the peak of one, so that it may be above that
    ),
    Metric(
        "fct_slowdown_p50",
        "",
        "median FCT slowdown of a traffic class",
        Tolerance(0.05, "as for P95: the middle of the flows is no less sure than their tail"),
        _slowdown("p50"),
    ),
    Metric(
        "fct_slowdown_p95",
        "",
        "95th percentile of FCT slowdown of a traffic class",
        Tolerance(0.05, _GOAL),
        _slowdown("p95"),
    ),
    Metric(
        "fct_slowdown_p99",
        "",
        "99th percentile of FCT slowdown of a traffic class",
        Tolerance(0.10, "it rests on a hundredth of the flows, at this size often one to ten of them"),
        _slowdown("p99"),
    ),
    Metric(
        "flows_completed",
        "",
        "flows whose sender saw the last acknowledgment",
        Tolerance(0.0, "percentiles of other flows are not comparable"),
        _whole(lambda run: run.result.flows.completed),
    ),
    Metric(
        "bts_sent",
        "",
        "BTS that switches sent",
        Tolerance(0.10, _RACE, 10),
        _whole(lambda run: count_of(run.result.bts, "sent")),
    ),
    Metric(
        "bts_suppressed",
        "",
        "BTS that switches held back because one had been sent for the flow",
        Tolerance(0.10, _RACE, 10),
        _whole(lambda run: count_of(run.result.bts, "suppressed")),
    ),
    Metric(
        "cache_hits",
        "",
        "packets for which a ToR answered from its pause cache",
        Tolerance(0.20, "a hit is a race of its own: the packet against the BTS that fills the cache on its way", 10),
        _whole(lambda run: count_of(run.result.bts, "cache_hits")),
    ),
    Metric(
        "pause_asked_us",
        "us",
        "sum of the pauses in all BTS that reached hosts",
        Tolerance(0.15, "number of BTS (10 %) times queue depth at each (5 %); one BTS asks for a few us", 10),
        _whole(lambda run: run.result.signals.pause_asked_us),
    ),
    Metric(
        "pause_obeyed_us",
        "us",
        "sum of the time that flow control kept flows from sending",
        Tolerance(
            0.10, "what makes flows finish later, so as near as FCT and number of BTS together; a few us each", 10
        ),
        _whole(_paused_us),
    ),
    Metric(
        "drops",
        "",
        "packets that switches and hosts dropped, for whatever reason",
        Tolerance(0.10, "which packet finds a full buffer is open; a run with a drop and one without differ in kind"),
        _whole(lambda run: run.result.dropped),
    ),
)

METRIC: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
