# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The runs of an experiment, as requests with the same options as `runner.py run`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reproduction.model.experiment import Experiment, Point
from scenarios.model.scenario import ScaleName
from testbed.errors import UsageError
from testbed.plan.overrides import as_settings
from testbed.plan.plan import RunRequest
from testbed.program.given import GivenProgram

REQUEST_KEYS = ("duration_ms", "topology")
"""Settings of a point that are separate options of a run, not `--set` keys."""


@dataclass(frozen=True)
class ExperimentJob:
    """A run of an experiment."""

    experiment: str
    point: Point
    request: RunRequest
    changed: tuple[str, ...] = ()
    """Settings that the user changed."""

    @property
    def label(self) -> str:
        return f"{self.experiment} {self.point.label}"


def taken_by(experiment: Experiment, changed: Sequence[str]) -> tuple[str, ...]:
    """Return the settings that an experiment has. A key without a dot belongs to the experiment's workload."""
    known = experiment.scenario.workload.model_fields
    keys = {setting: setting.partition("=")[0] for setting in changed}
    return tuple(setting for setting in changed if "." in keys[setting] or keys[setting] in known)


def request_for(
    experiment: Experiment,
    scale: ScaleName,
    point: Point,
    clock: str | None = None,
    changed: Sequence[str] = (),
    program: GivenProgram | None = None,
) -> RunRequest:
    """Return the request for the run of a point."""
    chosen_clock = clock or point.clock
    settings = {key: value for key, value in point.settings.items() if key not in REQUEST_KEYS}
    return RunRequest(
        experiment.name,
        scheme=point.scheme,
        clock=chosen_clock,  # type: ignore[arg-type]
        dilation=point.dilation if chosen_clock == "real" else None,
        scale=scale,
        seed=point.seed,
        duration_ms=point.settings.get("duration_ms"),
        topology=point.settings.get("topology"),
        settings=(*as_settings(settings), *changed),
        program=program,
    )


def jobs_of(
    experiment: Experiment,
    scale: ScaleName,
    clock: str | None = None,
    *,
    seed: int | None = None,
    changed: Sequence[str] = (),
    program: GivenProgram | None = None,
) -> list[ExperimentJob]:
    """Return the jobs of an experiment at a scale.

    `changed` settings override the experiment's. `program` is the P4 program of all switches. UsageError if the
    experiment does not have the scale.
    """
    if scale not in experiment.grids:
        raise UsageError(
            f"experiment {experiment.name} has no scale {scale!r}; choose from {', '.join(experiment.grids)}"
        )
    points = experiment.grids[scale].points()
    if seed is not None:
        points = (replace(point, seed=seed) for point in points)
    requests = [(point, request_for(experiment, scale, point, clock, changed, program)) for point in points]
    return [ExperimentJob(experiment.name, point, request, tuple(changed)) for point, request in requests]
