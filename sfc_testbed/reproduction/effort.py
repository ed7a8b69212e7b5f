# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The expected efforts of an experiment's runs, from plans with less traffic: plans with all of it take minutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfc_testbed.reproduction.jobs import ExperimentJob
from sfc_testbed.request.settings import by_part
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.jobs.effort import Effort, effort_of
from sfc_testbed.testbed.plan import checks
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.validation.duration import wall_seconds


def brief_request(request: RunSpec) -> tuple[RunSpec, float]:
    """Return a request with less traffic of the same kind, and how many times as much traffic the full request has.

    UsageError for a request that cannot be planned.
    """
    if request.clock == "real":
        return request, 1.0  # its dilation depends on all of its traffic
    scenario, scale = checks.scenario_at_scale(request)
    fields = {**scale.workload, **by_part(request.settings).workload}
    settings, times = checks.validated(scenario.workload, fields, f"scenario {scenario.name}").brief()
    return replace(request, settings={**request.settings, **settings}), times


def with_efforts(jobs: Sequence[ExperimentJob], plans: Sequence[RunPlan]) -> list[ExperimentJob]:
    """Return the jobs with their efforts, from the plans of their brief requests."""
    return [replace(job, effort=_effort(job.request, plan)) for job, plan in zip(jobs, plans, strict=True)]


def with_decided_dilations(jobs: Sequence[ExperimentJob], plans: Sequence[RunPlan]) -> list[ExperimentJob]:
    """Return the jobs with the dilations of their plans, for live runs on this machine."""
    return [
        replace(job, decided=plan.decided) if job.request.clock == "real" else job
        for job, plan in zip(jobs, plans, strict=True)
    ]


def _effort(request: RunSpec, plan: RunPlan) -> Effort:
    effort = effort_of(plan, brief_request(request)[1])
    return effort if request.clock == "virtual" else replace(effort, seconds=wall_seconds(plan))
