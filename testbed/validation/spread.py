# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Why a figure missed its tolerance: how far it goes by itself when links are late by chance, as the live run was.

The virtual run is one outcome among many. More virtual runs of the same flows, every link of which jitters by up to
what the live run's lateness was (P99), show the others: what they reach, nothing but lateness is needed for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from analysis.results.stored import Run, load_run
from analysis.validation.comparison import with_spread
from analysis.validation.record import ValidatedRun
from testbed.jobs.job import Job
from testbed.plan.plan import RunRequest

_NS_PER_US = 1000


def jitter_ns(found: ValidatedRun, live: Run) -> int:
    """In model time, 0 where the lateness was not measured."""
    return round((found.lateness or 0.0) * live.result.base_rtt_us * _NS_PER_US)


def spread_jobs(found: ValidatedRun, virtual: RunRequest, folder: Path, count: int) -> Iterator[Job]:
    """As many virtual runs, each with chance of its own; none where all is within or no lateness is known."""
    most_ns = jitter_ns(found, load_run(folder / found.live_folder))
    if found.outside and most_ns:
        for seed in range(1, count + 1):
            fault = f"jitter:all,max={most_ns}ns,seed={seed}"
            request = replace(virtual, faults=(*virtual.faults, fault))
            yield Job(f"{found.scenario} {found.scheme}, {fault}", request, folder, page=False)


def spread_found(found: ValidatedRun, folder: Path, runs: Sequence[Path]) -> ValidatedRun:
    """With what those runs reached. ResultError for one that cannot be read."""
    live = load_run(folder / found.live_folder)
    return with_spread(found, jitter_ns(found, live), [load_run(each) for each in runs])
