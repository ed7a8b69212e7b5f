# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A live run held against the virtual one, metric by metric. Decides only what is within its tolerance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from analysis.results.result import LatenessFigures, Level, ResultError
from analysis.results.stored import Run
from analysis.validation.metrics import METRICS, WHOLE_RUN, Metric
from analysis.validation.record import MetricFinding, ValidatedRun

_LEVELS: tuple[Level, ...] = ("faithful", "degraded", "invalid")
_LAST_BITS = 1e-9
"""Figures are stored in nine digits: what is equal there is equal."""
_FLOW_COLUMNS = ("flow_id", "src", "dst", "tag", "size_bytes")


def compare_clocks(virtual: Run, live: Run, place: str = "") -> ValidatedRun:
    """The findings about one scenario and scheme. ResultError if the two runs did not have the same flow list."""
    _check_same_flows(virtual, live)
    result = live.result
    return ValidatedRun(
        scenario=result.scenario,
        scheme=result.scheme,
        program=result.program,
        switch=result.switch,
        scale=result.scale,
        place=place,
        seed=result.seed,
        dilation=result.dilation,
        dilation_given=live.dilation_was_given,
        host_lateness=_late(result.lateness.host),
        switch_lateness=_late(result.lateness.switch),
        verdict=max(virtual.result.verdict, result.verdict, key=_LEVELS.index),
        verdict_reasons=(*_reasons("virtual", virtual), *_reasons("live", live)),
        metrics=tuple(finding for metric in METRICS for finding in _findings(metric, virtual, live)),
        virtual_command=virtual.command,
        live_command=live.command,
        virtual_folder=virtual.folder.name,
        live_folder=live.folder.name,
        live_wall_s=result.wall_s,
    )


def with_spread(found: ValidatedRun, jitter_ns: int, runs: Sequence[Run]) -> ValidatedRun:
    """The findings with what virtual runs reached whose links jitter. ResultError as above."""
    if not runs:
        return found
    _check_same_flows(*runs)
    taken = {metric.name: [metric.take(run) for run in runs] for metric in METRICS}
    return found.model_copy(
        update={
            "jitter_ns": jitter_ns,
            "jitter_runs": len(runs),
            "metrics": tuple(
                _spread(each, [one.get(each.traffic_class) for one in taken[each.name]]) for each in found.metrics
            ),
        }
    )


def _spread(found: MetricFinding, others: Sequence[float | None]) -> MetricFinding:
    values = [each for each in (found.virtual, *others) if each is not None]
    return found.model_copy(update={"spread": (min(values), max(values)) if values else None})


def _late(figures: LatenessFigures | None) -> float | None:
    return None if figures is None else figures.p99_of_base_rtt


def _check_same_flows(first: Run, *others: Run) -> None:
    for run in (first, *others):
        if run.problems:
            raise ResultError(f"{run.folder}: {' '.join(run.problems)}")
    mine = _flow_list(first)
    for other in others:
        if not mine.equals(_flow_list(other)):
            raise ResultError(f"{first.folder} and {other.folder} did not have the same flow list")


def _flow_list(run: Run) -> pl.DataFrame:
    """Without starts where messages wait: they begin when the network lets them."""
    columns = _FLOW_COLUMNS if run.result.completion else (*_FLOW_COLUMNS, "start_us")
    return run.flows.select(columns).sort("flow_id")


def _reasons(clock: str, run: Run) -> tuple[str, ...]:
    """Of a run that is less than faithful."""
    return () if run.result.verdict == "faithful" else tuple(f"{clock}: {each}" for each in run.result.verdict_reasons)


def _findings(metric: Metric, virtual: Run, live: Run) -> Iterator[MetricFinding]:
    """One, or one for each traffic class; none where neither run can carry the figure."""
    before, after = metric.take(virtual), metric.take(live)
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        if one is not None or other is not None:
            yield _finding(metric, metric.name if name == WHOLE_RUN else f"{metric.name}.{name}", one, other)


def _finding(metric: Metric, name: str, virtual: float | None, live: float | None) -> MetricFinding:
    if virtual is None or live is None:
        return MetricFinding(
            metric=name, unit=metric.unit, virtual=virtual, live=live, difference=None, share=None, tolerance=None,
            within=False,
        )  # fmt: skip
    difference, tolerance = live - virtual, metric.tolerance.around(virtual)
    return MetricFinding(
        metric=name,
        unit=metric.unit,
        virtual=virtual,
        live=live,
        difference=difference,
        share=difference / virtual if virtual else None,
        tolerance=tolerance,
        within=abs(difference) <= tolerance * (1 + _LAST_BITS),
    )
