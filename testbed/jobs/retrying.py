# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Jobs with `--retry`: live runs that were late once more, at the D that would have done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from analysis.results.result import read_result
from testbed.execution.retry import MOST_RETRIES, retry_of, told
from testbed.jobs.job import Ended, Job, JobFinished, JobResult, JobResults, Tell, forget, run_jobs
from testbed.jobs.task import Executor


def run_jobs_retrying(
    jobs: Sequence[Job], executor: Executor, tell: Tell, tell_retry: Callable[[str], None] | None, ended: Ended = forget
) -> JobResults:
    """As `run_jobs`; with somebody to be told, the results of further tries are in the places of late ones.

    The late runs keep their folders. `ended` hears of the first tries alone.
    """
    done = run_jobs(jobs, executor, tell, ended)
    return done if tell_retry is None else _retried(jobs, done, executor, tell, tell_retry)


def _retried(
    jobs: Sequence[Job], done: JobResults, executor: Executor, tell: Tell, tell_retry: Callable[[str], None]
) -> JobResults:
    """Results with those of further tries in the places of late ones."""
    tried = list(jobs)
    for _ in range(MOST_RETRIES):
        again = {} if done.is_interrupted else _late(tried, done.each)
        if not again:
            break
        for number, (line, job) in again.items():
            tell_retry(line)
            tried[number] = job
        done = _replaced(done, list(again), run_jobs([job for _, job in again.values()], executor, tell))
    return done


def _late(jobs: Sequence[Job], results: Sequence[JobResult]) -> dict[int, tuple[str, Job]]:
    """By number: the line about it, and the job that tries again what was late."""
    found = {}
    for number, (job, done) in enumerate(zip(jobs, results, strict=True)):
        if isinstance(done, JobFinished):
            result = read_result(done.folder)
            again = retry_of(job.request, done.folder, result)
            if again is not None and again != job.request:  # else it has been tried, and failed
                found[number] = told(done.folder, result), replace(job, request=again)
    return found


def _replaced(done: JobResults, numbers: Sequence[int], again: JobResults) -> JobResults:
    """Results with those of another try in their places; where that came to nothing, the late run stays."""
    each = list(done.each)
    for number, result in zip(numbers, again.each, strict=True):
        if isinstance(result, JobFinished):
            each[number] = result
    return JobResults(tuple(each), again.is_interrupted)
