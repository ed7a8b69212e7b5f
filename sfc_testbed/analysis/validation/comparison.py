# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compares a live run with the virtual run of the same flows, metric by metric, and checks the tolerances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from sfc_testbed.analysis.results.result import LEVELS, LatenessFigures, ResultError
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.analysis.validation.metrics import METRICS, WHOLE_RUN, Metric
from sfc_testbed.analysis.validation.record import MetricFinding, ValidatedRun

_LAST_BITS = 1e-9
"""The relative error from rounding: figures are stored with nine significant digits."""
_FLOW_COLUMNS = ("flow_id", "src", "dst", "tag", "size_bytes")


def compare_clocks(virtual: Run, live: Run, place: str = "") -> ValidatedRun:
    """Compare one scenario and scheme on both clocks. Raises ResultError if the runs had different flow lists.

    `place`: the values of the experiment's axes, as text.
    """
    _check_same_flows(virtual, live)
    result = live.result
    return ValidatedRun(
        scenario=result.scenario,
        scheme=result.scheme,
        load_balancing=result.load_balancing,
        program=result.program,
        switch=result.switch,
        scale=result.scale,
        place=place,
        seed=result.seed,
        dilation=result.dilation,
        dilation_given=live.config is not None and live.config.dilation_given,
        host_lateness=_p99_lateness(result.lateness.host),
        switch_lateness=_p99_lateness(result.lateness.switch),
        verdict=max(virtual.result.verdict, result.verdict, key=LEVELS.index),
        verdict_reasons=(*_reasons("virtual", virtual), *_reasons("live", live)),
        metrics=tuple(finding for metric in METRICS for finding in _findings(metric, virtual, live)),
        virtual_command=virtual.command,
        live_command=live.command,
        virtual_folder=virtual.folder.name,
        live_folder=live.folder.name,
        live_wall_s=result.wall_s,
    )


def with_spread(validated: ValidatedRun, jitter_ns: int, runs: Sequence[Run]) -> ValidatedRun:
    """Add to each finding the range of the figure over `runs`: virtual runs with jitter of up to `jitter_ns` per link.

    Raises ResultError if the runs had different flow lists.
    """
    if not runs:
        return validated
    _check_same_flows(*runs)
    figures = {metric.name: [metric.take(run) for run in runs] for metric in METRICS}
    return validated.model_copy(
        update={
            "jitter_ns": jitter_ns,
            "jitter_runs": len(runs),
            "metrics": tuple(
                _spread(finding, [by_class.get(finding.traffic_class) for by_class in figures[finding.name]])
                for finding in validated.metrics
            ),
        }
    )


def _spread(finding: MetricFinding, figures: Sequence[float | None]) -> MetricFinding:
    values = [value for value in (finding.virtual, *figures) if value is not None]
    return finding.model_copy(update={"spread": (min(values), max(values)) if values else None})


def _p99_lateness(figures: LatenessFigures | None) -> float | None:
    return None if figures is None else figures.p99_of_base_rtt


def _check_same_flows(first: Run, *others: Run) -> None:
    for run in (first, *others):
        if run.problems:
            raise ResultError(f"{run.folder}: {' '.join(run.problems)}")
    first_flows = _flow_list(first)
    for other in others:
        if not first_flows.equals(_flow_list(other)):
            raise ResultError(f"{first.folder} and {other.folder} have different flow lists")


def _flow_list(run: Run) -> pl.DataFrame:
    """Return the planned flows of a run. Start times are left out if messages depend on others: the network sets them.

    A run with an ideal completion time, or with jobs, has dependent messages.
    """
    is_dependent = run.result.dependent_completion or run.result.jobs
    columns = _FLOW_COLUMNS if is_dependent else (*_FLOW_COLUMNS, "start_us")
    return run.flows.select(columns).sort("flow_id")


def _reasons(clock: str, run: Run) -> tuple[str, ...]:
    """Return the reasons of the verdict, unless the run is faithful."""
    if run.result.verdict == "faithful":
        return ()
    return tuple(f"{clock}: {reason}" for reason in run.result.verdict_reasons)


def _findings(metric: Metric, virtual: Run, live: Run) -> Iterator[MetricFinding]:
    """Yield a finding for the run or for each traffic class, unless both runs have too few samples for the figure."""
    virtual_figures, live_figures = metric.take(virtual), metric.take(live)
    for traffic_class in dict.fromkeys((*virtual_figures, *live_figures)):
        virtual_figure, live_figure = virtual_figures.get(traffic_class), live_figures.get(traffic_class)
        if virtual_figure is not None or live_figure is not None:
            name = metric.name if traffic_class == WHOLE_RUN else f"{metric.name}.{traffic_class}"
            yield _finding(metric, name, virtual_figure, live_figure)


def _finding(metric: Metric, name: str, virtual: float | None, live: float | None) -> MetricFinding:
    difference = tolerance = None
    if virtual is not None and live is not None:
        difference, tolerance = live - virtual, metric.tolerance.around(virtual)
    return MetricFinding(
        metric=name,
        unit=metric.unit,
        virtual=virtual,
        live=live,
        difference=difference,
        share=difference / virtual if difference is not None and virtual else None,
        tolerance=tolerance,
        within=difference is not None and tolerance is not None and abs(difference) <= tolerance * (1 + _LAST_BITS),
    )
