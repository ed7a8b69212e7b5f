# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Decides whether a late live run is repeated, at the dilation that its measurements ask for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.dilations import MAX_DILATION, DecidedDilation

if TYPE_CHECKING:
    from sfc_testbed.analysis.results.result import RunResult

MOST_RETRIES = 2
"""The limit per run: a machine that is later each time is busy with other work."""


def check_retry(clock: str) -> None:
    """Raise UsageError for the virtual clock, which has nothing to retry."""
    if clock == "virtual":
        raise UsageError("--retry: the virtual clock is never late")


def retry_of(request: RunSpec, folder: Path, result: RunResult) -> tuple[RunSpec, DecidedDilation] | None:
    """Return the request and the larger D that would have been faithful; None if not late, or if interrupted."""
    factor = result.faithful_dilation
    if factor is None or result.interrupted or not result.dilation < factor <= MAX_DILATION:
        return None
    return replace(request, retry_of=folder.name), DecidedDilation(factor)


def retry_line(folder: Path, result: RunResult) -> str:
    """Return a line that announces the repetition of a late run."""
    label = f"{result.scenario} {result.variant}"
    late = f"{label} was late at D = {result.dilation} ({result.verdict}, kept in {folder})"
    return f"{late}; repeating it at D = {result.faithful_dilation}"
