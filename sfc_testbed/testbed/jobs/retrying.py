# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Jobs with `--retry`: repeats late live runs at a dilation that would have been on time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sfc_testbed.analysis.results.result import read_result
from sfc_testbed.testbed.execution.retry import MOST_RETRIES, retry_line, retry_of
from sfc_testbed.testbed.jobs.job import Ended, Job, JobFinished, JobResult, JobResults, Tell, forget, run_jobs
from sfc_testbed.testbed.jobs.task import Executor


def run_jobs_retrying(
    jobs: Sequence[Job], executor: Executor, tell: Tell, tell_retry: Callable[[str], None] | None, ended: Ended = forget
) -> JobResults:
    """Run jobs as `run_jobs` does. Unless `tell_retry` is None, repeat late runs and return the results of the repeats.

    Late runs keep their folders. `ended` is called for first tries only, `tell_retry` with a line for each repeat.
    """
    results = run_jobs(jobs, executor, tell, ended)
    if tell_retry is None:
        return results
    latest_jobs = list(jobs)
    for _ in range(MOST_RETRIES):
        retries = {} if results.is_interrupted else _retries_of_late(latest_jobs, results.in_order)
        if not retries:
            break
        for number, (line, job) in retries.items():
            tell_retry(line)
            latest_jobs[number] = job
        repeated = run_jobs([job for _, job in retries.values()], executor, tell)
        results = _replaced(results, list(retries), repeated)
    return results


def _retries_of_late(jobs: Sequence[Job], results: Sequence[JobResult]) -> dict[int, tuple[str, Job]]:
    """Return, by number of each late job, a line about it and the job that repeats it."""
    retries = {}
    for number, (job, job_result) in enumerate(zip(jobs, results, strict=True)):
        if isinstance(job_result, JobFinished):
            result = read_result(job_result.folder)
            again = retry_of(job.request, job_result.folder, result)
            if again is not None and again != (job.request, job.decided):  # an equal run has been tried and failed
                request, decided = again
                repeat = replace(job, request=request, decided=decided, name=None)
                retries[number] = retry_line(job_result.folder, result), repeat
    return retries


def _replaced(results: JobResults, numbers: Sequence[int], repeated: JobResults) -> JobResults:
    """Return the results with finished repeats in place of late runs. If a repeat failed, the late run remains."""
    merged = list(results.in_order)
    for number, result in zip(numbers, repeated.in_order, strict=True):
        if isinstance(result, JobFinished):
            merged[number] = result
    return JobResults(tuple(merged), repeated.is_interrupted)
