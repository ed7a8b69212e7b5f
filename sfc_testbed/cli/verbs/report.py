# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sfc_testbed.analysis.report.first_sentence import of_sweep
from sfc_testbed.analysis.report.html_pages import REPORT_FILE, write_comparison_report, write_run_report
from sfc_testbed.analysis.report.sweep import write_sweep_page
from sfc_testbed.analysis.report.terminal_tables import comparison_table, run_table
from sfc_testbed.analysis.report.validation import write_validation_page
from sfc_testbed.analysis.results.comparison import compare
from sfc_testbed.analysis.results.quantities import measured_in
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.analysis.results.swept import is_sweep, read_sweep_results
from sfc_testbed.analysis.validation.record import FILE_NAME, is_validation, read_validation
from sfc_testbed.api.comparing import claims_of
from sfc_testbed.api.errors import refused_in_one_line
from sfc_testbed.api.requests import folder_of
from sfc_testbed.cli.options import ClaimsFile, Uses
from sfc_testbed.cli.outcomes import print_reproduction, print_validation
from sfc_testbed.cli.output import EXIT_INVALID, EXIT_UNFINISHED, console, say, warn
from sfc_testbed.reproduction.judge import judge_again
from sfc_testbed.reproduction.model.experiment import Claim
from sfc_testbed.reproduction.own_claims import judged
from sfc_testbed.reproduction.record import is_reproduction
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.limits import check_output
from sfc_testbed.testbed.execution.unfinished import finish_run
from sfc_testbed.testbed.execution.watch_page import write_watch_beside
from sfc_testbed.testbed.recording.folder import give_to_caller, make_folder


def verb(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Run folders, or one folder of `reproduce`, `sweep` or `validate`.", show_default=False),
    ],
    *,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", parser=folder_of, help="Folder for the report of a comparison.")
    ] = None,
    claims: ClaimsFile = None,
    use: Uses = None,
) -> None:
    """Write a report from stored results. Every unreadable file is a line on stderr."""
    if claims is not None and len(folders) == 1:
        raise UsageError("--claims needs several runs; an experiment has its own claims")
    claimed = () if len(folders) == 1 else claims_of(claims)
    with refused_in_one_line(folders[0]):
        if len(folders) == 1:
            _report(folders[0])
        else:
            _report_comparison(folders, out, claimed)


def _report(folder: Path) -> None:
    _check_page(folder)
    if is_reproduction(folder):
        _report_reproduction(folder)
    elif is_validation(folder):
        _report_validation(folder)
    elif is_sweep(folder):
        _report_sweep(folder)
    else:
        _report_run(folder)


def _check_page(folder: Path) -> None:
    """Raise UsageError if the page cannot be written, before anything is written."""
    page = folder / REPORT_FILE
    if page.is_dir() and not page.is_symlink():
        raise UsageError(f"{page} is a folder, and the report would have this name")


def _end(problems: list[str], *, is_invalid: bool = False, is_unfinished: bool = False) -> None:
    """Print each problem on stderr; exit with 3 if there is any or the results are invalid, with 5 if unfinished."""
    for problem in problems:
        warn(problem)
    if problems or is_invalid:
        raise typer.Exit(EXIT_INVALID)
    if is_unfinished:
        raise typer.Exit(EXIT_UNFINISHED)


def _report_reproduction(folder: Path) -> None:
    stored = judge_again(folder)
    print_reproduction(stored)
    _end([f"{folder}: {failure}" for failure in stored.reproduction.failures])


def _report_validation(folder: Path) -> None:
    validation = read_validation(folder / FILE_NAME)
    page = write_validation_page(folder, validation, pictures=True)
    give_to_caller(folder)
    print_validation(validation, folder, page, in_full=True)
    _end([], is_invalid=not validation.is_trusted)


def _report_sweep(folder: Path) -> None:
    problems: list[str] = []
    page = write_sweep_page(folder, problems=problems, measures=True, pictures=True)
    give_to_caller(folder)
    sweep = read_sweep_results(folder)
    say(of_sweep(sweep))
    say(f"report: {page}")
    unfinished = sweep.runs["flows_unfinished"] if "flows_unfinished" in sweep.runs.columns else ()
    _end(problems, is_invalid="invalid" in sweep.runs["verdict"], is_unfinished=any(unfinished))


def _report_run(folder: Path) -> None:
    was_cut_off = finish_run(folder)
    stored = load_run(folder)
    failures: list[str] = []
    write_watch_beside([folder], folder)
    page = write_run_report(folder, pictures=True, failures=failures)
    if was_cut_off:
        give_to_caller(folder)
    console.print(run_table(stored.result, stored.config))
    say(f"report: {page}")
    problems = [f"{folder}: {problem}" for problem in (*stored.problems, *failures)]
    _end(problems, is_invalid=stored.result.verdict == "invalid", is_unfinished=not stored.result.did_finish)


def _report_comparison(folders: list[Path], out: Path | None, claimed: Sequence[Claim]) -> None:
    runs = [load_run(folder).without_traces() for folder in folders]
    if out is not None:
        check_output(out)
        _check_page(out)
    held = judged(claimed, folders)
    quantities = measured_in(folders)
    failures: list[str] = []
    out = out or make_folder(Path("runs"), "compare")
    out.mkdir(parents=True, exist_ok=True)
    write_watch_beside(folders, out)
    page = write_comparison_report(folders, out, held, quantities, failures, pictures=True)
    configs = [run.config for run in runs]
    comparison = compare([run.result for run in runs], claims=held, configs=configs, quantities=quantities)
    console.print(comparison_table(comparison))
    say(f"report: {page}")
    problems = [f"{run.folder}: {problem}" for run in runs for problem in run.problems]
    _end([*problems, *failures], is_unfinished=not all(run.result.did_finish for run in runs))
