# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Plans from requests, checked before anything is created, and their execution with reports to the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sfc_testbed.api.reporter import Reporter
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.execute import Clock, StoredRun, execute
from sfc_testbed.testbed.execution.limits import check_limits, check_rates, open_files
from sfc_testbed.testbed.execution.programs import build_programs
from sfc_testbed.testbed.plan.dilations import DecidedDilation
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.system.limits import cores, idle_cores, raise_open_files
from sfc_testbed.testbed.targets import capabilities
from sfc_testbed.testbed.virtual.worker_choice import best_workers

if TYPE_CHECKING:
    from sfc_testbed.testbed.watch.watch import Watch


def checked(
    requests: Sequence[RunSpec],
    out: Path,
    reporter: Reporter,
    *,
    workers: int | None = None,
    prepare: Callable[[], None] | None = None,
    has_virtual: bool = True,
    decided: DecidedDilation | None = None,
) -> list[RunPlan]:
    """Return all plans, or raise UsageError before anything is created or compiled.

    `workers` processes must be able to share each run; None chooses their number for each run. `prepare` compiles the
    engine; None if that was done before. `has_virtual` as in `capabilities.require`, `decided` as in `plan_run`.
    """
    plans = []
    with reporter.status("planning") as update:
        for number, request in enumerate(requests, start=1):
            update(f"planning run {number} of {len(requests)}")
            plans.append(with_workers(plan_run(request, decided), workers))
    for needs in {(plan.config.clock, plan.config.switch, plan.mtu_bytes, plan.config.hosts) for plan in plans}:
        capabilities.require(*needs, has_virtual=has_virtual)
    check_limits(plans, out)
    if prepare is not None:
        prepare()
    if all(plan.config.clock == "virtual" for plan in plans):
        build_programs(plans)
        return plans
    from sfc_testbed.api.dilations import calibrate_first

    calibrate_first(plans, reporter)
    build_programs(plans)
    plans = _with_dilations(plans, reporter)
    for plan in plans:
        check_rates(plan)
    return plans


def _with_dilations(plans: Sequence[RunPlan], reporter: Reporter) -> list[RunPlan]:
    """Choose the dilations of live runs, and show how far their dry runs are."""
    from sfc_testbed.testbed.speed.dilation import with_dilation

    chosen = []
    with reporter.status("dry run") as update:
        for number, plan in enumerate(plans, start=1):

            def tell(share: float, number: int = number) -> None:
                which = f"dry run {number} of {len(plans)} in virtual time, to choose the dilation"
                update(f"{which}: {100 * share:.0f} % done")

            chosen.append(with_dilation(plan, tell))
    return chosen


def with_workers(plan: RunPlan, workers: int | None) -> RunPlan:
    """Return the plan for this number of processes, None for the best one. UsageError if they cannot share the run."""
    if workers is None:
        workers = best_workers(plan, cores(), idle_cores)
    if workers == 1:
        return plan
    if plan.config.clock != "virtual":
        raise UsageError("--workers: only a run in virtual time can use several processes")
    from sfc_testbed.testbed.virtual.shares import shares
    from sfc_testbed.testbed.virtual.workers import open_files as open_files_of_workers

    shares(plan.topology, plan.columns, workers)
    raise_open_files(open_files(plan) + open_files_of_workers(workers), f"--workers {workers}")
    return replace(plan, config=replace(plan.config, workers=workers))


def execute_plan(
    plan: RunPlan,
    out: Path,
    reporter: Reporter,
    clock: Clock | None = None,
    *,
    page: bool = True,
    watch: Watch | None = None,
) -> StoredRun:
    """Run a plan with reports of its progress. `page`, `watch`: as in `execute`."""
    with reporter.run(f"{plan.config.scenario} {plan.config.variant}") as progress:
        return execute(plan, out, progress, clock, page=page, watch=watch)
