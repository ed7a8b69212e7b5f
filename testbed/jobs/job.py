# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""One job of a sweep, in a process of its own: `python -m testbed.jobs.job FOLDER NAME` with the request on stdin.

The job's folder appears in one step when the run is complete. A lock is held meanwhile, so that a job whose sweep was
killed and that still runs is waited for, not run again.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from analysis.results.result import RESULT_FILE
from testbed.errors import RunError, UsageError
from testbed.execution import capabilities
from testbed.execution.execute import execute
from testbed.plan.plan import RunRequest, plan_run
from testbed.recording.outcome import Silent
from testbed.system.run_ids import STATE_ROOT

JOBS = "jobs"
JOURNAL = "journal.jsonl"
_ROOT = Path(__file__).resolve().parents[2]


_DIE_WITH_WORKER = ("setpriv", "--pdeathsig", "TERM")
"""Of util-linux: asks the kernel to end the job with its worker, before Python has even begun."""


@dataclass(frozen=True)
class Errand:
    """A job as words for `subprocess.run`: a scheduler that does not know this tree can pass it on."""

    command: tuple[str, ...]
    options: Mapping[str, Any]


def errand(request: RunRequest, folder: Path, name: str) -> Errand:
    """The job in a process of its own, which takes signals and memory with it, of this tree's Python."""
    command = (*_DIE_WITH_WORKER, sys.executable, "-m", "testbed.jobs.job", str(folder), name)
    words = json.dumps(asdict(request), default=str)
    return Errand(command, {"input": words, "cwd": str(_ROOT), "capture_output": True, "text": True})


def failure_of(done: subprocess.CompletedProcess[str]) -> str | None:
    """The line that says what failed; None if nothing did."""
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]


def run_job(request: RunRequest, folder: Path, name: str) -> None:
    """Runs a job unless its folder is there, and adds a line to the journal. UsageError or RunError if it fails."""
    jobs = folder / JOBS
    final, partial = jobs / name, jobs / f".{name}.partial"
    with (jobs / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (final / RESULT_FILE).exists():
            return
        shutil.rmtree(partial, ignore_errors=True)
        plan = plan_run(request)
        capabilities.require(plan.config.clock, plan.config.switch)
        with _alone(request):
            finished = execute(plan, partial, Silent())
        if finished.result.interrupted:
            raise RunError("interrupted")
        finished.folder.rename(final)
        shutil.rmtree(partial)
        _note(folder / JOURNAL, {"job": name, "verdict": finished.result.verdict, "wall_s": finished.result.wall_s})


@contextmanager
def _alone(request: RunRequest) -> Iterator[None]:
    """Real-clock runs of sweeps follow each other on a machine: two would take each other's processor time."""
    if request.clock != "real":
        yield
        return
    STATE_ROOT.mkdir(parents=True, exist_ok=True)
    lock = os.open(STATE_ROOT, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _note(journal: Path, line: dict[str, object]) -> None:
    """Appends in one write, which other jobs cannot split."""
    descriptor = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, (json.dumps(line) + "\n").encode())
    finally:
        os.close(descriptor)


def main() -> int:
    """The job of the command line."""
    fields = json.load(sys.stdin)
    flow_file = fields.pop("flow_file")
    request = RunRequest(**fields, flow_file=None if flow_file is None else Path(flow_file))
    try:
        run_job(request, Path(sys.argv[1]), sys.argv[2])
    except (UsageError, RunError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
