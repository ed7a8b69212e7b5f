# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Explains figures outside their tolerance: how far random lateness of links alone changes them.

A virtual run is one of many possible outcomes. More virtual runs of the same flows have jitter on every link, up to the
P99 lateness of the live run. Figures within their range are explained by lateness alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sfc_testbed.analysis.results.stored import Run, load_run
from sfc_testbed.analysis.validation.comparison import with_spread
from sfc_testbed.analysis.validation.record import ValidatedRun
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.jobs.job import Job

_NS_PER_US = 1000


def jitter_ns(validated: ValidatedRun, live: Run) -> int:
    """Return the maximum jitter in model time, or 0 if the lateness was not measured."""
    return round((validated.lateness or 0.0) * live.result.base_rtt_us * _NS_PER_US)


def spread_jobs(validated: ValidatedRun, virtual: RunSpec, folder: Path, count: int) -> Iterator[Job]:
    """Yield `count` virtual runs with different seeds, or none if all figures are within or lateness is unknown."""
    most_ns = jitter_ns(validated, load_run(folder / validated.live_folder))
    if validated.outside and most_ns:
        for seed in range(1, count + 1):
            fault = f"jitter:all,max={most_ns}ns,seed={seed}"
            request = replace(virtual, faults=(*virtual.faults, fault))
            yield Job(f"{validated.scenario} {validated.scheme}, {fault}", request, folder, page=False)


def spread_found(validated: ValidatedRun, folder: Path, runs: Sequence[Path]) -> ValidatedRun:
    """Add the range of the figures in these runs. Raise ResultError for a run that cannot be read."""
    live = load_run(folder / validated.live_folder)
    return with_spread(validated, jitter_ns(validated, live), [load_run(run) for run in runs])
