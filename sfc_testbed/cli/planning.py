# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Planning with reports on the terminal, the seeds of several runs, MPI ranks, and the exit codes of runs."""

from __future__ import annotations

import atexit
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sfc_testbed.api.reporter import WARNING, Reporter, SilentReporter
from sfc_testbed.api.requests import seeds_of
from sfc_testbed.cli.output import EXIT_INVALID, EXIT_UNFINISHED, complain
from sfc_testbed.native.first_use import prepare
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import Interrupted, UsageError
from sfc_testbed.testbed.plan.checks import check_names

if TYPE_CHECKING:
    from sfc_testbed.analysis.results.result import RunResult
    from sfc_testbed.testbed.execution.execute import Clock, StoredRun
    from sfc_testbed.testbed.jobs.job import Tell
    from sfc_testbed.testbed.plan.plan import RunPlan
    from sfc_testbed.testbed.virtual.ranks import Ranks
    from sfc_testbed.testbed.watch.watch import Watch

EXCHANGES = ("memory", "mpi")


class _LineReporter(SilentReporter):
    """A reporter without a terminal: lines of text on stderr, which need no rich, and a line for each job that ends."""

    def note(self, line: str, style: str = "") -> None:
        complain(line, style)

    @contextmanager
    def jobs(self) -> Iterator[Tell]:
        with _terminal_reporter(quiet=True).jobs() as tell:
            yield tell


def reporter(*, quiet: bool = False) -> Reporter:
    """Return the command's reporter; `quiet` hides the progress of runs."""
    streams = (sys.stderr,) if quiet else (sys.stderr, sys.stdout)
    shows_progress = any(stream is not None and stream.isatty() for stream in streams)
    return _terminal_reporter(quiet=quiet) if shows_progress else _LineReporter()


def _terminal_reporter(*, quiet: bool) -> Reporter:
    from sfc_testbed.api.progress import TerminalReporter
    from sfc_testbed.cli.output import console, errors

    return TerminalReporter(errors, None if quiet else console)


@contextmanager
def watched(reporter: Reporter, plans: Sequence[RunPlan], *, is_wanted: bool) -> Iterator[Watch | None]:
    """Provide the page of the plans' runs and print its address; None without `--watch`.

    UsageError if a network is too large for a page.
    """
    if not is_wanted:
        yield None
        return
    from sfc_testbed.analysis.watch.scene import MOST_NODES  # loads slowly, as the page does
    from sfc_testbed.testbed.watch.watch import watching

    for topology in (plan.topology for plan in plans):
        nodes = len(topology.hosts) + len(topology.switches)
        if nodes > MOST_NODES:
            raise UsageError(f"--watch: {nodes:,} hosts and switches; a page draws at most {MOST_NODES:,}")
    with watching() as watch:
        reporter.note(f"watch: {watch.url}")
        try:
            yield watch
        finally:
            if watch.trouble is not None:
                reporter.note(f"! the page of --watch ended early: {watch.trouble}", WARNING)


def note_retry(line: str) -> None:
    """Print a line about a retry on stderr."""
    complain(line, WARNING)


def chosen_seeds(seed: int | None, seeds: str | None) -> list[int]:
    """Return the seeds of `--seed` or `--seeds`; 1 without either."""
    if seeds is None:
        return [1 if seed is None else seed]
    if seed is not None:
        raise UsageError("--seed and --seeds cannot be combined")
    return list(seeds_of(seeds))


def checked(requests: Sequence[RunSpec], out: Path, *, compiles: bool = True, **options: Any) -> list[RunPlan]:
    """Return all plans, or raise UsageError before anything is created or compiled (`api.planning.checked`).

    `compiles` is false if the caller compiles the engine later.
    """
    for request in requests:
        check_names(request)  # before the planner's modules are loaded

    from sfc_testbed.api import planning

    return planning.checked(requests, out, reporter(), prepare=prepare if compiles else None, **options)


def ranks_of(exchange: str, workers: int | None) -> Ranks | None:
    """Return the MPI ranks on the first rank; the others serve it and end here. None without `--exchange mpi`."""
    if exchange not in EXCHANGES:
        raise UsageError(f"unknown exchange {exchange!r}; choose from {', '.join(EXCHANGES)}")
    if exchange == "memory":
        return None
    if workers not in (None, 1):
        raise UsageError("--workers: with --exchange mpi, mpirun -n sets the number of processes")
    from sfc_testbed.testbed.virtual.ranks import join, serve  # only MPI needs it

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
    from sfc_testbed.testbed.virtual.ranks import simulate_over_ranks

    if plan.config.clock != "virtual":
        raise UsageError("--exchange mpi: only a run in virtual time can use several processes")
    racks = len({host.switch for host in plan.topology.hosts})
    if ranks.count > racks:
        raise UsageError(
            f"mpirun -n {ranks.count}: the network has {racks} racks, so at most {racks} processes can share it"
        )
    complain(f"run shared by MPI: {_count(ranks.count, 'process', 'es')}, {_count(ranks.machines, 'machine', 's')}")
    return partial(simulate_over_ranks, ranks=ranks)


def _count(number: int, what: str, more: str) -> str:
    return f"{number} {what}{'' if number == 1 else more}"


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
