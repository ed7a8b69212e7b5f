# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The figures by which runs are compared, and their means over seeds with confidence intervals.

Ratios are computed for each seed and then averaged. The runs of one seed have the same flows, so the effect of the
random flows on both schemes cancels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from analysis.metrics.figures import Figure, Figures, Interval
from analysis.metrics.percentiles import mean_interval
from analysis.results.result import LEVELS, Level, RunResult, count_of

_ALIKE_FIELDS = ("scenario", "scale", "switch", "clock")

FiguresBySeed = Mapping[int, Mapping[str, float | None]]


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
        "resent": result.flows.packets_resent,
        "bts_sent": count_of(result.bts, "sent"),
        "pfc_sent": count_of(result.pfc, "sent"),
    }


def ratio_of(value: float | None, base: float | None) -> float | None:
    """Return value / base, or None if either is missing or the base is zero."""
    return None if value is None or not base else value / base


class Estimate(Figures):
    """A mean over runs."""

    mean: Figure
    interval: Interval | None
    """95 % confidence interval of the mean (Student's t); None with a single run."""
    runs: int
    """The number of runs that have the figure."""


class SchemeOverSeeds(Figures):
    """The means over a scheme's runs. A figure is None if no run has it, or if a run lacks it because flows did not
    finish: a mean over the other runs would hide that. Ratios are geometric means, relative to the first scheme."""

    scheme: str
    """The scheme, and the P4 program if the user supplied one."""
    seeds: tuple[int, ...]
    verdict: Level
    """The worst verdict among the scheme's runs."""
    flows_completed: int
    flows_total: int
    flows_unfinished: int = 0
    """Flows that did not finish although the scenario runs until all flows are done."""
    figures: dict[str, Estimate | None]
    ratios: dict[str, Estimate | None]


def mean_of(estimate: Estimate | None) -> float | None:
    """Return the mean, or None without an estimate."""
    return None if estimate is None else estimate.mean


def over_seeds(results: Sequence[RunResult], traffic_class: str) -> tuple[SchemeOverSeeds, ...]:
    """Return the schemes in order of first appearance, if there are at least two seeds.

    The result is empty if the runs differ in anything but scheme, program and seed.
    """
    runs: dict[str, dict[int, RunResult]] = {}
    for result in results:
        runs.setdefault(result.variant, {})[result.seed] = result
    are_distinct = sum(len(by_seed) for by_seed in runs.values()) == len(results)
    are_alike = all(len({getattr(result, name) for result in results}) == 1 for name in _ALIKE_FIELDS)
    if not are_distinct or not are_alike or all(len(by_seed) == 1 for by_seed in runs.values()):
        return ()
    summaries: list[SchemeOverSeeds] = []
    base: FiguresBySeed | None = None
    hidden_in_base: set[str] = set()
    for scheme, by_seed in runs.items():
        figures = {seed: compared_figures(result, traffic_class) for seed, result in by_seed.items()}
        hidden = _hidden(by_seed, figures)
        if base is None:
            base, hidden_in_base = figures, hidden
        summaries.append(_summary(scheme, by_seed, figures, base, hidden, hidden_in_base))
    return tuple(summaries)


def _hidden(runs: Mapping[int, RunResult], figures: FiguresBySeed) -> set[str]:
    """Return the figures that a run lacks because flows did not finish."""
    return {
        name
        for seed, by_name in figures.items()
        for name, value in by_name.items()
        if value is None and not runs[seed].did_finish
    }


def _summary(
    scheme: str,
    runs: Mapping[int, RunResult],
    figures: FiguresBySeed,
    base: FiguresBySeed,
    hidden: set[str],
    hidden_in_base: set[str],
) -> SchemeOverSeeds:
    names = next(iter(figures.values())).keys()
    return SchemeOverSeeds(
        scheme=scheme,
        seeds=tuple(runs),
        verdict=max((run.verdict for run in runs.values()), key=LEVELS.index),
        flows_completed=sum(run.flows.completed for run in runs.values()),
        flows_total=sum(run.flows.total for run in runs.values()),
        flows_unfinished=sum(run.unfinished for run in runs.values()),
        figures={
            name: None if name in hidden else _estimate([by_name[name] for by_name in figures.values()])
            for name in names
        },
        ratios={
            name: None
            if name in hidden | hidden_in_base
            else _geometric([ratio_of(figures[seed][name], base[seed][name]) for seed in figures if seed in base])
            for name in RATIOS
        },
    )


def _estimate(values: Sequence[float | None]) -> Estimate | None:
    known = [float(value) for value in values if value is not None]
    if not known:
        return None
    return Estimate(mean=fmean(known), interval=mean_interval(known), runs=len(known))


def _geometric(ratios: Sequence[float | None]) -> Estimate | None:
    """Return the geometric mean, in which ratios of one half and two cancel; None without ratios or if one is zero."""
    known = [ratio for ratio in ratios if ratio is not None]
    if not known or min(known) <= 0:
        return None
    logs = [math.log(ratio) for ratio in known]
    interval = mean_interval(logs)
    return Estimate(
        mean=math.exp(fmean(logs)),
        interval=None if interval is None else (_exp(interval[0]), _exp(interval[1])),
        runs=len(logs),
    )


def _exp(value: float) -> float:
    """Return e to the power of `value`, limited to avoid overflow: the interval of two very different runs is huge."""
    return math.exp(min(value, 700.0))
