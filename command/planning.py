# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""From the words of `run`, `compare` and the rest to plans that have been checked before anything is created."""

from __future__ import annotations

import atexit
import re
import signal
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import typer

from command.calibration import calibrate_first
from command.output import EXIT_INVALID, complain, console, errors
from command.progress import LiveProgress
from compiled.first_use import prepare
from testbed.dilation.choice import with_dilation
from testbed.errors import Interrupted, UsageError
from testbed.execution import capabilities
from testbed.execution.execute import Clock, StoredRun, execute
from testbed.execution.needs import needs_of
from testbed.execution.room import build_programs, check_room
from testbed.plan.plan import ClockName, RunPlan, RunRequest, plan_run
from testbed.plan.request import MAX_DILATION
from testbed.recording.outcome import Silent
from testbed.system.limits import raise_open_files
from testbed.virtual.ranks import Ranks, join, serve, simulate_over_ranks
from testbed.virtual.shares import shares
from testbed.virtual.workers import open_files, simulate_shared
from wire.input.validation import shown

CLOCKS: tuple[ClockName, ...] = ("real", "virtual")
_MPI = "mpi"
EXCHANGES = ("memory", _MPI)


def clock_of(text: str) -> ClockName:
    """A clock by its name."""
    for clock in CLOCKS:
        if text == clock:
            return clock
    raise UsageError(f"no clock {text!r}; there are {', '.join(CLOCKS)}")


def dilation_of(text: str) -> int | None:
    """A factor, or None for `auto`."""
    if text == "auto":
        return None
    if re.fullmatch("[0-9]{1,20}", text) and 1 <= int(text) <= MAX_DILATION:
        return int(text)
    raise UsageError(f"--dilation is auto or a whole number from 1 to {MAX_DILATION}, not {shown(text)}")


def places_of(text: str) -> tuple[str, ...]:
    """The words of `--pcap`; nothing typed is no place."""
    if not text:
        return ()
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise UsageError(f"--pcap: places are names with a comma between two of them, not {shown(text)}")
    return names


def checked(
    requests: Sequence[RunRequest],
    out: Path,
    *,
    times: int = 1,
    workers: int = 1,
    compiles: bool = True,
    has_virtual: bool = True,
) -> list[RunPlan]:
    """Return all plans, or raise UsageError before anything is created or compiled.

    There must be room for each of them `times` times, and `workers` processes must be able to share it. The engine is
    not compiled where that has its time elsewhere. `has_virtual` as in `capabilities.require`.
    """
    plans = [plan_run(request) for request in requests]
    for plan in plans:
        shared_out(plan, workers)
    for clock, switch, mtu_bytes, hosts in {_asked_of_machine(plan) for plan in plans}:
        capabilities.require(clock, switch, mtu_bytes, hosts, has_virtual=has_virtual)
    check_room(plans, out, times=times)
    if compiles:
        prepare()
    calibrate_first(plans)
    build_programs(plans)
    if all(plan.config.clock == "virtual" for plan in plans):
        return plans
    with errors.status("dry run in virtual time, to choose the dilation"):
        plans = [with_dilation(plan) for plan in plans]
    check_room(plans, out, times=times)
    return plans


def _asked_of_machine(plan: RunPlan) -> tuple[str, str, int, str | None]:
    """As `capabilities.require` takes it."""
    return plan.config.clock, plan.config.switch, plan.mtu_bytes, plan.config.hosts


def shared_out(plan: RunPlan, workers: int) -> Clock | None:
    """What runs a plan on so many processes; None if that is the plan's clock itself. UsageError if they cannot."""
    if workers == 1:
        return None
    if plan.config.clock != "virtual":
        raise UsageError("--workers: only a run on the virtual clock can be shared out")
    shares(plan.topology, plan.columns, workers)
    raise_open_files(needs_of(plan).descriptors + open_files(workers), f"--workers {workers}")
    return partial(simulate_shared, workers=workers)


def ranks_of(exchange: str, workers: int) -> Ranks | None:
    """Those of `--exchange mpi`, once all are there: only the first comes back from here. None for another exchange."""
    if exchange not in EXCHANGES:
        raise UsageError(f"no exchange {exchange!r}; there are {', '.join(EXCHANGES)}")
    if exchange != _MPI:
        return None
    if workers != 1:
        raise UsageError("--workers: with --exchange mpi, mpirun -n says how many there are")
    ranks = join(prepare)  # that begins the process again, which none can once MPI has started
    if ranks.mine > 0:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # the first decides
        serve(ranks)
        raise typer.Exit
    atexit.register(ranks.dismiss)  # whatever ends the command before a run begins
    ranks.check()
    return ranks


def over_ranks(plan: RunPlan, ranks: Ranks) -> Clock:
    """Return the clock that runs a plan on MPI processes, and print a line about them. UsageError if they cannot."""
    if plan.config.clock != "virtual":
        raise UsageError("--exchange mpi: only a run on the virtual clock can be shared out")
    racks = len({host.switch for host in plan.topology.hosts})
    if ranks.count > racks:
        raise UsageError(f"mpirun -n {ranks.count}: the network has {racks} racks, and a rack is not divided")
    line = f"shared out by MPI: {_count(ranks.count, 'process', 'es')}, {_count(ranks.machines, 'machine', 's')}"
    complain(line)
    return partial(simulate_over_ranks, ranks=ranks)


def _count(number: int, what: str, more: str) -> str:
    return f"{number} {what}{'' if number == 1 else more}"


def execute_plan(plan: RunPlan, out: Path, *, quiet: bool, clock: Clock | None = None) -> StoredRun:
    """Runs a plan, with progress on the terminal unless it is to be quiet."""
    if quiet:
        return execute(plan, out, Silent(), clock)
    with LiveProgress(f"{plan.config.scenario} {plan.config.variant}", console) as progress:
        return execute(plan, out, progress, clock)


def end_by_outcome(runs: Sequence[StoredRun]) -> None:
    """Ends the command with 130 if the last run was interrupted, else with 3 if one cannot be trusted."""
    if runs[-1].interrupted:
        raise Interrupted(runs[-1].kept)
    if any(run.result.verdict == "invalid" for run in runs):
        raise typer.Exit(EXIT_INVALID)
