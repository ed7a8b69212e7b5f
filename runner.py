#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The command: run, compare, reproduce, sweep, cli, list, report, doctor, clean. Reads words, calls the testbed.

Exit codes: 0 done, 2 bad input (one line, nothing started), 3 the run's verdict is invalid, 4 a claim does not hold
and --strict was given.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
_VENV_PYTHON = ROOT / ".venv" / "bin" / "python"
if Path(sys.prefix) != ROOT / ".venv" and _VENV_PYTHON.exists():
    os.execv(_VENV_PYTHON, [str(_VENV_PYTHON), *sys.argv])

try:
    import typer
    from typer import TyperException
except ModuleNotFoundError:
    sys.exit("runner.py: the set-up has not run here; type `make setup` first")

from dataclasses import replace
from typing import Annotated

from rich.console import Console
from rich.table import Table

from analysis.report.pages import write_comparison_report, write_run_report
from analysis.report.tables import claims_table, comparison_table, run_table
from analysis.results.comparison import compare as compare_results
from analysis.results.result import ResultError
from analysis.results.stored import load_run
from reproduction.catalogue import EXPERIMENTS
from reproduction.report import Finished, finish_all, is_reproduction, judge_again
from reproduction.reproduce import default_workers, dump_json, jobs_of, run_jobs
from scenarios.catalogue import SCENARIOS
from scenarios.schemes import CONGESTION_SUFFIXES, SCHEMES
from testbed.command.options import (
    BackgroundName,
    ClockName,
    DilationFactor,
    Duration,
    FlowFile,
    Json,
    Out,
    Pcap,
    ScaleName,
    ScenarioName,
    Seed,
    Settings,
    SwitchName,
    TopologyName,
)
from testbed.command.progress import JobProgress, LiveProgress
from testbed.errors import RunError, UsageError
from testbed.execution import capabilities
from testbed.execution.execute import FinishedRun, check_output, execute, give_to_caller, make_folder
from testbed.execution.hpcc_export import export_hpcc
from testbed.plan.plan import RunPlan, RunRequest, plan_network, plan_run
from testbed.recording.outcome import Silent
from testbed.system import cleanup
from topologies.shapes import SHAPES

EXIT_BAD_INPUT = 2
EXIT_INVALID = 3
EXIT_CLAIM = 4

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)
console = Console()
errors = Console(stderr=True)


@app.command()
def run(
    scenario: ScenarioName,
    scheme: Annotated[str, typer.Option(help="Scheme, see `list`; +none or +window chooses the rate control.")] = "sfc",
    switch: SwitchName = "auto",
    clock: ClockName = "real",
    dilation: DilationFactor = "auto",
    scale: ScaleName = "ci",
    seed: Seed = 1,
    duration: Duration = None,
    settings: Settings = None,
    topology: TopologyName = None,
    flows: FlowFile = None,
    out: Out = Path("runs"),
    pcap: Pcap = "",
    background: BackgroundName = None,
    json: Json = False,
) -> None:
    """Run a scenario once and report on it."""
    request = _request(scenario, scheme, switch, clock, dilation, scale, seed, duration, settings, topology)
    captures = tuple(name.strip() for name in pcap.split(",") if name.strip())
    request = replace(request, flow_file=flows, captures=captures, background=background)
    plan = _checked([request], out)[0]
    finished = _execute(plan, out, quiet=json)
    if json:
        sys.stdout.write(finished.result.to_json())
    else:
        console.print(run_table(finished.result))
        console.print(f"report: {finished.report}", soft_wrap=True)
    _exit_by_verdict([finished])


@app.command()
def compare(
    scenario: ScenarioName,
    schemes: Annotated[
        str, typer.Option(help="Schemes, separated by commas; the first is the base of ratios.")
    ] = "irn,sfc",
    switch: SwitchName = "auto",
    clock: ClockName = "real",
    dilation: DilationFactor = "auto",
    scale: ScaleName = "ci",
    seed: Seed = 1,
    duration: Duration = None,
    settings: Settings = None,
    topology: TopologyName = None,
    flows: FlowFile = None,
    out: Out = Path("runs"),
    json: Json = False,
) -> None:
    """Run a scenario under several schemes with the same flows and compare."""
    names = [name.strip() for name in schemes.split(",")]
    requests = [
        _request(scenario, name, switch, clock, dilation, scale, seed, duration, settings, topology) for name in names
    ]
    requests = [replace(request, flow_file=flows) for request in requests]
    finished: list[FinishedRun] = []
    for plan in _checked(requests, out):
        finished.append(_execute(plan, out, quiet=json))
        if finished[-1].result.interrupted:
            break
    folder = make_folder(out, f"{scenario}-compare")
    report_path = write_comparison_report([each.folder for each in finished], folder)
    give_to_caller(folder)
    comparison = compare_results([each.result for each in finished])
    if json:
        sys.stdout.write(comparison.model_dump_json(indent=2) + "\n")
    else:
        console.print(comparison_table(comparison))
        console.print(f"report: {report_path}", soft_wrap=True)
    _exit_by_verdict(finished)


