# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What the workers of a run tell, handed on to its recorder in the order of rounds, and in a round of workers."""

from __future__ import annotations

from analysis.results.counters import RunCounters
from hosts.protocol import Record
from testbed.plan.plan import RunPlan
from testbed.recording.counters import run_counters
from testbed.recording.outcome import Progress
from testbed.recording.recorder import Recorder
from testbed.virtual.part import Counts
from testbed.virtual.tasks import Told


class Gathering:
    """Knows workers by their numbers, not how they are reached."""

    def __init__(self, plan: RunPlan, recorder: Recorder, progress: Progress, workers: int) -> None:
        self._flows = len(plan.flows)
        self._recorder = recorder
        self._progress = progress
        self._known = [0] * workers
        """The last round that each has told of."""
        self._waiting: list[tuple[int, int, list[Record]]] = []
        self._counts: list[Counts | None] = [None] * workers
        self._was_asked = False

    def take(self, number: int, told: Told) -> None:
        """What one of them tells."""
        self._known[number] = told.rounds
        self._counts[number] = told.counts
        self._was_asked = self._was_asked or told.was_asked
        self._waiting += [(at, number, records) for at, records in told.records]
        for switch, samples in told.samples:
            self._recorder.queue_samples(switch, samples)
        if self._hand_on(min(self._known)) and self._recorder.is_save_due:
            self._recorder.save()
        self._progress.flows_done(self._recorder.completed, self._flows)

    def finish(self) -> None:
        """All have told all."""
        self._hand_on(max(self._known))

    def counters(self, *, wall_s: float) -> RunCounters:
        """Of all, hosts and switches in the order of the shares; interrupted where workers ended because of that."""
        counts = [each for each in self._counts if each is not None]
        return run_counters(
            [host for each in counts for host in each.hosts],
            [switch for each in counts for switch in each.switches],
            [part for each in counts for part in each.parts],
            undelivered=self._recorder.undelivered,
            interrupted=self._was_asked,
            wall_s=wall_s,
        )

    def _hand_on(self, until_round: int) -> bool:
        ready = sorted((each for each in self._waiting if each[0] <= until_round), key=lambda each: each[:2])
        self._waiting = [each for each in self._waiting if each[0] > until_round]
        for _, _, records in ready:
            for record in records:
                self._recorder.take(record)
        return bool(ready)
