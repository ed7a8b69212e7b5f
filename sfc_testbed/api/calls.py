# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The work of the public functions. Importing this module loads the engine, which must be compiled before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfc_testbed.api.caller import only_live_network, own_workers, unchanged_process
from sfc_testbed.api.comparing import claims_of, requests_of, run_compared, with_claims
from sfc_testbed.api.comparison import Comparison
from sfc_testbed.api.dilations import note_dilations
from sfc_testbed.api.errors import public_errors
from sfc_testbed.api.flows import flow_file_of
from sfc_testbed.api.interrupted import Interrupted
from sfc_testbed.api.planning import checked
from sfc_testbed.api.requests import workers_of
from sfc_testbed.api.retrying import execute_retrying
from sfc_testbed.api.run import Run
from sfc_testbed.api.starting import reporter_of
from sfc_testbed.api.sweep import Sweep
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.execution.execute import StoredRun
from sfc_testbed.testbed.execution.retry import check_retry
from sfc_testbed.testbed.program.user_program import read_program, read_programs

if TYPE_CHECKING:
    from sfc_testbed.reproduction.model.experiment import Claim


def run_once(
    request: RunSpec, flows: Any, out: Path, *, p4: str | None, workers: int | str | None, retry: bool, quiet: bool
) -> Run:
    """Run a request and return its run. Interrupted, with the run, after Ctrl-C."""
    reporter = reporter_of(quiet=quiet)
    with public_errors(out), unchanged_process(), flow_file_of(flows, out) as file:
        if retry:
            check_retry(request.clock)
        request = replace(request, flow_file=file, program=read_program(p4))
        chosen = own_workers(workers_of(workers)) if request.clock == "virtual" else workers_of(workers)
        [plan] = checked([request], out, reporter, workers=chosen)
        note_dilations([plan], reporter)
        with _place(request):
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
    reporter = reporter_of(quiet=quiet)
    with public_errors(out), unchanged_process(), flow_file_of(flows, out) as file:
        claimed = claims_of(claims) if claims is None or isinstance(claims, Path) else with_claims(claims)
        if retry:
            check_retry(request.clock)
        own = own_workers(None) if request.clock == "virtual" else None
        base, read = replace(request, flow_file=file), read_programs(programs) or [None]
        requests = requests_of(base, schemes, load_balancings, seeds, read)
        plans = checked(requests, out, reporter, workers=own)
        note_dilations(plans, reporter)
        with _place(request):
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

    reporter = reporter_of(quiet=quiet)
    with public_errors(out), unchanged_process():
        sweep = sweep_of(dict(source), Path("sweep")) if isinstance(source, Mapping) else read_sweep(source)
        place = only_live_network() if sweep.clock == "real" else nullcontext()
        with place:
            done = swept(sweep, read_program(p4), out, reporter, scheduler=scheduler, workers=jobs)
        if done.is_interrupted:
            raise Interrupted(f"{kept(done)}; repeat the call to run the rest", [done.table.parent])
        return Sweep(done.table.parent, done.failures)


def _place(request: RunSpec) -> Any:
    """Return a context that holds the place of the process's live network during a live run."""
    return only_live_network() if request.clock == "real" else nullcontext()


def _run_of(stored: StoredRun) -> Run:
    return Run(stored.folder, stored.result)
