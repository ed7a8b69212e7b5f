# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`python -m testbed.virtual.worker DESCRIPTOR NUMBER PID`: one share of a run in virtual time.

The process PID runs `testbed.virtual.workers`. All workers decide alike after each round, since they decide by what all
of them told at its end and by nothing else.
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
from hosts.io.parent import die_with_parent
from hosts.protocol import Record
from hosts.records import RecordWriter, SwitchClock
from hosts.transport.loss_recovery.base import NEVER
from testbed.virtual.exchange import Exchange, SharedMemory
from testbed.virtual.flow_ends import SharedFlowEnds
from testbed.virtual.part import Part, round_end_ns
from testbed.virtual.tasks import CRASHED, Runner, Task, Told

TELL_TURNS = 20_000
"""Of all hosts, between two reports to the runner."""
ASK_ROUNDS = 16
"""Between two looks whether the runner has asked for the end: one takes a tenth of a round."""
HEAD = Struct("=qqqqq")
"""When the sender has something to do next, whether it was asked to end, how many of its hosts had anything to do,
bytes of ends of flows, bytes of entries."""


@dataclass(frozen=True)
class _Met:
    """What all workers know after a round: of any of them, and the hosts of all."""

    next_ns: int
    is_asked: bool
    turns: int


class Worker:
    """The rounds of one share."""

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
        self._told: list[tuple[int, list[Record]]] = []
        self._of_round: list[Record] = []
        self._is_asked = False

    def run(self) -> None:
        """The whole run, like `testbed.virtual.simulation`."""
        try:
            last = self._measured()
        finally:
            self._part.close()
        self._tell(last)  # by now its captures are whole: the runner kills those that have told all

    def _measured(self) -> Told:
        was_asked = self._run_until(self._task.plan.duration_wall_ns)
        self._part.quiesce()
        next_ns = self._meet().next_ns
        while (until_ns := round_end_ns(next_ns, self._task.round_ns, NEVER - 1)) != NEVER:
            self._part.run(until_ns)
            next_ns = self._meet().next_ns
        self._part.write_rest(self._records)
        self._end_round()
        return Told(self._round, self._told, list(self._part.queue_samples()), self._part.counts(), was_asked)

    def _run_until(self, limit_ns: int) -> bool:
        """Whether the runner asked for the end of it."""
        met = self._meet()
        turns = 0
        while not self._ends.is_complete and not met.is_asked:
            until_ns = round_end_ns(met.next_ns, self._task.round_ns, limit_ns)
            if until_ns == NEVER:
                break
            met = self._meet(self._part.run(until_ns))
            turns += met.turns
            if turns >= TELL_TURNS:
                turns = 0
                self._tell(Told(self._round, self._told, list(self._part.ready_queue_samples())))
        return met.is_asked

    def _meet(self, turns: int = 0) -> _Met:
        """Ends a round, in which so many hosts of this worker had anything to do."""
        if self._round % ASK_ROUNDS == 0 and not self._is_asked and self._runner.poll():
            self._runner.recv()
            self._is_asked = True
        seen = self._ends.take()
        out = [self._part.for_worker(other) for other in range(len(self._task.shares))]
        next_ns = min([self._part.next_ns(), *(first_ns for first_ns, _, _ in out)])
        parts = [
            HEAD.pack(next_ns, self._is_asked, turns, len(seen), len(entries)) + seen + entries + frames
            for _, entries, frames in out
        ]
        is_asked = self._is_asked
        for other, part in enumerate(self._exchange.swap(parts)):
            if other != self._mine:
                other_ns, asked, other_turns, n_seen, n_entries = HEAD.unpack_from(part)
                body = part[HEAD.size :]
                next_ns, is_asked, turns = min(next_ns, other_ns), is_asked or bool(asked), turns + other_turns
                self._ends.add(body[:n_seen])
                self._part.put(body[n_seen : n_seen + n_entries], body[n_seen + n_entries :])
        self._end_round()
        return _Met(next_ns, is_asked, turns)

    def _take(self, record: Record) -> None:
        self._of_round.append(record)
        self._ends.see(record)

    def _end_round(self) -> None:
        self._round += 1
        if self._of_round:
            self._told.append((self._round, self._of_round))
            self._of_round = []

    def _tell(self, told: Told) -> None:
        self._runner.send(told)
        self._told = []


def main(words: Sequence[str]) -> None:
    """Serve the task that comes over the socket with the given descriptor."""
    descriptor, mine, runner_pid = map(int, words)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the runner decides
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
