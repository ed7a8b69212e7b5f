# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Hands the workers' records to the recorder, ordered by round, and by worker within a round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.recording.outcome import Progress
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.virtual.part import Counts
from sfc_testbed.testbed.virtual.tasks import RecordValues, WorkerReport
from sfc_testbed.testbed.virtual.work import Work

if TYPE_CHECKING:
    from sfc_testbed.analysis.results.counters import RunCounters


class Gathering:
    """Collects the reports of workers, which are known by number only."""

    def __init__(self, plan: RunPlan, recorder: Recorder, progress: Progress, workers: int) -> None:
        self._work = Work(plan)
        self._resends_successors = plan.resends_successors
        self._delivered_packets = [0] * workers
        self._starting = set(range(workers))
        self._recorder = recorder
        self.progress = progress
        self._reported_rounds = [0] * workers
        """The last round that each worker has reported."""
        self._waiting: list[tuple[int, int, list[RecordValues]]] = []
        self._counts: list[Counts | None] = [None] * workers
        self._was_interrupted = False
        self._undelivered = 0

    @property
    def is_starting(self) -> bool:
        """Whether a worker still builds its share of the network; its first report ends that."""
        return bool(self._starting)

    def take(self, number: int, report: WorkerReport) -> None:
        """Take a report of a worker."""
        if self._starting:
            self._starting.discard(number)
            if not self._starting:
                self.progress.stage("simulating")
        self._reported_rounds[number] = report.rounds
        self._counts[number] = report.counts
        self._undelivered = report.undelivered
        self._was_interrupted = self._was_interrupted or report.was_interrupted
        self._waiting += [(round_number, number, records) for round_number, records in report.records]
        for switch, samples in report.samples:
            self._recorder.queue_samples(switch, samples)
        if self._hand_on(min(self._reported_rounds)) and self._recorder.is_save_due:
            self._recorder.save()
        self._delivered_packets[number] = report.delivered_packets
        if report.time_ns:
            self.progress.share_done(self._work.share(sum(self._delivered_packets), report.time_ns))

    def finish(self) -> None:
        """Hand on all remaining records, after the last report of every worker."""
        self._hand_on(max(self._reported_rounds))

    def counters(self, *, wall_s: float) -> RunCounters:
        """Return the counters of all hosts and switches in the order of the shares, once all workers have reported."""
        from sfc_testbed.testbed.recording.counters import run_counters  # loads slowly; the packets need not wait

        worker_counts = [counts for counts in self._counts if counts is not None]
        return run_counters(
            [host for counts in worker_counts for host in counts.hosts],
            [switch for counts in worker_counts for switch in counts.switches],
            [part for counts in worker_counts for part in counts.parts],
            resends_successors=self._resends_successors,
            undelivered=self._undelivered,
            interrupted=self._was_interrupted,
            wall_s=wall_s,
        )

    def _hand_on(self, until_round: int) -> bool:
        ready = sorted((entry for entry in self._waiting if entry[0] <= until_round), key=lambda entry: entry[:2])
        self._waiting = [entry for entry in self._waiting if entry[0] > until_round]
        for _, _, records in ready:
            for kind, values in records:
                self._recorder.take_values(kind, values)
        return bool(ready)
