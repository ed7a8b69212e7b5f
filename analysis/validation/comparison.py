# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A live run held against the virtual one, metric by metric. Decides only what is within its tolerance."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.results.result import LatenessFigures, Level, ResultError
from analysis.results.stored import Run
from analysis.validation.metrics import METRICS, WHOLE_RUN, Metric
from analysis.validation.record import MetricFinding, ValidatedRun

_LEVELS: tuple[Level, ...] = ("faithful", "degraded", "invalid")
_LAST_BITS = 1e-9
"""Figures are stored in nine digits: what is equal there is equal."""
_FLOW_COLUMNS = ("flow_id", "src", "dst", "tag", "size_bytes", "start_us")


def compare_clocks(virtual: Run, live: Run, place: str = "") -> ValidatedRun:
    """The findings about one scenario and scheme. ResultError if the two runs did not have the same flow list."""
    _check_same_flows(virtual, live)
    result = live.result
    return ValidatedRun(
        scenario=result.scenario,
        scheme=result.scheme,
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


def _late(figures: LatenessFigures | None) -> float | None:
    return None if figures is None else figures.p99_of_base_rtt


def _check_same_flows(virtual: Run, live: Run) -> None:
    for run in (virtual, live):
        if run.problems:
            raise ResultError(f"{run.folder}: {' '.join(run.problems)}")
    mine, other = (run.flows.select(_FLOW_COLUMNS).sort("flow_id") for run in (virtual, live))
    if not mine.equals(other):
        raise ResultError(f"{virtual.folder} and {live.folder} did not have the same flow list")


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
