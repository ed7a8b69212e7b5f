# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed sweep`. Functions import what bad input does not need."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfc_testbed.cli.options import Out, P4Program, Pictures, SchedulerAddress, Uses, Workers
from sfc_testbed.cli.output import EXIT_INVALID, EXIT_UNFINISHED, complain, say, say_json, warn
from sfc_testbed.cli.planning import reporter
from sfc_testbed.native.first_use import prepare
from sfc_testbed.testbed.errors import Interrupted

if TYPE_CHECKING:
    from sfc_testbed.testbed.sweep.run import SweepSummary


def verb(
    file: Annotated[
        Path,
        typer.Argument(
            help="YAML file with scenario, schemes, seeds and axes, see docs/workloads.md.", show_default=False
        ),
    ],
    *,
    p4: P4Program = None,
    out: Out = Path("runs"),
    scheduler: SchedulerAddress = None,
    workers: Workers = None,
    png: Pictures = False,
    json: Annotated[bool, typer.Option("--json", help="Print the outcome and the folder as JSON.")] = False,
    use: Uses = None,
) -> None:
    from sfc_testbed.testbed.program.user_program import read_program
    from sfc_testbed.testbed.sweep.sweep import read_sweep

    sweep, program = read_sweep(file), read_program(p4)

    from sfc_testbed.api.sweeping import kept, swept

    done = swept(sweep, program, out, reporter(), scheduler=scheduler, workers=workers, prepare=prepare, pictures=png)
    if json:
        say_json(_document(done))
    else:
        _tell(done)
    if done.is_interrupted:
        raise Interrupted(f"{kept(done)}; repeat the command to run the rest")
    if done.failures or done.invalid:
        raise typer.Exit(EXIT_INVALID)
    if done.unfinished:
        raise typer.Exit(EXIT_UNFINISHED)


def _tell(done: SweepSummary) -> None:
    runs = "" if done.runs == done.jobs else f", {done.runs} runs"
    say(
        f"{done.jobs} jobs{runs}: {done.ran} run now, {done.already_complete} already complete, "
        f"{len(done.failures)} failed"
    )
    for sentence in done.shared:
        say(sentence)
    if done.other_versions:
        warn(
            f"{done.other_versions} stored runs are from other versions of the code or its libraries and were not used"
        )
    for failure in done.page_failures:
        warn(failure)
    for failure in done.failures:
        complain(f"! {failure}", "red")
    if done.unfinished:
        complain(f"! {done.unfinished} of {done.runs} runs did not finish all flows, see the table", "red")
    if done.invalid:
        say(f"{done.invalid} runs are invalid, see the table")
    say(f"results: {done.table}")
    if done.page is not None:
        from sfc_testbed.analysis.report.first_sentence import of_sweep
        from sfc_testbed.analysis.results.swept import read_sweep_results, warnings_of

        results = read_sweep_results(done.page.parent)
        for warning in warnings_of(results):
            warn(warning)
        say(of_sweep(results))
        say(f"report: {done.page}")


def _document(done: SweepSummary) -> str:
    """Return the outcome as JSON, with the folder of the results last."""
    names = ("jobs", "runs", "ran", "already_complete", "other_versions", "invalid", "unfinished", "failures")
    content = {name: getattr(done, name) for name in names} | {"is_interrupted": done.is_interrupted}
    files = {"table": str(done.table), "report": None if done.page is None else str(done.page)}
    return dumps(content | files | {"folder": str(done.table.parent)}, indent=2, ensure_ascii=False) + "\n"
