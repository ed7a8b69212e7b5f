# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The work of the public functions. Importing this module loads the engine, which must be compiled before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfc_testbed.api.caller import is_main_thread, only_live_network, own_workers, unchanged_process
from sfc_testbed.api.comparing import claims_of, requests_of, run_compared
from sfc_testbed.api.comparison import Comparison
from sfc_testbed.api.console import TextConsole
from sfc_testbed.api.dilations import note_dilations
from sfc_testbed.api.errors import public_errors
from sfc_testbed.api.flows import flow_file_of
from sfc_testbed.api.interrupted import Interrupted
from sfc_testbed.api.notebook import NotebookReporter, is_notebook
from sfc_testbed.api.planning import checked
from sfc_testbed.api.progress import TerminalReporter
from sfc_testbed.api.reporter import Reporter, SilentReporter
from sfc_testbed.api.requests import workers_of
from sfc_testbed.api.retrying import execute_retrying
from sfc_testbed.api.run import Run
from sfc_testbed.api.sweep import Sweep
from sfc_testbed.request.spec import ClockName, RunSpec
from sfc_testbed.testbed.execution.execute import StoredRun
from sfc_testbed.testbed.execution.limits import check_switch_limits
from sfc_testbed.testbed.execution.programs import build_programs
from sfc_testbed.testbed.execution.retry import check_retry
from sfc_testbed.testbed.plan.plan import plan_network
from sfc_testbed.testbed.program.user_program import read_program, read_programs
from sfc_testbed.testbed.targets import capabilities

if TYPE_CHECKING:
    from sfc_testbed.reproduction.model.experiment import Claim
    from sfc_testbed.testbed.live.session.session import LiveSession


def run_once(
    request: RunSpec, flows: Any, out: Path, *, p4: str | None, workers: int | str | None, retry: bool, quiet: bool
) -> Run:
    """Run a request and return its run. Interrupted, with the run, after Ctrl-C."""
    reporter = _reporter(quiet=quiet)
    with public_errors(out), unchanged_process(), flow_file_of(flows, out) as file:
        if retry:
            check_retry(request.clock)
        request = replace(request, flow_file=file, program=read_program(p4))
        chosen = own_workers(workers_of(workers)) if request.clock == "virtual" else workers_of(workers)
        [plan] = checked([request], out, reporter, workers=chosen)
        note_dilations([plan], reporter)
        with _place(request.clock):
            stored = execute_retrying(request, plan, out, reporter, retry=retry)
        if stored.interrupted:
            raise Interrupted(stored.kept, [stored.folder])
        return _run_of(stored)


def compare_all(
    request: RunSpec,
    flows: Any,
    out: Path,
    *,
    schemes: Sequence[str],
    load_balancings: Sequence[str | None],
    seeds: Sequence[int],
    programs: Sequence[str],
    claims: Path | Sequence[Claim] | None,
    jobs: int,
    retry: bool,
    quiet: bool,
) -> Comparison:
    """Run a request under several schemes, load balancings, seeds and programs, and return the comparison."""
    reporter = _reporter(quiet=quiet)
    with public_errors(out), unchanged_process(), flow_file_of(flows, out) as file:
        claimed = claims_of(claims)
        if retry:
            check_retry(request.clock)
        own = own_workers(None) if request.clock == "virtual" else None
        base, read = replace(request, flow_file=file), read_programs(programs) or [None]
        requests = requests_of(base, schemes, load_balancings, seeds, read)
        plans = checked(requests, out, reporter, workers=own)
        note_dilations(plans, reporter)
        with _place(request.clock):
            done = run_compared(requests, plans, out, reporter, claimed, retry=retry, jobs=jobs)
        runs = [_run_of(stored) for stored in done.runs]
        if done.is_interrupted or done.page is None:
            raise Interrupted(done.kept, [run.folder for run in runs])
        return Comparison(done.page.parent.absolute(), runs, done.compared())


def sweep_all(
    source: Path | Mapping[str, Any], out: Path, *, p4: str | None, jobs: int | None, scheduler: str | None, quiet: bool
) -> Sweep:
    """Run the missing jobs of a sweep and return its results. Interrupted after Ctrl-C; a new call runs the rest."""
    # These imports load slowly, and a single run does not need them.
    from sfc_testbed.api.sweeping import kept, swept
    from sfc_testbed.testbed.sweep.sweep import read_sweep, sweep_of

    reporter = _reporter(quiet=quiet)
    with public_errors(out), unchanged_process():
        sweep = sweep_of(dict(source), Path("sweep")) if isinstance(source, Mapping) else read_sweep(source)
        with _place(sweep.clock):
            done = swept(sweep, read_program(p4), out, reporter, scheduler=scheduler, workers=jobs)
        if done.is_interrupted:
            raise Interrupted(f"{kept(done)}; repeat the call to run the rest", [done.table.parent])
        return Sweep(done.table.parent, done.failures)


@contextmanager
def live_session(request: RunSpec) -> Iterator[LiveSession]:
    """Provide the network of a request, and remove it at the end. UsageError if this machine or user cannot run it."""
    with public_errors(), only_live_network():
        plan = plan_network(request)
        check_switch_limits(plan)
        capabilities.require("real", plan.config.switch, plan.mtu_bytes, request.hosts, has_virtual=False)
        build_programs([plan])
        from sfc_testbed.testbed.live.session.session import open_session  # loads Mininet, which is there now

        with unchanged_process(), open_session(request) as session:
            yield session


def _place(clock: ClockName) -> AbstractContextManager[None]:
    """Return a context that holds the place of the process's live network during live runs."""
    return only_live_network() if clock == "real" else nullcontext()


def _run_of(stored: StoredRun) -> Run:
    return Run(stored.folder, stored.result)


class _LineReporter(SilentReporter):
    """A reporter that prints lines of text and shows no progress."""

    def note(self, line: str, style: str = "") -> None:
        TerminalReporter(TextConsole(stderr=True)).note(line, style)


def _reporter(*, quiet: bool) -> Reporter:
    """Return the reporter of a call. Only the main thread shows progress, since a terminal has one line for it."""
    if quiet:
        return SilentReporter()
    if not is_main_thread():
        return _LineReporter()
    if is_notebook():
        return NotebookReporter()
    errors = TextConsole(stderr=True)  # a new one, because the caller may have replaced sys.stderr
    return TerminalReporter(errors, errors) if errors.is_terminal else _LineReporter()
