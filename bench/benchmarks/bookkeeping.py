# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Cost of a run apart from its packets: planning, ideal FCTs, recording, result and report of a given number of flows.

The run uses the paper's network of 512 hosts. The records of its hosts and switches are synthetic (`finished_flows`);
everything after that is the code of a real run. The benchmark measures the CPU time of all threads of this process and
its memory.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from bench.instruments.benchmark import Benchmark, Figure, Target
from bench.instruments.finished_flows import queue_samples, record_batches
from sfc_testbed.analysis.report.html_pages import write_run_report
from sfc_testbed.analysis.results.build import build_result
from sfc_testbed.analysis.results.counters import RunCounters
from sfc_testbed.analysis.results.result import BtsCounts, PacketCounts, PfcCounts, write_result
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.execution.execute import write_inputs
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.recording.recorder import Recorder

FLOWS = 285_000
"""Flows that start in 10 model ms of the paper's default workload."""
MOST_SECONDS = 15.0
_ARRIVALS_US_PER_FLOW = 10_000 / 284_617
_US_PER_SAMPLE = 10
_NOTHING_COUNTED = RunCounters(
    packets=PacketCounts(sent=0, received=0, switch_generated=0, switch_absorbed=0, in_flight=0),
    drops={},
    kernel_drops=0,
    bts=BtsCounts(sent=0, suppressed=0, cache_hits=0, max_suppression_entries=0, max_cache_entries=0),
    pfc=PfcCounts(sent=0),
)


@dataclass
class Costs:
    """CPU time of each stage in seconds, in the order of a run."""

    flows: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    recording_bytes: int = 0
    """Growth of the process's resident memory while it stored records."""

    @property
    def total_s(self) -> float:
        return sum(self.seconds.values())

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the CPU time of the `with` block to this stage."""
        began_s = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - began_s


@dataclass
class BookkeepingBenchmark(Benchmark):
    """Costs of a run with about `flows` flows."""

    name = "bookkeeping"
    summary = "CPU time of planning, recording and reporting a run of the paper's 512 hosts"

    flows: int = FLOWS

    def run(self) -> list[Figure]:
        costs = measure(self.flows)
        figures = [Figure(stage, seconds, "s") for stage, seconds in costs.seconds.items()]
        target = Target(MOST_SECONDS, "at most") if self.flows >= FLOWS else None
        note = f"{costs.flows:,} flows"
        return [
            *figures,
            Figure("together", costs.total_s, "s", target=target, note=note),
            Figure("grown while recording", costs.recording_bytes / 1e6, "MB"),
            Figure(
                "most memory",
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
                "MB",
                note="peak of this process since its start",
            ),
        ]


def measure(flows: int) -> Costs:
    """Plan, record and report a run of about `flows` flows, and return its costs."""
    costs = Costs()
    arrivals_us = flows * _ARRIVALS_US_PER_FLOW
    with costs.stage("planning"):
        settings = {"arrivals_us": round(arrivals_us, 3)}
        plan = plan_run(RunSpec("datacentre", "sfc+hpcc", clock="virtual", scale="paper", settings=settings))
    costs.flows = len(plan.flows)
    with tempfile.TemporaryDirectory(prefix="sfc-bench-") as name:
        _record(plan, Path(name), costs, intervals=int(arrivals_us // _US_PER_SAMPLE) + 1)
    return costs


def _record(plan: RunPlan, folder: Path, costs: Costs, intervals: int) -> None:
    with costs.stage("ideal FCTs and inputs"):
        write_inputs(plan, folder)
        recorder = Recorder(plan, folder)
    recorder.begin(0)
    process = psutil.Process()
    before_bytes = process.memory_info().rss
    for batch in record_batches(plan):
        with costs.stage("taking records"):
            for record in batch:
                recorder.take(record)
    costs.recording_bytes = max(0, process.memory_info().rss - before_bytes)
    for switch, samples in queue_samples(plan, intervals):
        recorder.queue_samples(switch, samples)
    with costs.stage("traces"):
        recorder.close(all_told=True)
    with costs.stage("result"):
        write_result(folder, build_result(plan.config, _NOTHING_COUNTED, **recorder.traces()))
        recorder.remove_journal()
    with costs.stage("report"):
        write_run_report(folder)
