# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the jobs of a sweep on Dask: a cluster of this machine's cores, or one that exists already.

Workers of an existing cluster need this tree on their import path and the sweep's folder on a file system they share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from distributed import Client, LocalCluster, as_completed

from telemetry.atomic_file import replace_file, replace_text
from testbed.errors import UsageError
from testbed.runs import give_to_caller
from testbed.sweep import JOBS, TABLE, SweepFile, SweepJob, results_table, unfinished
from testbed.sweep_job import run_in_process

SWEEP_COPY = "sweep.json"

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
    """Runs what is not done yet and writes the table of results. UsageError if the scheduler cannot be reached."""
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
            futures = {
                client.submit(run_in_process, job.request, str(folder), job.name, key=job.name, pure=False): job
                for job in missing
            }
            for done, future in enumerate(as_completed(list(futures)), start=found + 1):
                job = futures[future]
                failure = future.result()
                if failure is not None:
                    failures.append(f"{job.label}: {failure}")
                tell(done, len(jobs), job.label)
    table = results_table(folder, jobs)
    replace_file(folder / TABLE, table.write_parquet)
    give_to_caller(folder)
    return FinishedSweep(folder, folder / TABLE, len(missing) - len(failures), found, tuple(failures))


@contextmanager
def _client(scheduler: str | None, workers: int) -> Iterator[Client]:
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout="10s")
        except (OSError, ValueError) as error:
            raise UsageError(f"--scheduler {scheduler}: no Dask scheduler answers there") from error
        with client:
            yield client
        return
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client
