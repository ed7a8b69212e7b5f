# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run on the virtual clock and the time that it took, without its planning and its report."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from analysis.results.counters import RunCounters
from analysis.results.spec import RunSpec
from testbed.interrupt import interruptible
from testbed.plan.plan import RunPlan, plan_run
from testbed.plan.settings import parse_settings
from testbed.recording.outcome import Silent
from testbed.recording.recorder import Recorder
from testbed.virtual.simulation import simulate
from testbed.virtual.workers import simulate_shared


@dataclass(frozen=True)
class Simulated:
    """What a run counted, and its cost."""

    counters: RunCounters
    cpu_s: float


def simulated(request: RunSpec) -> Simulated:
    """Runs it, all in this process, and throws its traces away."""
    plan = plan_run(request)
    with tempfile.TemporaryDirectory(prefix="sfc-bench-") as name:
        return run_whole(plan, Path(name))


def run_whole(plan: RunPlan, folder: Path) -> Simulated:
    """Runs a plan to the end of its last flow."""
    with interruptible() as interrupt, Recorder(plan, folder) as recorder:
        began_ns = time.process_time_ns()
        counters = simulate(plan, folder, recorder, Silent(), interrupt).counters
        spent_ns = time.process_time_ns() - began_ns
        interrupt.stop_if_requested()
        _require_whole(plan, recorder)
    return Simulated(counters, spent_ns / 1e9)


def shared_wall_s(request: RunSpec, workers: int) -> float:
    """Wall time of a run in so many processes, their start included."""
    plan = plan_run(request)
    with tempfile.TemporaryDirectory(prefix="sfc-bench-") as name, interruptible() as interrupt:
        folder = Path(name)
        (folder / "logs").mkdir()
        with Recorder(plan, folder) as recorder:
            began_s = time.perf_counter()
            simulate_shared(plan, folder, recorder, Silent(), interrupt, workers=workers)
            spent_s = time.perf_counter() - began_s
            interrupt.stop_if_requested()
            _require_whole(plan, recorder)
    return spent_s


def _require_whole(plan: RunPlan, recorder: Recorder) -> None:
    """What was cut short would pass for fast."""
    if recorder.completed < len(plan.flows):
        raise RuntimeError(f"{len(plan.flows) - recorder.completed} of {len(plan.flows)} flows did not end")


def incast_request(*settings: str) -> RunSpec:
    """An incast with the scheme sfc over a Clos whose links all have 100 Gb/s."""
    common = ("topology.fabric_rate_bps=100000000000", "placement=spread")
    return RunSpec(
        "incast",
        scheme="sfc",
        clock="virtual",
        scale="paper",
        topology="clos",
        settings=parse_settings((*common, *settings)),
    )
