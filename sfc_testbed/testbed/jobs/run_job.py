# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The process of a job: `python -m sfc_testbed.testbed.jobs.run_job` reads a `Job`, and writes a `JobResult`.

With `--serve` the process runs one job after the other, with one line of input and one line of output for each.

A job with a name holds a lock while it runs. If its command was killed and the job still runs, a new command waits for
it instead of running it again.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from os_helpers.cache import CacheRefused
from sfc_testbed.analysis.results.result import RESULT_FILE
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.telemetry.atomic_file import LinkRefused, check_no_link, open_no_link
from sfc_testbed.testbed.errors import Interrupted, RunError, UsageError
from sfc_testbed.testbed.execution.execute import StoredRun, execute
from sfc_testbed.testbed.execution.limits import check_limits, check_rates
from sfc_testbed.testbed.jobs.job import JOB, JOB_RESULT, Job, JobFailed, JobFinished, JobInterrupted, JobResult
from sfc_testbed.testbed.jobs.process import SHARE
from sfc_testbed.testbed.jobs.task import SERVE, begin_task
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.recording.outcome import Progress, Silent
from sfc_testbed.testbed.speed.dilation import with_dilation
from sfc_testbed.testbed.system.code import code_digest
from sfc_testbed.testbed.system.limits import out_of_room
from sfc_testbed.testbed.system.run_ids import state_root
from sfc_testbed.testbed.targets import capabilities

JOURNAL = "journal.jsonl"
_SHARE_PERIOD_S = 0.5


def run_job(job: Job, progress: Progress | None = None) -> JobResult:
    """Run a job, unless it has a name and its folder exists already."""
    code_digest.cache_clear()  # a serving process may be older than the last edit of the code
    if job.code is not None and job.code != code_digest():
        return JobFailed(reason="the code has changed since the jobs were planned; start them again")
    try:
        observer = progress or Silent()
        return _run_new(job, observer) if job.name is None else _run_once(job, job.name, observer)
    except (UsageError, RunError, CacheRefused) as error:
        return JobFailed(reason=str(error))
    except LinkRefused as error:
        return JobFailed(reason=f"{error.filename}: {error.strerror}")
    except Interrupted:
        return JobInterrupted()
    except Exception as error:
        reason = out_of_room(error, [job.out])
        if reason is None:
            raise
        return JobFailed(reason=reason)


def _run_new(job: Job, progress: Progress) -> JobResult:
    run = _make_run(job, job.out, progress)
    return JobInterrupted(folder=run.folder) if run.interrupted else JobFinished(folder=run.folder)


def _run_once(job: Job, name: str, progress: Progress) -> JobResult:
    final, partial = job.out / name, job.out / f".{name}.partial"
    with os.fdopen(open_no_link(job.out / f".{name}.lock", os.O_WRONLY), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (final / RESULT_FILE).exists():
            return JobFinished(folder=final)
        check_no_link(final, partial, job.out / JOURNAL)
        shutil.rmtree(partial, ignore_errors=True)
        run = _make_run(job, partial, progress)
        if run.interrupted:
            return JobInterrupted(folder=run.folder)
        run.folder.rename(final)
        shutil.rmtree(partial)
        _note(job.out / JOURNAL, {"job": name, "verdict": run.result.verdict, "wall_s": run.result.wall_s})
        return JobFinished(folder=final)


def _make_run(job: Job, out: Path, progress: Progress) -> StoredRun:
    plan = plan_run(job.request, job.decided)
    check_limits([plan], out)
    capabilities.require(plan.config.clock, plan.config.switch, plan.mtu_bytes)
    with _alone(job.request):
        plan = with_dilation(plan)
        check_rates(plan)
        return execute(plan, out, progress, page=job.page)


@contextmanager
def _alone(request: RunSpec) -> Iterator[None]:
    """Hold a lock during a real-clock job, so that two of them never compete for processor time on a machine."""
    if request.clock != "real":
        yield
        return
    with state_root() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _note(journal: Path, line: dict[str, object]) -> None:
    """Append a line to the journal in one write, so that lines of parallel jobs do not mix."""
    descriptor = open_no_link(journal, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, (json.dumps(line) + "\n").encode())
    finally:
        os.close(descriptor)


class _ShareWriter(Silent):
    """Writes the share of a run that is done as a line, about twice per second."""

    def __init__(self, answers: BinaryIO) -> None:
        self._answers = answers
        self._due_s = time.monotonic()

    def share_done(self, share: float) -> None:
        if time.monotonic() >= self._due_s:
            self._due_s = time.monotonic() + _SHARE_PERIOD_S
            self._answers.write(f"{SHARE}{share:.4f}\n".encode())
            self._answers.flush()


def main(*, serves: bool = False) -> int:
    """Run the job on stdin, or all jobs that arrive there if `serves`."""
    with _answers() as answers:
        for payload in iter(sys.stdin.buffer.readline, b"") if serves else [sys.stdin.buffer.read()]:
            result = run_job(JOB.validate_json(payload), _ShareWriter(answers))
            answers.write(JOB_RESULT.dump_json(result) + b"\n")
            answers.flush()
    return 0


def _answers() -> BinaryIO:
    """Return the stream for answers and redirect stdout to stderr, so that no library's output looks like an answer."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


if __name__ == "__main__":
    begin_task()
    sys.exit(main(serves=SERVE in sys.argv[1:]))
