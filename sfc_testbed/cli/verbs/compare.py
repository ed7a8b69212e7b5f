# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed compare`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfc_testbed.analysis.report.terminal_tables import comparison_table
from sfc_testbed.analysis.results.comparison import compare
from sfc_testbed.cli.calibration import say_dilations
from sfc_testbed.cli.listing import words
from sfc_testbed.cli.options import (
    ClaimsFile,
    ClockName,
    DilationFactor,
    Duration,
    Faults,
    FlowFile,
    HostsImage,
    Json,
    OptionalScenario,
    Out,
    P4Programs,
    Retry,
    ScaleName,
    Settings,
    SwitchName,
    TopologyName,
    Uses,
    scenario_of,
    scheme_names,
)
from sfc_testbed.cli.output import EXIT_CLAIM, console, say, say_json, with_fields
from sfc_testbed.cli.planning import checked, clock_of, dilation_of, end_by_outcome
from sfc_testbed.cli.retrying import execute_retrying
from sfc_testbed.cli.seeds import chosen_seeds, named
from sfc_testbed.place import command_name
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import Interrupted, UsageError
from sfc_testbed.testbed.execution.execute import StoredRun
from sfc_testbed.testbed.execution.retry import check_retry
from sfc_testbed.testbed.interrupt import interruptible, raise_again
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.program.user_program import read_programs
from sfc_testbed.testbed.recording.folder import give_to_caller, make_folder

if TYPE_CHECKING:
    from sfc_testbed.analysis.results.comparison import HeldClaim
    from sfc_testbed.reproduction.model.experiment import Claim


def verb(
    scenario: OptionalScenario = None,
    *,
    schemes: Annotated[
        str,
        typer.Option(
            help="Schemes, separated by commas; ratios are relative to the first.", autocompletion=words.scheme_lists
        ),
    ] = "irn,sfc",
    switch: SwitchName = "auto",
    p4: P4Programs = None,
    clock: ClockName = "real",
    dilation: DilationFactor = "auto",
    scale: ScaleName = "ci",
    seed: Annotated[int | None, typer.Option(help="Random seed.", show_default="1")] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            help="Several seeds, such as 1..5 or 1,3,7: the table gives means and confidence intervals.",
            show_default=False,
        ),
    ] = None,
    duration: Duration = None,
    settings: Settings = None,
    topology: TopologyName = None,
    flows: FlowFile = None,
    fault: Faults = None,
    hosts: HostsImage = None,
    out: Out = Path("runs"),
    claims: ClaimsFile = None,
    retry: Retry = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 4 if a claim does not hold.")] = False,
    json: Json = False,
    use: Uses = None,
) -> None:
    request = RunSpec(
        scenario_of(scenario, flows),
        switch=switch,
        clock=clock_of(clock),
        dilation=dilation_of(dilation),
        scale=scale,
        duration_ms=duration,
        topology=topology,
        settings=parse_settings(settings or ()),
        flow_file=flows,
        faults=tuple(fault or ()),
        hosts=hosts,
    )
    if strict and claims is None:
        raise UsageError("--strict needs claims: add --claims FILE.py")
    claimed = _read_claims(claims)
    if retry:
        check_retry(request.clock)
    chosen = chosen_seeds(seed, seeds)
    # All schemes of a seed before the next seed, so that an interruption leaves complete comparisons.
    names = scheme_names(schemes)
    programs = read_programs(p4 or ()) or [None]
    requests = [
        replace(request, scheme=name, seed=run_seed, program=program)
        for run_seed in chosen
        for name in names
        for program in programs
    ]
    plans = checked(requests, out)
    say_dilations(plans)
    runs, missing = _run_all(requests, plans, out, quiet=json, retry=retry)
    is_interrupted = runs[-1].interrupted or bool(missing)
    with _kept(runs, missing):
        held = _judged(claimed, runs)
        page = None if is_interrupted else _write_page(out, f"{request.scenario}-compare", runs, held)
    with interruptible():  # everything is stored by now
        comparison = compare([run.result for run in runs], missing, held)
        if json:
            folder = None if page is None else str(page.parent)
            say_json(with_fields(comparison.to_json(), folder=folder, folders=[str(run.folder) for run in runs]))
        else:
            console.print(comparison_table(comparison))
            if page is not None:
                say(f"report: {page}")
    if is_interrupted:
        folders = " ".join(str(run.folder) for run in runs)
        raise Interrupted(f"{_without(missing)}{runs[-1].content}; `{command_name()} report {folders}` draws a page")
    end_by_outcome(runs)
    if strict and not all(claim.holds for claim in held):
        raise typer.Exit(EXIT_CLAIM)


def _read_claims(file: Path | None) -> Sequence[Claim]:
    """Return the claims of a file; the import is local because it loads slowly."""
    if file is None:
        return ()
    from sfc_testbed.reproduction.own_claims import read_claims

    return read_claims(file)


def _judged(claims: Sequence[Claim], runs: Sequence[StoredRun]) -> Sequence[HeldClaim]:
    if not claims:
        return ()
    from sfc_testbed.reproduction.own_claims import judged

    return judged(claims, [run.folder for run in runs])


def _write_page(out: Path, name: str, runs: Sequence[StoredRun], held: Sequence[HeldClaim]) -> Path:
    """Write the page of the comparison; the import is local because plotting libraries load slowly."""
    from sfc_testbed.analysis.report.html_pages import write_comparison_report

    folder = make_folder(out, name)
    page = write_comparison_report([run.folder for run in runs], folder, held)
    give_to_caller(folder)
    return page


def _run_all(
    requests: Sequence[RunSpec], plans: Sequence[RunPlan], out: Path, *, quiet: bool, retry: bool
) -> tuple[list[StoredRun], list[str]]:
    """Return the runs up to an interruption, and the names of the runs that are missing. Interrupted if none ran."""
    runs: list[StoredRun] = []
    names = named(plans)
    for request, plan in zip(requests, plans, strict=True):
        try:
            with _kept(runs, names[len(runs) :]):
                runs.append(execute_retrying(request, plan, out, quiet=quiet, retry=retry))
        except Interrupted:
            if not runs:
                raise
            break
        if runs[-1].interrupted:
            break
    return runs, names[len(runs) :]


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
