# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The kinds of claim, grids of runs, and whether the experiments are complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.jobs import jobs_of
from sfc_testbed.reproduction.model.claims import Bound, Linear, NoneLower, Ratio, SlopeRatio, Spread
from sfc_testbed.reproduction.model.experiment import Axis, Claim, Grid, Grids, Measurement, Point, Results, judge
from sfc_testbed.reproduction.model.quantities import STEADY_BUFFER, Quantity
from sfc_testbed.request.schemes import resolve_scheme
from tests.analysis.conftest import make_flows, make_queues


class _Run:
    """A run with nothing but a figure."""

    def __init__(self, figure: float) -> None:
        self.figure = figure


FIGURE = Quantity("figure", lambda run: run.figure)  # type: ignore[attr-defined]


def _results(figures: Mapping[str, Mapping[Any, float]]) -> Results:
    """Return results from a mapping: scheme -> place on the axis `n` -> figure."""
    return Results(
        "ci",
        tuple(
            Measurement(Point(scheme, {"n": place}), _as_run(figure))
            for scheme, places in figures.items()
            for place, figure in places.items()
        ),
    )


def _as_run(figure: float) -> Run:
    return _Run(figure)  # type: ignore[return-value]


GROWING = _results({"irn": {1: 10, 2: 20, 3: 31}, "sfc": {1: 4, 2: 5, 3: 6}, "bent": {1: 9, 2: 1, 3: 2}})
RATIO = Ratio("c", "p", FIGURE, "sfc", "irn", at_most=0.5)


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (RATIO, True),
        (Ratio("c", "p", FIGURE, "sfc", "irn", at_most=0.3), False),
        (Ratio("c", "p", FIGURE, "sfc", "irn", at_most=0.3, where={"n": 3}), True),
        (Ratio("c", "p", FIGURE, "sfc", "irn", at_least=0.2, at_most=0.5), False),
        (Bound("c", "p", FIGURE, "sfc", at_most=6), True),
        (Bound("c", "p", FIGURE, "sfc", at_most=5.9), False),
        (Bound("c", "p", FIGURE, "sfc", at_least=lambda run: run.figure), True),  # type: ignore[attr-defined]
        (Linear("c", "p", FIGURE, "irn", "n"), True),
        (Linear("c", "p", FIGURE, "bent", "n"), False),
        (SlopeRatio("c", "p", FIGURE, "irn", "sfc", "n", at_least=2.0), True),
        (SlopeRatio("c", "p", FIGURE, "sfc", "irn", "n", at_least=1.0), False),
        (SlopeRatio("c", "p", FIGURE, "irn", "sfc", "n", at_most=2.0), False),
        (SlopeRatio("c", "p", FIGURE, "irn", "bent", "n", at_most=2.0), False),
        (NoneLower("c", "p", (FIGURE,), "sfc", "irn", at_least=0.1), True),
        (NoneLower("c", "p", (FIGURE,), "sfc", "irn", at_least=0.3), False),
        (Spread("c", "p", FIGURE, "sfc", at_most=1.5), True),
        (Spread("c", "p", FIGURE, "irn", at_most=1.5), False),
    ],
)
def test_a_claim_holds_exactly_if_it_is_true_of_the_runs(claim: Claim, holds: bool) -> None:
    measured = judge(claim, GROWING)
    assert measured.holds is holds
    assert measured.text


def test_a_ratio_over_an_axis_reports_the_worst_point() -> None:
    measured = judge(RATIO, GROWING)
    assert measured.value == 0.4
    assert measured.full_text == "0.4x (4 vs. 10; worst of 3 points: n 1)"


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (Ratio("c", "p", FIGURE, "gbn", "irn"), "gbn was not run"),
        (Ratio("c", "p", FIGURE, "sfc", "irn", where={"n": 9}), "not run at"),
        (Linear("c", "p", FIGURE, "sfc", "n", where={"n": 1}), "needs three points"),
    ],
)
def test_a_claim_without_its_runs_does_not_hold_and_names_what_is_missing(claim: Claim, words: str) -> None:
    measured = judge(claim, GROWING)
    assert not measured.holds
    assert words in measured.text


def test_a_grid_is_every_scheme_at_every_place_with_the_settings_of_the_place() -> None:
    axes = (Axis.of("degree", "degree", (4, 8)), Axis("pair", {"a": {"x": 1, "y": 2}}))
    points = list(Grid(("irn", "sfc"), axes, {"z": 0}).points())
    assert [(point.scheme, point.place["degree"]) for point in points] == [
        ("irn", 4), ("sfc", 4), ("irn", 8), ("sfc", 8),
    ]  # fmt: skip
    assert points[0].settings == {"z": 0, "degree": 4, "x": 1, "y": 2}


def test_every_experiment_names_schemes_that_exist() -> None:
    """A wrong name would otherwise be detected only when the experiment runs at this scale."""
    for experiment in EXPERIMENTS.values():
        for grid in experiment.grids.values():
            for point in grid.points():
                resolve_scheme(point.scheme)


def test_every_part_of_several_grids_has_its_own_clock_unless_clock_overrides_all() -> None:
    parts = (Grid(("irn",)), Grid(("sfc",), clock="real", dilation=20_000))
    for order in (parts, parts[::-1]):
        experiment = replace(EXPERIMENTS["signaling"], grids={"ci": Grids(order)})
        clocks = {job.point.scheme: (job.request.clock, job.request.dilation) for job in jobs_of(experiment, "ci")}
        assert clocks == {"irn": ("virtual", None), "sfc": ("real", 20_000)}
        assert {job.request.clock for job in jobs_of(experiment, "ci", "virtual")} == {"virtual"}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_three_scales_and_distinct_claims(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert set(experiment.grids) == set(experiment.scenario.scales) == {"ci", "laptop", "paper"}
    assert len({claim.claim for claim in experiment.claims}) == len(experiment.claims) > 0
    assert all(claim.paper for claim in experiment.claims)


def test_a_bound_reports_the_value_nearest_to_it_whether_it_holds_or_not() -> None:
    figures = [measurement.run.figure for measurement in GROWING.of("sfc")]  # type: ignore[attr-defined]
    for limit in (1, 1_000):
        assert judge(Bound("c", "p", FIGURE, "sfc", at_most=limit), GROWING).value == max(figures)
        assert judge(Bound("c", "p", FIGURE, "sfc", at_least=limit), GROWING).value == min(figures)


def test_the_steady_buffer_ignores_flows_that_never_started() -> None:
    """A flow that waits for others may have no start time."""
    flows, queues = make_flows(), make_queues()
    is_waiting = pl.col("flow_id") == 5
    waiting = flows.with_columns(
        pl.when(is_waiting).then(None).otherwise(pl.col(name)).alias(name) for name in ("start_us", "finish_us")
    )
    with_waiting, without_waiting = (
        STEADY_BUFFER.measure(SimpleNamespace(flows=frame, queues=queues))  # type: ignore[arg-type]
        for frame in (waiting, flows)
    )
    assert with_waiting == without_waiting
