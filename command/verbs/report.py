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
from analysis.results.result import ResultError
from analysis.results.stored import load_run
from command.output import console
from command.reproductions import print_reproduction
from reproduction.judge import judge_again
from reproduction.record import is_reproduction
from testbed.errors import UsageError
from testbed.execution.execute import make_folder


def verb(
    folders: Annotated[list[Path], typer.Argument(help="Run folders, or one of `reproduce`.", show_default=False)],
    *,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of a comparison's report.")] = None,
) -> None:
    """Writes a page from what is stored."""
    try:
        if len(folders) == 1 and is_reproduction(folders[0]):
            print_reproduction(judge_again(folders[0]))
            return
        if len(folders) == 1:
            stored = load_run(folders[0])
            console.print(run_table(stored.result, stored.config))
            page = write_run_report(folders[0])
        else:
            results = [load_run(folder).result for folder in folders]
            page = write_comparison_report(folders, out or make_folder(Path("runs"), "compare"))
            console.print(comparison_table(compare(results)))
    except ResultError as error:
        raise UsageError(str(error)) from error
    console.print(f"report: {page}", soft_wrap=True)
