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

from sfc_testbed.analysis.metrics.figures import Figure, Figures, Interval, rounded
from sfc_testbed.analysis.metrics.percentiles import mean_interval
from sfc_testbed.analysis.results.result import INCAST_TAG, LEVELS, Level, RunResult, count_of

FiguresBySeed = Mapping[int, Mapping[str, float | None]]
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
        "link_jain_index": result.link_balance.jain_index if result.link_balance else None,
        "link_largest_over_mean": result.link_balance.largest_over_mean if result.link_balance else None,
        "drops": result.dropped,
        "resent": result.flows.packets_resent,
        "bts_sent": count_of(result.bts, "sent"),
        "pfc_sent": count_of(result.pfc, "sent"),
    }


def intervals_of(result: RunResult, traffic_class: str) -> dict[str, Interval | None]:
    """Return the bootstrap intervals of the percentiles of a traffic class."""
    slowdown = result.fct_slowdown.get(traffic_class)
    if slowdown is None:
        return {}
    return {
        "p50_slowdown": slowdown.p50_interval,
        "p95_slowdown": slowdown.p95_interval,
        "p99_slowdown": slowdown.p99_interval,
    }


def ratio_of(value: float | None, base: float | None) -> float | None:
    """Return value / base, or None if either is missing or the base is zero."""
    return None if value is None or not base else value / base


class Estimate(Figures):
    """A mean over runs."""

    mean: Figure
    interval: Interval | None
    """95 % confidence interval of the mean (Student's t); None with a single run, and if the runs agree."""
    runs: int
    """The number of runs that have the figure."""
    is_constant: bool = False
    """Whether several runs have the figure and agree to the last digit. Such runs give no estimate of an error."""


class SchemeOverSeeds(Figures):
    """The means over a scheme's runs. A figure is None if no run has it, or if a run lacks it because flows did not
    finish: a mean over the other runs would hide that. Ratios are geometric means, relative to the first scheme."""

    scheme: str
    """The scheme, the P4 program if the user supplied one, and the settings in which the compared runs differ."""
    seeds: tuple[int, ...]
    verdict: Level
    """The worst verdict among the scheme's runs."""
    flows_completed: int
    flows_total: int
    flows_unfinished: int = 0
    """Flows that did not finish although the scenario runs until all flows are done."""
    figures: dict[str, Estimate | None]
    ratios: dict[str, Estimate | None]

    @property
    def is_constant(self) -> bool:
        """Whether the runs agree in every figure: the seed changes nothing. Runs that failed alike do not show that."""
        if self.verdict == "invalid" or self.flows_unfinished:
            return False
        known = [estimate for estimate in self.figures.values() if estimate is not None]
        return bool(known) and all(estimate.is_constant for estimate in known)


def mean_of(estimate: Estimate | None) -> float | None:
    """Return the mean, or None without an estimate."""
    return None if estimate is None else estimate.mean


def over_seeds(
    results: Sequence[RunResult], variants: Sequence[str], traffic_class: str
) -> tuple[SchemeOverSeeds, ...]:
    """Return the means of each variant in order of first appearance, if there are at least two seeds.

    `variants`: the name of each run, which runs share if they differ only in the seed. The result is empty if a variant
    has a seed twice.
    """
    runs: dict[str, dict[int, RunResult]] = {}
    for variant, result in zip(variants, results, strict=True):
        runs.setdefault(variant, {})[result.seed] = result
    are_distinct = sum(len(by_seed) for by_seed in runs.values()) == len(results)
    if not are_distinct or all(len(by_seed) == 1 for by_seed in runs.values()):
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


def seed_warnings(schemes: Sequence[SchemeOverSeeds]) -> list[str]:
    """Return a sentence that names the schemes for which the seed changes nothing; no sentence without any."""
    constant = [scheme for scheme in schemes if scheme.is_constant]
    if not constant:
        return []
    names = "" if len(constant) == len(schemes) else f" for {', '.join(scheme.scheme for scheme in constant)}"
    seeds = ", ".join(str(seed) for seed in constant[0].seeds)
    return [
        f"The seed changes nothing{names}: seeds {seeds} gave the same figures to the last digit. "
        "They count as one run, so there is no confidence interval."
    ]


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
            name: None if name in hidden else estimate_of([by_name[name] for by_name in figures.values()])
            for name in names
        },
        ratios={
            name: None
            if name in hidden | hidden_in_base
            else geometric_estimate(
                [ratio_of(figures[seed][name], base[seed][name]) for seed in figures if seed in base]
            )
            for name in RATIOS
        },
    )


def estimate_of(values: Sequence[float | None]) -> Estimate | None:
    """Return the mean of the values that are not None, and its interval; None without such values."""
    known = [float(value) for value in values if value is not None]
    if not known:
        return None
    is_constant = _agree(known)
    interval = None if is_constant else mean_interval(known)
    return Estimate(mean=fmean(known), interval=interval, runs=len(known), is_constant=is_constant)


def geometric_estimate(ratios: Sequence[float | None]) -> Estimate | None:
    """Return the geometric mean, in which ratios of one half and two cancel; None without ratios or if one is zero."""
    known = [ratio for ratio in ratios if ratio is not None]
    if not known or min(known) <= 0:
        return None
    logs = [math.log(ratio) for ratio in known]
    is_constant = _agree(known)
    interval = None if is_constant else mean_interval(logs)
    return Estimate(
        mean=math.exp(fmean(logs)),
        interval=None if interval is None else (_exp(interval[0]), _exp(interval[1])),
        runs=len(logs),
        is_constant=is_constant,
    )


def _agree(values: Sequence[float]) -> bool:
    """Return whether there are several values, and all are the same to the last digit that files contain."""
    return len(values) > 1 and len({rounded(value) for value in values}) == 1


def _exp(value: float) -> float:
    """Return e to the power of `value`, limited to avoid overflow: the interval of two very different runs is huge."""
    return math.exp(min(value, 700.0))
