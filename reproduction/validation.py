# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Which runs of a scenario are held against each other on both clocks: those of its experiment.

For each scheme the last place of the experiment's grids counts, such as the largest load, with the experiment's
settings. A scheme that the experiment does not have, and a scenario without one, run as `run` would.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from reproduction.catalogue import EXPERIMENTS
from reproduction.jobs import request_for
from reproduction.model.experiment import Experiment, Point
from scenarios.catalogue import SCENARIOS
from scenarios.schemes import SCHEMES
from testbed.dilation.choice import with_dilation
from testbed.errors import UsageError
from testbed.execution.switch_limits import check_switch_limits
from testbed.plan.plan import plan_run
from testbed.plan.request import RunRequest
from testbed.plan.switch_targets import SWITCH_TARGETS, switch_target
from testbed.program.given import GivenProgram
from testbed.validation.run import Pair

ALL = "all"
_SCHEMES_WITHOUT_EXPERIMENT = ("irn", "sfc")


@dataclass(frozen=True)
class Wish:
    """What was typed. None: as the experiment has it."""

    scenario: str
    """Or `all`."""
    schemes: tuple[str, ...] | None = None
    switch: str = "auto"
    scale: str = "ci"
    dilation: int | None = None
    seed: int | None = None
    settings: tuple[str, ...] = ()
    """After those of the experiment, which they replace."""
    program: GivenProgram | None = None
    """Of the switches on both clocks; None: the testbed's own."""


def pairs_of(wish: Wish) -> tuple[list[Pair], list[str]]:
    """What to run, and what of `all` the switch cannot do, here and now. UsageError where it cannot do what was named,
    or nothing at all. Whether the runs can be planned otherwise is not asked."""
    names = list(SCENARIOS) if wish.scenario == ALL else [wish.scenario]
    wanted = [pair for name in names for pair in _pairs_of_scenario(wish, name)]
    target = SWITCH_TARGETS.get(wish.switch)
    if target is None or target.no_pfc is None:
        return wanted, []
    pairs, refusals = [], []
    for pair in wanted:
        settings = plan_run(pair.virtual).switch_settings
        try:
            switch_target(wish.switch, "real", settings)
            check_switch_limits(with_dilation(plan_run(pair.live)))
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
    return [_pair(wish, scenario, scheme, points.get(_in_full(scheme))) for scheme in schemes]


def _last_points(experiment: Experiment, scale: str) -> dict[str, Point]:
    """The last point of each scheme, by its name in full."""
    grids = {str(name): grid for name, grid in experiment.grids.items()}
    return {_in_full(point.scheme): point for point in grids[scale].points()} if scale in grids else {}


def _in_full(scheme: str) -> str:
    return f"{scheme}+{SCHEMES[scheme].congestion}" if scheme in SCHEMES else scheme


def _pair(wish: Wish, scenario: str, scheme: str, point: Point | None) -> Pair:
    if point is None:
        base, place = RunRequest(scenario, scale=wish.scale), ""
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
        settings=(*base.settings, *wish.settings),
        program=wish.program,
    )
    return Pair(request, place)
