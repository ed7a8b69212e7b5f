# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The runs of an experiment, as requests with the same options as `sfc-testbed run`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from pydantic import TypeAdapter

from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
from sfc_testbed.reproduction.model.experiment import Experiment, Point
from sfc_testbed.request.schemes import resolve_scheme
from sfc_testbed.request.settings import NO_SETTINGS, Settings
from sfc_testbed.request.spec import P4Program, RunSpec
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.scenarios.model.scenario import ScaleName, Scenario
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.jobs.effort import Effort
from sfc_testbed.testbed.plan.dilations import DecidedDilation
from sfc_testbed.testbed.system.code import code_digest

REQUEST_KEYS = ("duration_ms", "topology", "scenario", "load_balancing", "faults")
"""Settings of a point that are separate options of a run, not `--set` keys."""
CONGESTION = "transport.congestion_parameters"
_REQUEST = TypeAdapter(RunSpec)
_REQUEST_DIGITS = 16
_CODE_DIGITS = 8


@dataclass(frozen=True)
class ExperimentJob:
    """A run of an experiment."""

    experiment: str
    point: Point
    request: RunSpec
    changed: Settings = field(default_factory=dict)
    """Settings that the user changed."""
    effort: Effort | None = None
    decided: DecidedDilation | None = None
    """The dilation of a live run, if the command has decided it."""

    @property
    def label(self) -> str:
        return f"{self.experiment} {self.point.label}"

    @property
    def name(self) -> str:
        """The name of the run's folder, with digests of the request and of the code."""
        request = hashlib.sha256(_REQUEST.dump_json(self.request)).hexdigest()
        digests = f"{request[:_REQUEST_DIGITS]}-{code_digest()[:_CODE_DIGITS]}"
        words = f"{self.experiment}-{self.request.scale}-{self.point.label}"
        return f"{re.sub(r'[^A-Za-z0-9._+-]+', '-', words)}.{digests}"


def settings_known_to(scenario: Scenario, changed: Settings) -> Settings:
    """Return the settings that a scenario has. A key without a dot belongs to the scenario's workload."""
    known = scenario.workload.model_fields
    return {key: value for key, value in changed.items() if "." in key or key in known}


def parameters_known_to(schemes: Collection[str], changed: Settings) -> Settings:
    """Return settings without the congestion parameters that no congestion control of these schemes has."""
    chosen = changed.get(CONGESTION)
    if not isinstance(chosen, Mapping) or not chosen:
        return changed
    controls = [CONGESTION_CONTROLS[resolve_scheme(scheme).transport["congestion"]] for scheme in schemes]
    names = {item.name for control in controls for item in fields(control.Parameters)}
    known = {name: value for name, value in chosen.items() if name in names}
    others = {key: value for key, value in changed.items() if key != CONGESTION}
    return {**others, CONGESTION: known} if known else others


def known_to_experiment(experiment: Experiment, changed: Settings) -> Settings:
    """Return the settings that an experiment has."""
    schemes = {point.scheme for grid in experiment.grids.values() for point in grid.points()}
    return parameters_known_to(schemes, settings_known_to(experiment.scenario, changed))


def request_for(
    experiment: Experiment,
    scale: ScaleName,
    point: Point,
    clock: str | None = None,
    changed: Settings = NO_SETTINGS,
    program: P4Program | None = None,
) -> RunSpec:
    """Return the request for the run of a point.

    A point of another scenario gets only those changed settings that its scenario has. The point keeps its own
    congestion parameters beside the changed ones.
    """
    chosen_clock = clock or point.clock
    scenario = point.settings.get("scenario", experiment.name)
    if scenario != experiment.name:
        changed = settings_known_to(SCENARIOS[scenario], changed)
    settings = {key: value for key, value in point.settings.items() if key not in REQUEST_KEYS}
    if CONGESTION in settings and isinstance(changed.get(CONGESTION), Mapping):
        changed = {**changed, CONGESTION: {**settings[CONGESTION], **changed[CONGESTION]}}
    return RunSpec(
        scenario,
        scheme=point.scheme,
        clock=chosen_clock,  # type: ignore[arg-type]
        dilation=point.dilation if chosen_clock == "real" else None,
        scale=scale,
        seed=point.seed,
        duration_ms=point.settings.get("duration_ms"),
        topology=point.settings.get("topology"),
        settings={**settings, **changed},
        load_balancing=point.settings.get("load_balancing"),
        faults=tuple(point.settings.get("faults", ())),
        program=program,
    )


def jobs_of(
    experiment: Experiment,
    scale: ScaleName,
    clock: str | None = None,
    *,
    seeds: Sequence[int] | None = None,
    changed: Settings = NO_SETTINGS,
    program: P4Program | None = None,
) -> list[ExperimentJob]:
    """Return the jobs of an experiment at a scale, seed by seed; without `seeds`, with the experiment's own seed.

    `changed` settings override the experiment's. Each point gets those congestion parameters that its congestion
    control has; a parameter that no point has is kept, and refused when the runs are planned. `program` is the P4
    program of all switches. UsageError if the experiment does not have the scale.
    """
    if scale not in experiment.grids:
        raise UsageError(
            f"experiment {experiment.name} has no scale {scale!r}; choose from {', '.join(experiment.grids)}"
        )
    points = list(experiment.grids[scale].points())
    if seeds is not None:
        points = [replace(point, seed=seed) for seed in seeds for point in points]
    is_known = parameters_known_to({point.scheme for point in points}, changed) == changed
    jobs = []
    for point in points:
        own = parameters_known_to({point.scheme}, changed) if is_known else changed
        request = request_for(experiment, scale, point, clock, own, program)
        jobs.append(ExperimentJob(experiment.name, point, request, changed))
    return jobs
