# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs a plan on a small file system, which another program fills at a chosen moment.

Tests execute this module in a private mount namespace, with the arguments CLOCK MOMENT FOLDER. The outcome is printed
on stdout as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.execution import execute as module
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.recording.outcome import Silent, Stage
from sfc_testbed.testbed.system.run_ids import known_runs

SETTINGS = {"degree": 4, "message_bytes": 20_000}


def _fill(folder: Path) -> None:
    """Fill the file system to the last byte."""
    descriptor = os.open(folder / "another", os.O_WRONLY | os.O_CREAT)
    try:
        while os.write(descriptor, bytes(4096)):
            pass
    except OSError:
        os.close(descriptor)


class _FillingProgress(Silent):
    """Fills the file system when all hosts are up, before anything is sent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def stage(self, stage: Stage) -> None:
        if stage == "simulating":
            _fill(self._folder)

    def hosts_up(self, count: int, total: int) -> None:
        if count == total:
            _fill(self._folder)


def _filling_first(work: Callable[..., Any], place: Path) -> Callable[..., Any]:
    def filled(*arguments: Any, **options: Any) -> Any:
        _fill(place)
        return work(*arguments, **options)

    return filled


def main(clock: str, moment: str, folder: str) -> None:
    """Run the plan and print the error, the remaining files, and remaining runs and processes."""
    place = Path(folder)
    dilation = 10_000 if clock == "real" else None
    plan = plan_run(RunSpec("incast", clock=clock, switch="soft", dilation=dilation, settings=SETTINGS))  # type: ignore[arg-type]
    if moment == "report":
        module.__dict__["write_run_report"] = _filling_first(module.write_run_report, place)
    error_text = ""
    try:
        module.execute(plan, place, _FillingProgress(place) if moment == "start" else Silent())
    except RunError as run_error:
        error_text = str(run_error)
    files = {str(path.relative_to(place)): path.stat().st_size for path in place.rglob("*") if path.is_file()}
    left = [*known_runs(), *(process.name() for process in psutil.Process().children(recursive=True))]
    print(json.dumps({"error": error_text, "files": files, "left": left}))


if __name__ == "__main__":
    main(*sys.argv[1:])
