# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Plans from the options of the verbs, checked before anything is created."""

from __future__ import annotations

import atexit
import re
import signal
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import typer

from sfc_testbed.analysis.results.result import RunResult
from sfc_testbed.cli.calibration import calibrate_first
from sfc_testbed.cli.output import EXIT_INVALID, EXIT_UNFINISHED, complain, console, errors
from sfc_testbed.cli.progress import RunProgress, status
from sfc_testbed.native.first_use import prepare
from sfc_testbed.request.checks import shown
from sfc_testbed.request.spec import ClockName, RunSpec
from sfc_testbed.testbed.errors import Interrupted, UsageError
from sfc_testbed.testbed.execution.execute import Clock, StoredRun, execute
from sfc_testbed.testbed.execution.limits import check_limits, check_rates, open_files
from sfc_testbed.testbed.execution.programs import build_programs
from sfc_testbed.testbed.plan.dilations import MAX_DILATION, DecidedDilation
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.recording.outcome import Silent
from sfc_testbed.testbed.speed.dilation import with_dilation
from sfc_testbed.testbed.system.limits import cores, raise_open_files
from sfc_testbed.testbed.targets import capabilities
from sfc_testbed.testbed.virtual.ranks import Ranks, join, serve, simulate_over_ranks
from sfc_testbed.testbed.virtual.shares import shares
from sfc_testbed.testbed.virtual.worker_choice import best_workers
from sfc_testbed.testbed.virtual.workers import open_files as open_files_of_workers

CLOCKS: tuple[ClockName, ...] = ("real", "virtual")
EXCHANGES = ("memory", "mpi")


def clock_of(text: str) -> ClockName:
    """Return the clock of a name. UsageError if there is none."""
    for clock in CLOCKS:
        if text == clock:
            return clock
    raise UsageError(f"unknown clock {text!r}; choose from {', '.join(CLOCKS)}")


def dilation_of(text: str) -> int | None:
    """Return a dilation, or None for `auto`. UsageError for other text."""
    if text == "auto":
        return None
    if re.fullmatch("[0-9]{1,20}", text) and 1 <= int(text) <= MAX_DILATION:
        return int(text)
    raise UsageError(f"--dilation is auto or a whole number from 1 to {MAX_DILATION}, not {shown(text)}")


def places_of(text: str) -> tuple[str, ...]:
    """Return the places of `--pcap`. UsageError for an empty place."""
    if not text:
        return ()
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise UsageError(f"--pcap: places are names separated by commas, not {shown(text)}")
    return names


def checked(
    requests: Sequence[RunSpec],
    out: Path,
    *,
    workers: int | None = None,
    compiles: bool = True,
    has_virtual: bool = True,
    decided: DecidedDilation | None = None,
) -> list[RunPlan]:
    """Return all plans, or raise UsageError before anything is created or compiled.

    `workers` processes must be able to share each run; None chooses their number for each run. `compiles` is false if
    the caller compiles the engine later.
    `has_virtual` as in `capabilities.require`, `decided` as in `plan_run`.
    """
    plans = []
    with status("planning", errors) as line:
        for number, request in enumerate(requests, start=1):
            line.update(f"planning run {number} of {len(requests)}")
            plans.append(with_workers(plan_run(request, decided), workers))
    for needs in {(plan.config.clock, plan.config.switch, plan.mtu_bytes, plan.config.hosts) for plan in plans}:
        capabilities.require(*needs, has_virtual=has_virtual)
    check_limits(plans, out)
    if compiles:
        prepare()
    calibrate_first(plans)
    build_programs(plans)
    if all(plan.config.clock == "virtual" for plan in plans):
        return plans
    plans = _with_dilations(plans)
    for plan in plans:
        check_rates(plan)
    return plans


