# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The metrics in which a live run is compared with the virtual run, each with its tolerance and the reason for it.

A tolerance is a share of the virtual figure. Some tolerances also have a minimum in the figure's unit, because the
figure changes in steps, such as whole packets. The minimum never exceeds half of the virtual figure. So if something
happens on one clock only, the figure is always outside its tolerance.

The tolerances were fixed before the first comparison and have not been widened since. Figures outside their tolerance
are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from sfc_testbed.analysis.formatting import format_bytes, format_number, format_us
from sfc_testbed.analysis.metrics.buffers import switches, time_weighted_mean, whole_buffer, whole_buffers
from sfc_testbed.analysis.results.result import count_of
from sfc_testbed.analysis.results.stored import Run

FiguresByClass = Mapping[str, float | None]
"""Figures by traffic class; the key of the whole run is WHOLE_RUN. None: too few samples, or not measured."""

WHOLE_RUN = ""
_FORMATS = {"B": format_bytes, "us": format_us}


@dataclass(frozen=True)
class Tolerance:
    """The largest accepted difference between the live and the virtual figure."""

    share: float
    """The tolerance as a share of the virtual figure."""
    reason: str
    least: float = 0.0
    """The smallest tolerance, in the figure's unit. At most half of the virtual figure is used."""

    def around(self, virtual: float) -> float:
        """Return the tolerance for a virtual figure, in the figure's unit."""
        return max(self.share * abs(virtual), min(self.least, abs(virtual) / 2))


@dataclass(frozen=True)
class Metric:
    """A figure that is compared, for the whole run or for each traffic class."""

    name: str
    unit: str
    """`B` or `us`; empty for a count or a ratio."""
    meaning: str
    tolerance: Tolerance
    take: Callable[[Run], FiguresByClass]
    """The function that reads the figures from a run."""
    shown: str = ""
    """The name in texts; empty: `name` without its unit."""

    def write(self, value: float) -> str:
        """Return a figure with its unit as text."""
        return _FORMATS.get(self.unit, format_number)(int(value) if value == int(value) else value)

    @property
    def tolerance_text(self) -> str:
        """The tolerance as text, such as `5 %, at least 2.2 KB (but at most half of the figure)`."""
        tolerance = self.tolerance
        if not tolerance.share and not tolerance.least:
            return "equal"
        least = f", at least {self.write(tolerance.least)} (but at most half of the figure)" if tolerance.least else ""
        return f"{100 * tolerance.share:g} %{least}"


def _whole(figure: Callable[[Run], float | None]) -> Callable[[Run], FiguresByClass]:
    return lambda run: {WHOLE_RUN: figure(run)}


def _slowdown(percentile: str) -> Callable[[Run], FiguresByClass]:
    return lambda run: {name: getattr(figures, percentile) for name, figures in run.result.fct_slowdown.items()}


def mean_queued_bytes(run: Run) -> float | None:
    """Return the time-weighted mean of the bytes in all switches, from the first flow's start to the last one's finish.

    The mean covers all switches because, under a symmetric load, chance decides which switch is the fullest.
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
    known = [mean for mean in means if mean is not None]
    return sum(known) if known else None


def _paused_us(run: Run) -> float | None:
    paused = run.flows["paused_us"].drop_nulls()
    return float(paused.sum()) if paused.len() else None


_GOAL = "the testbed's goal: the paper's effects are at least 20 %, so an error of this size cannot cause them"
_RACE = (
    "the order of packets that arrive together decides which packet finds the queue above its threshold, and it varies "
    "on a live network; suppression turns many signals into one"
)

METRICS: tuple[Metric, ...] = (
    Metric(
        "peak_buffer_bytes",
        "B",
        "most bytes that the shared buffer of any switch held",
        Tolerance(0.05, f"{_GOAL}; a queue holds whole packets, and their order of arrival varies", 2_200),
        _whole(lambda run: run.result.max_buffer_bytes),
    ),
    Metric(
        "mean_buffer_bytes",
        "B",
        "time-weighted mean of the bytes in all switches together, from the first start of a flow to the last finish",
        Tolerance(
            0.10,
            "depth times duration, each with an error of up to 5 %; depths between samples are not seen",
            2_200,
        ),
        _whole(mean_queued_bytes),
        shown="mean of all buffers",  # a sum over switches, so it can exceed the peak of one buffer
    ),
    Metric(
        "fct_slowdown_p50",
        "",
        "median FCT slowdown of a traffic class",
        Tolerance(0.05, "same as for P95: the median is at least as certain as the tail"),
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
        Tolerance(0.10, "1 % of the flows determine it, often one to ten flows at this scale"),
        _slowdown("p99"),
    ),
    Metric(
        "flows_completed",
        "",
        "flows whose sender saw the last acknowledgment",
        Tolerance(0.0, "percentiles over different flows are not comparable"),
        _whole(lambda run: run.result.flows.completed),
    ),
    Metric(
        "bts_sent",
        "",
        "BTS sent by switches",
        Tolerance(0.10, _RACE, 10),
        _whole(lambda run: count_of(run.result.bts, "sent")),
    ),
    Metric(
        "bts_suppressed",
        "",
        "BTS that switches suppressed because the flow had already been sent one",
        Tolerance(0.10, _RACE, 10),
        _whole(lambda run: count_of(run.result.bts, "suppressed")),
    ),
    Metric(
        "cache_hits",
        "",
        "packets that a ToR answered with a BTS from its pause cache",
        Tolerance(0.20, "a hit depends on another race: the packet against the BTS that fills the cache", 10),
        _whole(lambda run: count_of(run.result.bts, "cache_hits")),
    ),
    Metric(
        "pause_asked_us",
        "us",
        "sum of the pause durations in all BTS that reached hosts",
        Tolerance(0.15, "number of BTS (10 %) times queue depth at each BTS (5 %); one pause lasts a few us", 10),
        _whole(lambda run: run.result.signals.pause_asked_us),
    ),
    Metric(
        "pause_obeyed_us",
        "us",
        "total time for which flow control kept flows from sending",
        Tolerance(
            0.10, "pauses delay flows, so the tolerance follows those of FCT and BTS; one pause lasts a few us", 10
        ),
        _whole(_paused_us),
    ),
    Metric(
        "drops",
        "",
        "packets dropped by switches and hosts, for any reason",
        Tolerance(
            0.10,
            "it varies which packet finds a full buffer; no minimum, because a run with drops differs from one without",
        ),
        _whole(lambda run: run.result.dropped),
    ),
)

METRIC: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