@app.command()
def reproduce(
    experiment: Annotated[str, typer.Argument(help="Experiment of the paper, or `all`; see `list`.")],
    scale: ScaleName = "ci",
    clock: Annotated[str | None, typer.Option(help="Clock instead of the scale's own.", show_default=False)] = None,
    out: Out = Path("runs"),
    workers: Annotated[int | None, typer.Option(min=1, help="Virtual runs at a time.", show_default="cores")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 4 if a claim does not hold.")] = False,
    json: Json = False,
) -> None:
    """Run experiments of the paper: what it says, what was measured, whether it holds."""
    names = _experiments(experiment)
    if clock not in (None, "real", "virtual"):
        raise UsageError(f"no clock {clock!r}; there are real, virtual")
    jobs = [job for name in names for job in jobs_of(EXPERIMENTS[name], scale, clock)]  # type: ignore[arg-type]
    _checked([job.request for job in jobs], out)
    count = workers or default_workers()
    with JobProgress(errors, "runs") as progress:
        outcomes = run_jobs(jobs, out, count, progress.tell)
    finished = finish_all(scale, jobs, outcomes, out.absolute(), count)  # type: ignore[arg-type]
    if json:
        documents = [each.reproduction.model_dump(by_alias=True) for each in finished]
        sys.stdout.write(dump_json(documents if experiment == "all" or not documents else documents[0]))
    else:
        for each in finished:
            _print_reproduction(each)
    if outcomes.is_interrupted:
        raise KeyboardInterrupt
    if strict and not all(each.reproduction.all_hold for each in finished):
        raise typer.Exit(EXIT_CLAIM)


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(help="YAML of scenario, schemes, seeds and axes.", show_default=False)],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the sweep's folder is made or found.")] = Path("runs"),
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Existing Dask scheduler.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Local workers.", show_default="cores")] = None,
) -> None:
    """Run every combination of a file of axes; a sweep that was cut short goes on where it stood."""
    from testbed.sweep.run import run_sweep
    from testbed.sweep.sweep import jobs_of, read_sweep

    asked = read_sweep(file)
    jobs = jobs_of(asked)
    _checked([jobs[0].request], out)
    with JobProgress(errors, "jobs") as progress:
        done = run_sweep(
            asked, jobs, out, workers=workers or default_workers(), scheduler=scheduler, tell=progress.tell
        )
    console.print(f"{len(jobs)} jobs: {done.ran} run now, {done.found} found done, {len(done.failures)} failed")
    for failure in done.failures:
        errors.print(f"! {failure}", style="red", markup=False, soft_wrap=True)
    console.print(f"results: {done.table}", soft_wrap=True)
    if done.failures:
        raise typer.Exit(EXIT_INVALID)


@app.command()
def cli(
    topology: Annotated[str, typer.Option(help="Network, see `list`.")] = "clos",
    scheme: Annotated[str, typer.Option(help="Scheme that the switches are set up for.")] = "sfc",
    switch: SwitchName = "auto",
    dilation: Annotated[int, typer.Option(min=1, help="How much slower than the model the switches run.")] = 1000,
    settings: Settings = None,
) -> None:
    """Start a network and give Mininet's prompt on it."""
    from testbed.live.prompt import open_prompt

    plan = plan_network(
        RunRequest("none", scheme, switch, topology=topology, dilation=dilation, settings=tuple(settings or ()))
    )
    capabilities.require("real", plan.config.switch)
    open_prompt(plan, console)


@app.command("list")
def list_all() -> None:
    """Show scenarios, schemes and topologies."""
    for title, rows in (
        (
            "scenarios",
            [(each.name, f"{each.summary} (scales: {', '.join(each.scales)})") for each in SCENARIOS.values()],
        ),
        ("schemes", [(each.name, each.summary) for each in SCHEMES.values()]),
        ("rate control of a scheme", [(f"+{suffix}", name) for suffix, name in CONGESTION_SUFFIXES.items()]),
        ("topologies", [(name, (shape.__doc__ or "").splitlines()[0]) for name, shape in SHAPES.items()]),
    ):
        table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 3, 0, 0))
        table.add_column(no_wrap=True)
        for row in rows:
            table.add_row(*row)
        console.print(table)
        console.print()