def _with_dilations(plans: Sequence[RunPlan]) -> list[RunPlan]:
    """Choose the dilations of live runs, and show how far their dry runs are."""
    chosen = []
    with status("dry run", errors) as line:
        for number, plan in enumerate(plans, start=1):

            def tell(share: float, number: int = number) -> None:
                which = f"dry run {number} of {len(plans)} in virtual time, to choose the dilation"
                line.update(f"{which}: {100 * share:.0f} % done")

            chosen.append(with_dilation(plan, tell))
    return chosen


def workers_of(text: str) -> int | None:
    """Return a number of workers, or None for `auto`. UsageError for other text."""
    if text == "auto":
        return None
    if re.fullmatch("[0-9]{1,9}", text) and int(text) >= 1:
        return int(text)
    raise UsageError(f"--workers is auto or a whole number of at least 1, not {shown(text)}")


def with_workers(plan: RunPlan, workers: int | None) -> RunPlan:
    """Return the plan for this number of processes, None for the best one. UsageError if they cannot share the run."""
    if workers is None:
        workers = best_workers(plan, cores())
    if workers == 1:
        return plan
    if plan.config.clock != "virtual":
        raise UsageError("--workers: only a run in virtual time can use several processes")
    shares(plan.topology, plan.columns, workers)
    raise_open_files(open_files(plan) + open_files_of_workers(workers), f"--workers {workers}")
    return replace(plan, config=replace(plan.config, workers=workers))


def ranks_of(exchange: str, workers: int | None) -> Ranks | None:
    """Return the MPI ranks on the first rank; the others serve it and end here. None without `--exchange mpi`."""
    if exchange not in EXCHANGES:
        raise UsageError(f"unknown exchange {exchange!r}; choose from {', '.join(EXCHANGES)}")
    if exchange == "memory":
        return None
    if workers not in (None, 1):
        raise UsageError("--workers: with --exchange mpi, mpirun -n sets the number of processes")
    ranks = join(prepare)  # restarts the process, which is impossible once MPI has started
    if ranks.mine > 0:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # the first rank handles them
        serve(ranks)
        raise typer.Exit
    atexit.register(ranks.dismiss)  # also if the command ends before a run begins
    ranks.check()
    return ranks


def over_ranks(plan: RunPlan, ranks: Ranks) -> Clock:
    """Return the clock that runs a plan on MPI processes, and print a line about them. UsageError if they cannot."""
    if plan.config.clock != "virtual":
        raise UsageError("--exchange mpi: only a run in virtual time can use several processes")
    racks = len({host.switch for host in plan.topology.hosts})
    if ranks.count > racks:
        raise UsageError(
            f"mpirun -n {ranks.count}: the network has {racks} racks, so at most {racks} processes can share it"
        )
    line = f"run shared by MPI: {_count(ranks.count, 'process', 'es')}, {_count(ranks.machines, 'machine', 's')}"
    complain(line)
    return partial(simulate_over_ranks, ranks=ranks)


def _count(number: int, what: str, more: str) -> str:
    return f"{number} {what}{'' if number == 1 else more}"


def execute_plan(plan: RunPlan, out: Path, *, quiet: bool, clock: Clock | None = None) -> StoredRun:
    """Run a plan, with progress on the terminal unless `quiet`."""
    if quiet:
        return execute(plan, out, Silent(), clock)
    with RunProgress(f"{plan.config.scenario} {plan.config.variant}", console) as progress:
        return execute(plan, out, progress, clock)


def end_by_outcome(runs: Sequence[StoredRun]) -> None:
    """End the command with 130 if the last run was interrupted, 3 if a verdict is invalid, 5 if work is unfinished."""
    if runs[-1].interrupted:
        raise Interrupted(runs[-1].kept)
    end_by_results([run.result for run in runs])


def end_by_results(results: Sequence[RunResult]) -> None:
    """End the command with 3 if a verdict is invalid, or with 5 if flows of a run did not finish."""
    if any(result.verdict == "invalid" for result in results):
        raise typer.Exit(EXIT_INVALID)
    if not all(result.did_finish for result in results):
        raise typer.Exit(EXIT_UNFINISHED)
