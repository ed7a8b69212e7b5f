# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks a sweep before anything is created, and runs its missing jobs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sfc_testbed.analysis.results.swept import JOBS
from sfc_testbed.api.errors import refused_in_one_line
from sfc_testbed.api.planning import checked
from sfc_testbed.api.reporter import Reporter
from sfc_testbed.request.spec import P4Program
from sfc_testbed.telemetry.atomic_file import check_no_link
from sfc_testbed.testbed.execution.limits import check_output
from sfc_testbed.testbed.jobs.job import executor_for
from sfc_testbed.testbed.sweep.run import SweepSummary, run_sweep
from sfc_testbed.testbed.sweep.sweep import SweepFile, jobs_of, results_table, sweep_folder


def swept(
    sweep: SweepFile,
    program: P4Program | None,
    out: Path,
    reporter: Reporter,
    *,
    scheduler: str | None,
    workers: int | None,
    prepare: Callable[[], None] | None = None,
    pictures: bool = False,
) -> SweepSummary:
    """Run the jobs of a sweep that are not complete. Raise UsageError if they cannot run. `prepare` as in `checked`.

    `pictures`: whether to write each plot of the page as PNG and SVG, too.
    """
    jobs = jobs_of(sweep, program)
    folder = sweep_folder(sweep, program, out.absolute())
    check_output(out)
    with refused_in_one_line(folder):
        check_no_link(folder, folder / JOBS)
    results_table(folder, jobs)  # stored results must be readable before anything is compiled
    checked([jobs[0].request], out, reporter, prepare=prepare)
    with reporter.jobs() as tell:
        return run_sweep(sweep, jobs, out, executor_for(scheduler, workers), tell, pictures=pictures)


def kept(done: SweepSummary) -> str:
    """Return how many runs of an interrupted sweep are complete, and where."""
    return f"{done.ran + done.already_complete} of {done.runs} runs are complete, in {done.table.parent}"
