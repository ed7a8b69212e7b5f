# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`python -m testbed.virtual.worker DESCRIPTOR NUMBER PID`: runs one share of a run in virtual time.

The process PID runs `testbed.virtual.workers`. All workers make the same decisions after each round, because the
decisions depend only on what all of them exchanged at its end.
"""

from __future__ import annotations

import pickle
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from struct import Struct

from hosts.crash import print_crash
from hosts.protocol import Record
from hosts.records import RecordWriter, SwitchClock
from hosts.transport.loss_recovery.base import NEVER
from processes.parent import die_with_parent
from testbed.virtual.exchange import Exchange, SharedMemory
from testbed.virtual.flow_ends import SharedFlowEnds
from testbed.virtual.part import Part, round_end_ns
from testbed.virtual.tasks import CRASHED, Runner, Task, WorkerReport

TELL_TURNS = 20_000
"""Hosts with an event, summed over all shares and rounds, between two reports to the runner."""
ASK_ROUNDS = 16
"""Rounds between two checks for the runner's request to end; a check takes a tenth of a round."""
HEAD = Struct("=qqqqq")
"""The header of an exchanged part: the time of the sender's next event, whether it was asked to end, how many of its
hosts had an event, the size of the ends of flows, and the size of the entries."""


@dataclass(frozen=True)
class _RoundEnd:
    """The state that all workers know after a round, summarized over all workers."""

    next_ns: int
    is_end_requested: bool
    turns: int


class Worker:
    """Runs the rounds of one share."""

    def __init__(self, task: Task, mine: int, exchange: Exchange, runner: Runner) -> None:
        self._task = task
        self._mine = mine
        self._exchange = exchange
        self._runner = runner
        self._ends = SharedFlowEnds(len(task.plan.flows))
        clocks = {switch.switch_id: SwitchClock(switch.name) for switch in task.plan.topology.switches}
        self._records = RecordWriter(self._take, task.plan.dilation, start_ns=0, switches=clocks)
        self._part = Part(task.plan, task.folder, self._records.write, task.shares[mine], len(task.shares))
        self._round = 0
        self._records_by_round: list[tuple[int, list[Record]]] = []
        self._round_records: list[Record] = []
        self._is_end_requested = False

    def run(self) -> None:
        """Run the whole run, like `testbed.virtual.simulation`."""
        try:
            final_report = self._measure()
        finally:
            self._part.close()
        self._report(final_report)  # after the captures are complete: the runner then kills this process

    def _measure(self) -> WorkerReport:
        was_interrupted = self._run_until(self._task.plan.duration_wall_ns)
        self._part.quiesce()
        next_ns = self._exchange_round().next_ns
        while (until_ns := round_end_ns(next_ns, self._task.round_ns, NEVER - 1)) != NEVER:
            self._part.run(until_ns)
            next_ns = self._exchange_round().next_ns
        self._part.write_rest(self._records)
        self._end_round()
        samples = list(self._part.queue_samples())
        return WorkerReport(self._round, self._records_by_round, samples, self._part.counts(), was_interrupted)

    def _run_until(self, limit_ns: int) -> bool:
        """Run rounds until all flows are done, the limit, or the runner's request; return whether it was requested."""
        end = self._exchange_round()
        turns = 0
        while not self._ends.is_complete and not end.is_end_requested:
            until_ns = round_end_ns(end.next_ns, self._task.round_ns, limit_ns)
            if until_ns == NEVER:
                break
            end = self._exchange_round(self._part.run(until_ns))
            turns += end.turns
            if turns >= TELL_TURNS:
                turns = 0
                samples = list(self._part.ready_queue_samples())
                self._report(WorkerReport(self._round, self._records_by_round, samples))
        return end.is_end_requested

    def _exchange_round(self, turns: int = 0) -> _RoundEnd:
        """End a round in which `turns` of this worker's hosts had an event."""
        if self._round % ASK_ROUNDS == 0 and not self._is_end_requested and self._runner.poll():
            self._runner.recv()
            self._is_end_requested = True
        seen = self._ends.take()
        out = [self._part.for_worker(other) for other in range(len(self._task.shares))]
        next_ns = min([self._part.next_ns(), *(first_ns for first_ns, _, _ in out)])
        parts = [
            HEAD.pack(next_ns, self._is_end_requested, turns, len(seen), len(entries)) + seen + entries + frames
            for _, entries, frames in out
        ]
        is_end_requested = self._is_end_requested
        for other, part in enumerate(self._exchange.swap(parts)):
            if other != self._mine:
                other_ns, requested, other_turns, n_seen, n_entries = HEAD.unpack_from(part)
                body = part[HEAD.size :]
                next_ns, turns = min(next_ns, other_ns), turns + other_turns
                is_end_requested = is_end_requested or bool(requested)
                self._ends.add(body[:n_seen])
                self._part.put(body[n_seen : n_seen + n_entries], body[n_seen + n_entries :])
        self._end_round()
        return _RoundEnd(next_ns, is_end_requested, turns)

    def _take(self, record: Record) -> None:
        self._round_records.append(record)
        self._ends.see(record)

    def _end_round(self) -> None:
        self._round += 1
        if self._round_records:
            self._records_by_round.append((self._round, self._round_records))
            self._round_records = []

    def _report(self, report: WorkerReport) -> None:
        self._runner.send(report)
        self._records_by_round = []


def main(words: Sequence[str]) -> None:
    """Run the task that the socket with the given descriptor delivers."""
    descriptor, mine, runner_pid = map(int, words)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the runner handles them
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
    die_with_parent(signal.SIGKILL, runner_pid)
    with Connection(descriptor) as runner:
        task: Task = pickle.loads(runner.recv_bytes())
        assert task.descriptors is not None
        try:
            Worker(task, mine, SharedMemory(task.descriptors, mine), runner).run()
        except Exception as error:
            if not print_crash(error):
                raise
            sys.exit(CRASHED)


if __name__ == "__main__":
    main(sys.argv[1:])
