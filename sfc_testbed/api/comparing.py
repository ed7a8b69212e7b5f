# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the same flows under several schemes, and compares the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sfc_testbed.analysis.results.comparison import Comparison, compare
from sfc_testbed.analysis.results.quantities import Measurements, measured_in
from sfc_testbed.analysis.results.result import read_result
from sfc_testbed.api.dilations import named
from sfc_testbed.api.reporter import Reporter
from sfc_testbed.api.retrying import execute_retrying
from sfc_testbed.place import command_name
from sfc_testbed.reproduction.model.claims import CLAIMS
from sfc_testbed.request.spec import P4Program, RunSpec
from sfc_testbed.testbed.errors import Interrupted, RunError, UsageError
from sfc_testbed.testbed.execution.execute import StoredRun
from sfc_testbed.testbed.interrupt import interruptible, raise_again
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.program.registered import registered
from sfc_testbed.testbed.recording.folder import give_to_caller, make_folder

if TYPE_CHECKING:
    from sfc_testbed.analysis.results.comparison import HeldClaim
    from sfc_testbed.reproduction.model.experiment import Claim
    from sfc_testbed.testbed.watch.watch import Watch


@dataclass(frozen=True)
class ComparedRuns:
    """The runs of a comparison."""

    runs: Sequence[StoredRun]
    missing: Sequence[str]
    """Names of the runs that an interruption left out."""
    claims: Sequence[HeldClaim]
    page: Path | None
    """The page of the comparison; None after an interruption."""
    quantities: Sequence[Measurements] = ()
    """The quantities of extensions in each run."""
    failures: Sequence[str] = ()
    """Sentences about plots and sections of extensions that failed."""

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the runs early."""
        return self.runs[-1].interrupted or bool(self.missing)

    @property
    def kept(self) -> str:
        """After an interruption: what is missing, what is stored, and the command that draws a page."""
        folders = " ".join(str(run.folder) for run in self.runs)
        return f"{_without(self.missing)}{self.runs[-1].content}; `{command_name()} report {folders}` draws a page"

    def compared(self) -> Comparison:
        """Return the comparison of the results. Ctrl-C is ignored meanwhile, since everything is stored."""
        with interruptible():
            return compare([run.result for run in self.runs], self.missing, self.claims, quantities=self.quantities)


def requests_of(
    request: RunSpec,
    schemes: Sequence[str],
    load_balancings: Sequence[str | None],
    seeds: Sequence[int],
    programs: Sequence[P4Program | None],
) -> list[RunSpec]:
    """Return a request for each scheme, load balancing, seed and program.

    All schemes of a seed come before the next seed, so that an interruption leaves complete comparisons.
    """
    own = [program for program in programs if registered(program) is not None]
    if own:  # their settings mean nothing to the other programs
        others = {key: value for key, value in request.settings.items() if not key.startswith("program.")}
    return [
        replace(
            request,
            scheme=scheme,
            load_balancing=load_balancing,
            seed=seed,
            program=program,
            settings=request.settings if not own or program in own else others,
        )
        for seed in seeds
        for scheme in schemes
        for load_balancing in load_balancings
        for program in programs
    ]


def claims_of(claims: Path | Sequence[Claim] | None) -> Sequence[Claim]:
    """Return the claims of extensions, and those of a file or a list. UsageError for what is no claim."""
    if claims is None and not CLAIMS:
        return ()
    from sfc_testbed.reproduction.own_claims import claims_in, claims_of_extensions, read_claims  # loads slowly

    own = read_claims(claims) if isinstance(claims, Path) else claims_in(claims or ())
    return (*claims_of_extensions(), *own)


def run_compared(
    requests: Sequence[RunSpec],
    plans: Sequence[RunPlan],
    out: Path,
    reporter: Reporter,
    claims: Sequence[Claim] = (),
    *,
    retry: bool = False,
    jobs: int = 1,
    watch: Watch | None = None,
    pictures: bool = False,
) -> ComparedRuns:
    """Run the requests, `jobs` virtual ones at a time, and write the page. Interrupted if no run has a result.

    `watch` shows runs while they are active, unless several run at a time. `pictures`: whether to write each plot of
    the page as PNG and SVG, too.
    """
    if jobs > 1:
        runs, missing = _run_in_jobs(requests, plans, out, reporter, jobs)
    else:
        runs, missing = _run_all(requests, plans, out, reporter, retry=retry, watch=watch)
    is_interrupted = runs[-1].interrupted or bool(missing)
    with _kept(runs, missing):
        held = _judged(claims, runs)
        quantities = measured_in([run.folder for run in runs])
        failures: list[str] = []
        name = f"{requests[0].scenario}-compare"
        page = None
        if not is_interrupted:
            page = _write_page(out, name, runs, held, quantities, failures, pictures=pictures)
    return ComparedRuns(runs, missing, held, page, quantities, failures)


def _judged(claims: Sequence[Claim], runs: Sequence[StoredRun]) -> Sequence[HeldClaim]:
    if not claims:
        return ()
    from sfc_testbed.reproduction.own_claims import judged

    return judged(claims, [run.folder for run in runs])


def _write_page(
    out: Path,
    name: str,
    runs: Sequence[StoredRun],
    held: Sequence[HeldClaim],
    quantities: Sequence[Measurements],
    failures: list[str],
    *,
    pictures: bool,
) -> Path:
    """Write the page of the comparison; the import is local because plotting libraries load slowly."""
    from sfc_testbed.analysis.report.html_pages import write_comparison_report
    from sfc_testbed.testbed.execution.watch_page import write_watch_beside

    folder = make_folder(out, name)
    folders = [run.folder for run in runs]
    write_watch_beside(folders, folder)
    page = write_comparison_report(folders, folder, held, quantities, failures, pictures=pictures)
    give_to_caller(folder)
    return page


def _run_all(
    requests: Sequence[RunSpec],
    plans: Sequence[RunPlan],
    out: Path,
    reporter: Reporter,
    *,
    retry: bool,
    watch: Watch | None,
) -> tuple[list[StoredRun], list[str]]:
    """Return the runs up to an interruption, and the names of the runs that are missing. Interrupted if none ran."""
    runs: list[StoredRun] = []
    names = named(plans)
    for request, plan in zip(requests, plans, strict=True):
        try:
            with _kept(runs, names[len(runs) :]):
                runs.append(execute_retrying(request, plan, out, reporter, retry=retry, watch=watch))
        except Interrupted:
            if not runs:
                raise
            break
        if runs[-1].interrupted:
            break
    return runs, names[len(runs) :]


def _run_in_jobs(
    requests: Sequence[RunSpec], plans: Sequence[RunPlan], out: Path, reporter: Reporter, jobs: int
) -> tuple[list[StoredRun], list[str]]:
    """Return the same as `_run_all`, from several processes at a time. RunError if a run fails."""
    if any(request.clock != "virtual" for request in requests):
        raise UsageError("jobs: live runs run one at a time, because they would make each other late")
    # These imports load slowly, and runs in this process do not need them.
    from sfc_testbed.testbed.jobs.effort import effort_of
    from sfc_testbed.testbed.jobs.job import Job, JobFailed, JobFinished, executor_for, run_jobs

    names = named(plans)
    parts = [
        Job(f"{request.scenario} {name}", request, out.absolute(), effort=effort_of(plan))
        for request, plan, name in zip(requests, plans, names, strict=True)
    ]
    with reporter.jobs() as tell:
        done = run_jobs(parts, executor_for(None, jobs), tell)
    failed = [
        f"{part.label}: {end.reason}"
        for part, end in zip(parts, done.in_order, strict=True)
        if isinstance(end, JobFailed)
    ]
    if failed:
        raise RunError("; ".join(failed))
    runs, missing = [], []
    for name, end in zip(names, done.in_order, strict=True):
        if isinstance(end, JobFinished):
            page = end.folder / "report.html"
            runs.append(StoredRun(end.folder, read_result(end.folder), page if page.exists() else None))
        else:
            missing.append(name)
    if not runs:
        raise Interrupted("no run was complete")
    return runs, missing


@contextmanager
def _kept(runs: Sequence[StoredRun], missing: Sequence[str]) -> Iterator[None]:
    """Report a Ctrl-C outside a run: the completed runs are kept."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise_again()
        folders = ", ".join(str(run.folder) for run in runs) or "nothing"
        raise Interrupted(f"{_without(missing)}kept: {folders}, not compared") from error


def _without(missing: Sequence[str]) -> str:
    return f"{', '.join(missing)} not run; " if missing else ""
