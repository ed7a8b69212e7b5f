# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Repetition of a late live run at a dilation that would have been on time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sfc_testbed.api.planning import checked, execute_plan
from sfc_testbed.api.reporter import WARNING, Reporter
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import Interrupted, UsageError
from sfc_testbed.testbed.execution.execute import StoredRun
from sfc_testbed.testbed.execution.retry import MOST_RETRIES, retry_line, retry_of
from sfc_testbed.testbed.plan.plan import RunPlan

if TYPE_CHECKING:
    from sfc_testbed.testbed.watch.watch import Watch


def execute_retrying(
    request: RunSpec,
    plan: RunPlan,
    out: Path,
    reporter: Reporter,
    *,
    retry: bool,
    page: bool = True,
    watch: Watch | None = None,
) -> StoredRun:
    """Run a plan, with `retry` again if it was late, and return the last run. Late runs keep their folders.

    `page`, `watch`: as in `execute`, for all runs.
    """
    run = execute_plan(plan, out, reporter, page=page, watch=watch)
    for _ in range(MOST_RETRIES if retry else 0):
        again = None if run.interrupted else retry_of(request, run.folder, run.result)
        if again is None:
            break
        try:
            repeated, decided = again
            [plan] = checked([repeated], out, reporter, decided=decided)
        except UsageError as error:
            reporter.note(f"not repeated at D = {run.result.faithful_dilation}: {error}", WARNING)
            break
        reporter.note(retry_line(run.folder, run.result), WARNING)
        try:
            run = execute_plan(plan, out, reporter, page=page, watch=watch)
        except Interrupted as error:
            raise Interrupted(f"{error}; the late run is kept in {run.folder}") from error
    return run
