# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the jobs of a sweep on Dask: a cluster of this machine's cores, or one that exists already.

Jobs travel as commands, so that a scheduler needs nothing of ours. A worker's machine needs this tree, set up, at the
same path, and the sweep's folder on a file system that all share.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import Client, Future, LocalCluster, as_completed

from telemetry.atomic_file import replace_file, replace_text
from testbed.errors import UsageError
from testbed.execution.execute import give_to_caller
from testbed.jobs.job import JOBS, errand, failure_of
from testbed.sweep.sweep import TABLE, SweepFile, SweepJob, results_table, unfinished

SWEEP_COPY = "sweep.json"
_PATIENCE_S = 10
"""With a scheduler that does not answer, or has no worker."""

Tell = Callable[[int, int, str], None]


@dataclass(frozen=True)
class FinishedSweep:
    """What a sweep came to."""

    folder: Path
    table: Path
    ran: int
    found: int
    """Jobs that were done before."""
    failures: tuple[str, ...]


def run_sweep(
    sweep: SweepFile, jobs: Sequence[SweepJob], out: Path, *, workers: int, scheduler: str | None, tell: Tell
) -> FinishedSweep:
    """Runs what is not done yet and writes the table of results. UsageError without the scheduler or a worker."""
    folder = out.absolute() / sweep.name
    (folder / JOBS).mkdir(parents=True, exist_ok=True)
    replace_text(folder / SWEEP_COPY, sweep.model_dump_json(indent=2) + "\n")
    missing = unfinished(folder, jobs)
    found = len(jobs) - len(missing)
    failures: list[str] = []
    if missing:
        # Real-clock runs would take each other's processor time.
        count = 1 if sweep.clock == "real" else min(workers, len(missing))
        with _client(scheduler, count) as client:
            futures = {_submit(client, job, folder): job for job in missing}
            for done, future in enumerate(as_completed(list(futures)), start=found + 1):
                job = futures[future]
                failure = _failure(future)
                if failure is not None:
                    failures.append(f"{job.label}: {failure}")
                tell(done, len(jobs), job.label)
    table = results_table(folder, jobs)
    replace_file(folder / TABLE, table.write_parquet)
    give_to_caller(folder)
    return FinishedSweep(folder, folder / TABLE, len(missing) - len(failures), found, tuple(failures))


def _submit(client: Client, job: SweepJob, folder: Path) -> Future[Any]:
    asked = errand(job.request, folder, job.name)
    return client.submit(subprocess.run, asked.command, **asked.options, key=job.name, pure=False)


def _failure(future: Future[Any]) -> str | None:
    """What kept a job from being run, or what it said when it failed."""
    error = future.exception()
    return failure_of(future.result()) if error is None else f"not started by its worker: {error}"


@contextmanager
def _client(scheduler: str | None, workers: int) -> Iterator[Client]:
    if scheduler is None:
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(scheduler, timeout=_PATIENCE_S)
    except (OSError, ValueError) as error:
        raise UsageError(f"--scheduler {scheduler}: no Dask scheduler answers there") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE_S)
        except TimeoutError as error:
            raise UsageError(f"--scheduler {scheduler}: it has no worker") from error
        yield client
