# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Each kind of claim holds where it should, fails where it should, and says so when it cannot tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from analysis.results.stored import Run
from reproduction.catalogue import EXPERIMENTS
from reproduction.jobs import jobs_of
from reproduction.model.claims import Bound, Linear, Ratio, Spread, SteeperThan
from reproduction.model.experiment import Axis, Claim, Grid, Grids, Measurement, Point, Results, judge
from reproduction.model.quantities import STEADY_BUFFER, Quantity
from scenarios.schemes import resolve_scheme
from tests.analysis.conftest import FlowsMaker, make_flows, make_queues

__all__ = ["make_flows", "make_queues"]


class _Run:
    """A run that is nothing but its figure."""

    def __init__(self, figure: float) -> None:
        self.figure = figure


FIGURE = Quantity("figure", lambda run: run.figure)  # type: ignore[attr-defined]


def _results(figures: Mapping[str, Mapping[Any, float]]) -> Results:
    """Schemes -> places on the axis `n` -> figure."""
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


GROWING = _results({"irn": {1: 10, 2: 20, 3: 31}, "sfc": {1: 4, 2: 5, 3: 6}})
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
        (Linear("c", "p", FIGURE, "irn", "n", least_r2=0.9999), False),
        (SteeperThan("c", "p", FIGURE, "irn", "sfc", "n", 2.0), True),
        (SteeperThan("c", "p", FIGURE, "sfc", "irn", "n", 1.0), False),
        (SteeperThan("c", "p", FIGURE, "irn", "sfc", "n", 20.0), False),
        (Spread("c", "p", FIGURE, "sfc", at_most=1.5), True),
        (Spread("c", "p", FIGURE, "irn", at_most=1.5), False),
    ],
)
def test_claims_hold_and_fail(claim: Claim, holds: bool) -> None:
    """The same runs, claims that are true of them and claims that are not."""
    found = judge(claim, GROWING)
    assert found.holds is holds
    assert found.text


def test_the_worst_place_is_the_one_told() -> None:
    """A ratio over an axis speaks of the place nearest to failing."""
    found = judge(RATIO, GROWING)
    assert found.value == 0.4
    assert "worst of 3 points: n 1" in found.text


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (Ratio("c", "p", FIGURE, "gbn", "irn"), "gbn was not run"),
        (Ratio("c", "p", FIGURE, "sfc", "irn", where={"n": 9}), "not run at"),
        (Linear("c", "p", FIGURE, "sfc", "n", where={"n": 1}), "needs three points"),
    ],
)
def test_what_was_not_measured_does_not_hold(claim: Claim, words: str) -> None:
    """And says why."""
    found = judge(claim, GROWING)
    assert not found.holds
    assert words in found.text


def test_a_grid_is_every_scheme_at_every_place() -> None:
    """With the settings of the place and those of all."""
    axes = (Axis.of("degree", "degree", (4, 8)), Axis("pair", {"a": {"x": 1, "y": 2}}))
    points = list(Grid(("irn", "sfc"), axes, {"z": 0}).points())
    assert [(point.scheme, point.place["degree"]) for point in points] == [
        ("irn", 4), ("sfc", 4), ("irn", 8), ("sfc", 8),
    ]  # fmt: skip
    assert points[0].settings == {"z": 0, "degree": 4, "x": 1, "y": 2}


def test_every_experiment_names_schemes_that_exist() -> None:
    """A wrong name would otherwise only be found when somebody asks for that scale."""
    for experiment in EXPERIMENTS.values():
        for grid in experiment.grids.values():
            for point in grid.points():
                resolve_scheme(point.scheme)


def test_every_part_of_several_grids_has_its_own_clock() -> None:
    """A virtual part beside a live one, whichever comes first; `--clock` is for all."""
    parts = (Grid(("irn",)), Grid(("sfc",), clock="real", dilation=20_000))
    for order in (parts, parts[::-1]):
        experiment = replace(EXPERIMENTS["signaling"], grids={"ci": Grids(order)})
        asked = {job.point.scheme: (job.request.clock, job.request.dilation) for job in jobs_of(experiment, "ci")}
        assert asked == {"irn": ("virtual", None), "sfc": ("real", 20_000)}
        assert {job.request.clock for job in jobs_of(experiment, "ci", "virtual")} == {"virtual"}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_whole(name: str) -> None:
    """Three scales, claims with distinct words, figures with distinct names."""
    experiment = EXPERIMENTS[name]
    assert set(experiment.grids) == set(experiment.scenario.scales) == {"ci", "laptop", "paper"}
    assert len({claim.claim for claim in experiment.claims}) == len(experiment.claims) > 0
    assert all(claim.paper for claim in experiment.claims)
    assert len({figure.name for figure in experiment.figures}) == len(experiment.figures)


def test_a_bound_tells_of_the_place_nearest_to_it() -> None:
    """The largest where it must stay below, the smallest where it must stay above, whether it holds or not."""
    figures = [each.run.figure for each in GROWING.of("sfc")]  # type: ignore[attr-defined]
    for limit in (1, 1_000):
        assert judge(Bound("c", "p", FIGURE, "sfc", at_most=limit), GROWING).value == max(figures)
        assert judge(Bound("c", "p", FIGURE, "sfc", at_least=limit), GROWING).value == min(figures)


def test_a_message_that_never_started_does_not_hide_when_the_others_did(
    make_flows: FlowsMaker, make_queues: FlowsMaker
) -> None:
    """What waits for others may have no start; the steady depth is that of the flows that have one."""
    flows, queues = make_flows(), make_queues()
    is_waiting = pl.col("flow_id") == 5
    waiting = flows.with_columns(
        pl.when(is_waiting).then(None).otherwise(pl.col(name)).alias(name) for name in ("start_us", "finish_us")
    )
    found, whole = (
        STEADY_BUFFER.measure(SimpleNamespace(flows=each, queues=queues))  # type: ignore[arg-type]
        for each in (waiting, flows)
    )
    assert found == whole