@app.command()
def report(
    folders: Annotated[list[Path], typer.Argument(help="Run folders, or one of `reproduce`.", show_default=False)],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of a comparison's report.")] = None,
) -> None:
    """Write the report of a run or of a reproduced experiment anew, or that of a comparison of several runs."""
    try:
        if len(folders) == 1 and is_reproduction(folders[0]):
            _print_reproduction(judge_again(folders[0]))
            return
        if len(folders) == 1:
            console.print(run_table(load_run(folders[0]).result))
            path = write_run_report(folders[0])
        else:
            results = [load_run(folder).result for folder in folders]
            path = write_comparison_report(folders, out or make_folder(Path("runs"), "compare"))
            console.print(comparison_table(compare_results(results)))
    except ResultError as error:
        raise UsageError(str(error)) from error
    console.print(f"report: {path}", soft_wrap=True)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Run folder.", show_default=False)],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Default: `hpcc` in the run folder.")] = None,
) -> None:
    """Write a run's flows and completion times as the HPCC simulator's files."""
    try:
        for path in export_hpcc(folder, out or folder / "hpcc"):
            console.print(path, soft_wrap=True)
    except ResultError as error:
        raise UsageError(str(error)) from error


@app.command()
def doctor() -> None:
    """Say what this machine can do and what is missing."""
    table = Table(box=None, padding=(0, 3, 0, 0))
    for heading in ("what", "needed for", "state"):
        table.add_column(heading)
    for capability in capabilities.CAPABILITIES:
        missing = capability.probe()
        state = "[green]there[/green]" if missing is None else f"[yellow]missing[/yellow]: {missing}"
        table.add_row(capability.name, capability.needed_for, state)
    console.print(table)


@app.command()
def clean(
    run_ids: Annotated[
        list[str] | None, typer.Argument(help="Runs to end even if they live.", show_default=False)
    ] = None,
) -> None:
    """End what dead runs left behind: processes, namespaces, sockets. Results stay."""
    found = cleanup.clean(run_ids or None)
    for each in found:
        if each.is_still_running:
            console.print(f"{each.run_id}: still running, left alone (name it to end it)")
        else:
            console.print(f"{each.run_id}: ended {each.processes} processes")
    if not found:
        console.print("nothing to clean")


def _experiments(text: str) -> list[str]:
    if text == "all":
        return list(EXPERIMENTS)
    if text not in EXPERIMENTS:
        raise UsageError(f"no experiment {text!r}; there are all, {', '.join(EXPERIMENTS)}")
    return [text]


def _print_reproduction(finished: Finished) -> None:
    found = finished.reproduction
    rows = [(each.claim, each.paper, each.measured, each.holds) for each in found.claims]
    console.print(claims_table(f"{found.experiment} ({found.paper_place}), scale {found.scale}", rows))
    for note in (*found.notes, *(f"failed: {failure}" for failure in found.failures)):
        console.print(f"! {note}", style="yellow", markup=False)
    console.print(f"report: {finished.page}\n", soft_wrap=True)


def _request(
    scenario: str,
    scheme: str,
    switch: str,
    clock: str,
    dilation: str,
    scale: str,
    seed: int,
    duration: float | None,
    settings: list[str] | None,
    topology: str | None,
) -> RunRequest:
    if clock not in ("real", "virtual"):
        raise UsageError(f"no clock {clock!r}; there are real, virtual")
    if dilation != "auto" and not (dilation.isdecimal() and 1 <= int(dilation) <= 10_000_000):
        raise UsageError(f"--dilation is auto or a whole number from 1 to 10000000, not {dilation!r}")
    factor = None if dilation == "auto" else int(dilation)
    return RunRequest(
        scenario,
        scheme,
        switch,
        clock,
        factor,
        scale,
        seed,
        duration,
        topology,
        tuple(settings or ()),  # type: ignore[arg-type]
    )


def _checked(requests: list[RunRequest], out: Path) -> list[RunPlan]:
    """All plans, or a UsageError before anything is created."""
    plans = [plan_run(request) for request in requests]
    check_output(out)
    for clock, switch in {(plan.config.clock, plan.config.switch) for plan in plans}:
        capabilities.require(clock, switch)
    return plans


def _execute(plan: RunPlan, out: Path, *, quiet: bool) -> FinishedRun:
    if quiet:
        return execute(plan, out, Silent())
    with LiveProgress(f"{plan.config.scenario} {plan.config.scheme}", console) as progress:
        return execute(plan, out, progress)


def _exit_by_verdict(finished: list[FinishedRun]) -> None:
    if any(each.result.verdict == "invalid" for each in finished):
        raise typer.Exit(EXIT_INVALID)


def main() -> int:
    """Runs the command; every refusal is one line on stderr."""
    try:
        return app(standalone_mode=False) or 0
    except TyperException as error:
        message, status = error.format_message(), EXIT_BAD_INPUT
    except UsageError as error:
        message, status = str(error), EXIT_BAD_INPUT
    except RunError as error:
        message, status = str(error), EXIT_INVALID
    except KeyboardInterrupt:
        message, status = "interrupted", 130
    errors.print(f"runner.py: {message.splitlines()[0]}", style="red", markup=False, highlight=False, soft_wrap=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
