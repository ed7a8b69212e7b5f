# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`runner.py report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.report.pages import write_comparison_report, write_run_report
from analysis.report.tables import comparison_table, run_table
from analysis.results.comparison import compare
from analysis.results.stored import load_run
from command.options import folder_of
from command.output import EXIT_INVALID, console, say
from command.reproductions import print_reproduction
from command.stored import check_page, refused_in_one_line
from reproduction.judge import judge_again
from reproduction.record import is_reproduction
from testbed.execution.execute import check_output, give_to_caller, make_folder
from testbed.execution.unfinished import finish_run


def verb(
    folders: Annotated[list[Path], typer.Argument(help="Run folders, or one of `reproduce`.", show_default=False)],
    *,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", parser=folder_of, help="Folder of a comparison's report.")
    ] = None,
) -> None:
    """Writes a page from what is stored."""
    with refused_in_one_line(folders[0]):
        if len(folders) == 1 and is_reproduction(folders[0]):
            check_page(folders[0])
            print_reproduction(judge_again(folders[0]))
        elif len(folders) == 1:
            _report_run(folders[0])
        else:
            _report_comparison(folders, out)


def _report_run(folder: Path) -> None:
    check_page(folder)
    was_cut_off = finish_run(folder)
    stored = load_run(folder)
    page = write_run_report(folder)
    if was_cut_off:
        give_to_caller(folder)
    console.print(run_table(stored.result, stored.config))
    say(f"report: {page}")
    if stored.result.verdict == "invalid":
        raise typer.Exit(EXIT_INVALID)


def _report_comparison(folders: list[Path], out: Path | None) -> None:
    results = [load_run(folder).result for folder in folders]
    if out is not None:
        check_output(out)
        check_page(out)
    page = write_comparison_report(folders, out or make_folder(Path("runs"), "compare"))
    console.print(comparison_table(compare(results)))
    say(f"report: {page}")
