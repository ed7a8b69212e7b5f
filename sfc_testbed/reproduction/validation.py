# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Chooses the pairs of runs that `validate` compares on both clocks.

For each scheme of a scenario's experiment this is the last point of the experiment's grids, such as the largest load,
with the experiment's settings. A scheme that the experiment does not have, and a scenario without an experiment, run as
with `run`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.jobs import request_for
from sfc_testbed.reproduction.model.experiment import Experiment, Point
from sfc_testbed.request.schemes import SCHEMES
from sfc_testbed.request.settings import Settings
from sfc_testbed.request.spec import P4Program, RunSpec
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.limits import check_switch_limits
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.plan.switch_targets import SWITCH_TARGETS, switch_target
from sfc_testbed.testbed.validation.run import Pair

ALL = "all"
_SCHEMES_WITHOUT_EXPERIMENT = ("irn", "sfc")


@dataclass(frozen=True)
class Wish:
    """The options of `validate`. None: as in the experiment."""

    scenario: str
    """The name of a scenario, or `all`."""
    schemes: tuple[str, ...] | None = None
    switch: str = "auto"
    scale: str = "ci"
    dilation: int | None = None
    seed: int | None = None
    settings: Settings = field(default_factory=dict)
    """Settings that override the experiment's."""
    load_balancing: str | None = None
    """The load balancing on both clocks; None: the experiment's, or the scheme's own."""
    program: P4Program | None = None
    """The P4 program of the switches on both clocks; None: the testbed's own."""


def pairs_of(wish: Wish) -> tuple[list[Pair], list[str]]:
    """Return the pairs to run, and one line for each pair of `all` that the switch does not support.

    UsageError if the switch does not support a pair of a named scenario, or no pair at all. Other reasons why a run
    cannot be planned are not checked.
    """
    all_names = [name for name in SCENARIOS if name not in EXPERIMENTS or EXPERIMENTS[name].is_in_validate_all]
    names = all_names if wish.scenario == ALL else [wish.scenario]
    candidates = [pair for name in names for pair in _pairs_of_scenario(wish, name)]
    target = SWITCH_TARGETS.get(wish.switch)
    if target is None or target.no_pfc is None:
        return candidates, []
    pairs, refusals = [], []
    for pair in candidates:
        settings = plan_run(pair.virtual).switch_settings
        try:
            switch_target(wish.switch, "real", settings)
            check_switch_limits(plan_run(pair.live))  # at the requested dilation, or that of the dry run
        except UsageError as error:
            refusals.append(f"{pair.label}: {error}")
        else:
            pairs.append(pair)
    if refusals and (not pairs or wish.scenario != ALL):
        raise UsageError(refusals[0])
    return pairs, refusals


def _pairs_of_scenario(wish: Wish, scenario: str) -> list[Pair]:
    points = _last_points(EXPERIMENTS[scenario], wish.scale) if scenario in EXPERIMENTS else {}
    schemes = wish.schemes or tuple(point.scheme for point in points.values()) or _SCHEMES_WITHOUT_EXPERIMENT
    return [_pair(wish, scenario, scheme, points.get(_full_name(scheme))) for scheme in schemes]


def _last_points(experiment: Experiment, scale: str) -> dict[str, Point]:
    """Return the last point of each scheme, by the scheme's full name."""
    grids = {str(name): grid for name, grid in experiment.grids.items()}
    return {_full_name(point.scheme): point for point in grids[scale].points()} if scale in grids else {}


def _full_name(scheme: str) -> str:
    """Return a scheme's name with its congestion control, such as `sfc+window` for `sfc`."""
    return f"{scheme}+{SCHEMES[scheme].congestion}" if scheme in SCHEMES else scheme


def _pair(wish: Wish, scenario: str, scheme: str, point: Point | None) -> Pair:
    if point is None:
        base, place = RunSpec(scenario, scale=wish.scale), ""
    else:
        base = request_for(EXPERIMENTS[scenario], wish.scale, point, "real")  # type: ignore[arg-type]
        place = ", ".join(f"{name} {value}" for name, value in point.place.items())
    request = replace(
        base,
        scheme=scheme,
        switch=wish.switch,
        clock="real",
        dilation=wish.dilation or base.dilation,
        seed=base.seed if wish.seed is None else wish.seed,
        settings={**base.settings, **wish.settings},
        load_balancing=wish.load_balancing or base.load_balancing,
        program=wish.program,
    )
    return Pair(request, place)
