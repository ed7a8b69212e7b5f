# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run in virtual time in this process. NICs and switch engines run in rounds as long as the shortest link delay
(docs/decisions/0010-virtual-time-in-rounds.md).

Nothing here reads a clock, except to measure the run's cost. The same seed gives byte-identical traces.
"""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from sfc_testbed.hosts.records import RecordWriter, SwitchClock
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.recording.outcome import ClockOutcome, Progress
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.virtual.part import Part, lookahead_ns, round_end_ns
from sfc_testbed.testbed.virtual.shares import shares
from sfc_testbed.testbed.virtual.work import Work

if TYPE_CHECKING:
    from sfc_testbed.analysis.results.counters import RunCounters

_PROGRESS_TURNS = 5_000
"""Hosts with an event, summed over rounds, between two progress reports."""


def simulate(plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt) -> ClockOutcome:
    """Run the plan until all flows are done or its duration is over; then let the packets in flight arrive."""
    began_s = time.perf_counter()
    with closing(_Simulation(plan, folder, recorder, progress)) as simulation:
        recorder.begin(0)
        progress.stage("simulating")
        interrupt.stop_if_requested()  # nothing has been measured yet
        simulation.run_until(plan.duration_wall_ns, interrupt)
        interrupted = interrupt.is_requested
        progress.draining(interrupted)
        simulation.drain(interrupt)
        simulation.record_rest()
        counters = simulation.counters(interrupted, time.perf_counter() - began_s)
    return ClockOutcome(counters)


class _Simulation:
    """The rounds of one run and their records."""

    def __init__(self, plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress) -> None:
        self._recorder = recorder
        self._progress = progress
        self._work = Work(plan)
        self._flows = len(plan.flows)
        self._resends_successors = plan.resends_successors
        clocks = {switch.switch_id: SwitchClock(switch.name) for switch in plan.topology.switches}
        self._records = RecordWriter(recorder.take, plan.dilation, start_ns=0, switches=clocks)
        [whole] = shares(plan.topology, plan.columns, 1)
        self._part = Part(plan, folder, self._records.write, whole)
        self._round_ns = lookahead_ns(plan.topology, plan.dilation)

    def close(self) -> None:
        self._part.close()

    def run_until(self, limit_ns: int, interrupt: Interrupt) -> None:
        """Run rounds until all flows are done at both ends, no event is left, the limit is reached, or Ctrl-C."""
        turns = 0
        while not self._recorder.ends.is_complete and not interrupt.is_requested:
            until_ns = round_end_ns(self._part.next_ns(), self._round_ns, limit_ns)
            if until_ns == NEVER:
                break
            turns += self._part.run(until_ns)
            if turns >= _PROGRESS_TURNS:
                turns = 0
                self._progress.share_done(self._work.share(self._part.delivered_packets(), until_ns))
                if self._recorder.is_save_due:
                    self._save()

    def drain(self, interrupt: Interrupt) -> None:
        """Stop the hosts and let the packets in flight arrive, so that they are counted."""
        self._part.quiesce()
        while (until_ns := round_end_ns(self._part.next_ns(), self._round_ns, NEVER - 1)) != NEVER:
            self._part.run(until_ns)
            interrupt.stop_if_urgent()

    def record_rest(self) -> None:
        """Write the records of flows that the end of the run cut off, and all queue samples."""
        self._part.write_rest(self._records)
        for name, samples in self._part.queue_samples():
            self._recorder.queue_samples(name, samples)

    def _save(self) -> None:
        for name, samples in self._part.ready_queue_samples():
            self._recorder.queue_samples(name, samples)
        self._recorder.save()

    def counters(self, interrupted: bool, wall_s: float) -> RunCounters:
        """Return the counters of hosts and switches."""
        from sfc_testbed.testbed.recording.counters import run_counters  # loads slowly; the packets need not wait

        counts = self._part.counts()
        return run_counters(
            counts.hosts,
            counts.switches,
            counts.parts,
            resends_successors=self._resends_successors,
            undelivered=self._recorder.ends.undelivered,
            interrupted=interrupted,
            wall_s=wall_s,
        )
