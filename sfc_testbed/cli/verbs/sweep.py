# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfc_testbed.analysis.report.first_sentence import of_sweep
from sfc_testbed.analysis.results.swept import read_sweep_results, warnings_of
from sfc_testbed.cli.options import Out, P4Program, SchedulerAddress, Uses, Workers
from sfc_testbed.cli.output import EXIT_INVALID, EXIT_UNFINISHED, complain, errors, say, warn
from sfc_testbed.cli.planning import checked
from sfc_testbed.cli.progress import JobProgress
from sfc_testbed.cli.stored import refused_in_one_line
from sfc_testbed.telemetry.atomic_file import check_no_link
from sfc_testbed.testbed.errors import Interrupted
from sfc_testbed.testbed.execution.limits import check_output
from sfc_testbed.testbed.jobs.job import executor_for
from sfc_testbed.testbed.program.user_program import read_program
from sfc_testbed.testbed.sweep.run import SweepSummary, run_sweep
from sfc_testbed.testbed.sweep.sweep import JOBS, jobs_of, read_sweep, results_table, sweep_folder


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
    use: Uses = None,
) -> None:
    sweep = read_sweep(file)
    program = read_program(p4)
    jobs = jobs_of(sweep, program)
    folder = sweep_folder(sweep, program, out.absolute())
    check_output(out)
    with refused_in_one_line(folder):
        check_no_link(folder, folder / JOBS)
    results_table(folder, jobs)  # stored results must be readable before anything is compiled
    checked([jobs[0].request], out)
    with JobProgress(errors) as progress:
        done = run_sweep(sweep, jobs, out, executor_for(scheduler, workers), progress.tell)
    _tell(done, len(jobs))
    if done.is_interrupted:
        kept = f"{done.ran + done.already_complete} of {done.runs} runs are complete, in {done.table.parent}"
        raise Interrupted(f"{kept}; repeat the command to run the rest")
    if done.failures or done.invalid:
        raise typer.Exit(EXIT_INVALID)
    if done.unfinished:
        raise typer.Exit(EXIT_UNFINISHED)


def _tell(done: SweepSummary, jobs: int) -> None:
    runs = "" if done.runs == jobs else f", {done.runs} runs"
    say(f"{jobs} jobs{runs}: {done.ran} run now, {done.already_complete} already complete, {len(done.failures)} failed")
    for sentence in done.shared:
        say(sentence)
    if done.other_versions:
        warn(
            f"{done.other_versions} stored runs are from other versions of the code or its libraries and were not used"
        )
    for failure in done.failures:
        complain(f"! {failure}", "red")
    if done.unfinished:
        complain(f"! {done.unfinished} of {done.runs} runs did not finish all flows, see the table", "red")
    if done.invalid:
        say(f"{done.invalid} runs are invalid, see the table")
    say(f"results: {done.table}")
    if done.page is not None:
        results = read_sweep_results(done.page.parent)
        for warning in warnings_of(results):
            warn(warning)
        say(of_sweep(results))
        say(f"report: {done.page}")
