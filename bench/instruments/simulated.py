# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs on the virtual clock, timed without planning and report."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sfc_testbed.analysis.results.counters import RunCounters
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.interrupt import interruptible
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.recording.outcome import Silent
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.virtual.simulation import simulate


@dataclass(frozen=True)
class Simulated:
    """The counters of a run and its CPU time."""

    counters: RunCounters
    cpu_s: float


def simulated(request: RunSpec) -> Simulated:
    """Run the request in this process, without keeping its traces."""
    plan = plan_run(request)
    with tempfile.TemporaryDirectory(prefix="sfc-bench-") as name:
        return run_whole(plan, Path(name))


def run_whole(plan: RunPlan, folder: Path) -> Simulated:
    """Run a plan in this process, and raise RuntimeError unless every flow ended."""
    with interruptible() as interrupt, Recorder(plan, folder) as recorder:
        began_ns = time.process_time_ns()
        counters = simulate(plan, folder, recorder, Silent(), interrupt).counters
        spent_ns = time.process_time_ns() - began_ns
        interrupt.stop_if_requested()
        _require_whole(plan, recorder)
    return Simulated(counters, spent_ns / 1e9)


def _require_whole(plan: RunPlan, recorder: Recorder) -> None:
    """Raise RuntimeError unless every flow ended: an incomplete run would seem fast."""
    if recorder.ends.completed < len(plan.flows):
        raise RuntimeError(f"{len(plan.flows) - recorder.ends.completed} of {len(plan.flows)} flows did not end")


def incast_request(*settings: str) -> RunSpec:
    """Return the request for an incast with the scheme sfc over a Clos with 100 Gb/s links."""
    common = ("topology.fabric_rate_bps=100000000000", "placement=spread")
    return RunSpec(
        "incast",
        scheme="sfc",
        clock="virtual",
        scale="paper",
        topology="clos",
        settings=parse_settings((*common, *settings)),
    )
