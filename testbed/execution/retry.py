# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""When a live run is tried again: it was late, and what it measured says which D would have done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from analysis.results.result import RunResult
from testbed.errors import UsageError
from testbed.plan.request import MAX_DILATION, Retry, RunRequest

MOST_RETRIES = 2
"""Of a run: a machine that is late by more each time is busy with something else."""


def check_retry(clock: str) -> None:
    """UsageError where there is nothing to retry."""
    if clock == "virtual":
        raise UsageError("--retry: the virtual clock is never late")


def retry_of(request: RunRequest, folder: Path, result: RunResult) -> RunRequest | None:
    """The same at a greater D, whoever chose the smaller one; None for a run that was not late or was cut short."""
    factor = result.faithful_dilation
    if factor is None or result.interrupted or not result.dilation < factor <= MAX_DILATION:
        return None
    return replace(request, retry=Retry(folder.name, factor))


def told(folder: Path, result: RunResult) -> str:
    """The line about it."""
    what = f"{result.scenario} {result.variant}"
    late = f"{what} was late at D = {result.dilation} ({result.verdict}, kept in {folder})"
    return f"{late}; once more at D = {result.faithful_dilation}"
