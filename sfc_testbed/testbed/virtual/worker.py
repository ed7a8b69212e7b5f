# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A worker: runs one share of a run in virtual time.

All workers make the same decisions after each round, because the decisions depend only on what all of them exchanged at
its end.
"""

from __future__ import annotations

import os
import signal
import sys
from array import array
from multiprocessing.connection import Connection
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from os_helpers.parent import die_with_parent
from sfc_testbed.hosts.crash import print_crash
from sfc_testbed.hosts.protocol import FlowReceived, FlowSent, Record
from sfc_testbed.hosts.records import RecordWriter, SwitchClock
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.telemetry.writer import row_values
from sfc_testbed.testbed.recording.flow_ends import FlowEnds
from sfc_testbed.testbed.recording.recorder import SCHEMAS
from sfc_testbed.testbed.virtual.part import Part, round_end_ns
from sfc_testbed.testbed.virtual.tasks import CRASHED, Exchange, RecordValues, Runner, Task, WorkerReport
from softswitch.meeting import Meeting

TELL_TURNS = 20_000
"""Hosts with an event, summed over all shares and rounds, between two reports to the runner."""
ASK_ROUNDS = 16
"""Rounds between two checks for the runner's request to end; a check takes a tenth of a round."""
HEAD = Struct("=qqq")
"""The header of a note: the time of the sender's next event, whether it was asked to end, and how many of its hosts had
an event. The ends of flows follow."""

_STDOUT, _STDERR = 1, 2
_RECEIVED, _COMPLETED, _GIVEN_UP = range(3)
_KINDS = 3
_NO_LIMIT = NEVER - 1


class _RoundEnd(NamedTuple):
    """The state that all workers know after a round, summarized over all workers."""

    next_ns: int
    is_end_requested: bool
    turns: int


class _SharedFlowEnds:
    """Ends of flows that one worker has seen since the last round, and the state of all flows."""

    def __init__(self, flows: int) -> None:
        self._all = FlowEnds(flows)
        self._new_ends = array("q")

    @property
    def is_complete(self) -> bool:
        """Whether all flows were done at the end of the last round."""
        return self._all.is_complete

    @property
    def undelivered(self) -> int:
        """`FlowEnds.undelivered` after the last round."""
        return self._all.undelivered

    def see(self, record: Record) -> None:
        """Note a record of one of this worker's hosts."""
        if isinstance(record, FlowReceived):
            self._new_ends.append(_KINDS * record.flow_id + _RECEIVED)
        elif isinstance(record, FlowSent) and record.gave_up:
            self._new_ends.append(_KINDS * record.flow_id + _GIVEN_UP)
        elif isinstance(record, FlowSent) and record.finish_us is not None:
            self._new_ends.append(_KINDS * record.flow_id + _COMPLETED)

    def take(self) -> bytes:
        """Return the ends seen since the last call, as bytes for the other workers, and count them here."""
        if not self._new_ends:
            return b""
        ends, self._new_ends = self._new_ends.tobytes(), array("q")
        self.add(ends)
        return ends

    def add(self, ends: bytes) -> None:
        """Count the ends that another worker saw in this round."""
        if not ends:
            return
        actions = {_RECEIVED: self._all.receive, _COMPLETED: self._all.complete, _GIVEN_UP: self._all.give_up}
        for word in array("q", ends):
            flow_id, kind = divmod(word, _KINDS)
            actions[kind](flow_id)


class Worker:
    """Runs the rounds of one share."""

    def __init__(self, task: Task, mine: int, exchange: Exchange, runner: Runner) -> None:
        self._task = task
        self._exchange = exchange
        self._runner = runner
        self._ends = _SharedFlowEnds(len(task.plan.flows))
        clocks = {switch.switch_id: SwitchClock(switch.name) for switch in task.plan.topology.switches}
        self._records = RecordWriter(self._take, task.plan.dilation, start_ns=0, switches=clocks)
        self._part = Part(task.plan, task.folder, self._records.write, task.shares[mine])
        self._round = 0
        self._values_of = {kind: row_values(schema) for kind, schema in SCHEMAS.items()}
        self._records_by_round: list[tuple[int, list[RecordValues]]] = []
        self._round_records: list[RecordValues] = []
        self._is_end_requested = False

    def run(self) -> None:
        """Run the whole run, like `testbed.virtual.simulation`."""
        try:
            final_report = self._measure()
        finally:
            self._part.close()
        self._report(final_report)  # after the captures are complete: the runner then kills this process

    def _measure(self) -> WorkerReport:
        self._report(WorkerReport(0, []))  # the run begins
        was_interrupted = self._run_until(self._task.plan.duration_wall_ns)
        self._part.quiesce()
        end = self._exchange_frames_and_notes()
        while (until_ns := round_end_ns(end.next_ns, self._task.round_ns, _NO_LIMIT)) != NEVER:
            end = self._run_round(until_ns, _NO_LIMIT)
        self._part.write_rest(self._records)
        self._end_round()
        samples = list(self._part.queue_samples())
        return WorkerReport(
            self._round,
            self._records_by_round,
            samples,
            self._part.counts(),
            was_interrupted,
            undelivered=self._ends.undelivered,
        )

    def _run_until(self, limit_ns: int) -> bool:
        """Run rounds until all flows are done, the limit, or the runner's request; return whether it was requested."""
        end = self._exchange_frames_and_notes()
        turns = 0
        while not self._ends.is_complete and not end.is_end_requested:
            until_ns = round_end_ns(end.next_ns, self._task.round_ns, limit_ns)
            if until_ns == NEVER:
                break
            end = self._run_round(until_ns, limit_ns)
            turns += end.turns
            if turns >= TELL_TURNS:
                turns = 0
                samples = list(self._part.ready_queue_samples())
                report = WorkerReport(self._round, self._records_by_round, samples)
                report.time_ns, report.delivered_packets = until_ns, self._part.delivered_packets()
                self._report(report)
        return end.is_end_requested

    def _exchange_frames_and_notes(self) -> _RoundEnd:
        """Let all workers know the state before a round; no events have been run since the last one."""
        self._exchange.send_frames(self._part.fabric)
        return self._exchange_notes(0, None)

    def _run_round(self, until_ns: int, limit_ns: int) -> _RoundEnd:
        """Run a round. Other workers need the frames first, and run their switches ahead while the hosts run here."""
        self._part.run_switches(until_ns)
        self._exchange.send_frames(self._part.fabric)
        return self._exchange_notes(self._part.run_hosts(until_ns), min(until_ns + self._task.round_ns, limit_ns))

    def _exchange_notes(self, turns: int, ahead_ns: int | None) -> _RoundEnd:
        """End a round in which `turns` of this worker's hosts had an event.

        The next round, if any, ends at `ahead_ns` or later, so switches may run up to then before the notes arrive.
        """
        if self._round % ASK_ROUNDS == 0 and not self._is_end_requested and self._runner.poll():
            self._runner.recv()
            self._is_end_requested = True
        next_ns, is_end_requested = self._part.next_ns(), self._is_end_requested
        self._exchange.send_note(HEAD.pack(next_ns, is_end_requested, turns) + self._ends.take())
        self._exchange.receive_frames(self._part.fabric)
        if ahead_ns is not None and self._task.round_ns > 1:  # a round of 1 ns may be longer than a link's delay
            self._part.run_switches_ahead(ahead_ns)
        for note in self._exchange.receive_notes():
            other_ns, requested, other_turns = HEAD.unpack_from(note)
            next_ns, turns = min(next_ns, other_ns), turns + other_turns
            is_end_requested = is_end_requested or bool(requested)
            self._ends.add(note[HEAD.size :])
        self._end_round()
        return _RoundEnd(next_ns, is_end_requested, turns)

    def _take(self, record: Record) -> None:
        kind = type(record)
        self._round_records.append((kind, self._values_of[kind](record)))
        self._ends.see(record)

    def _end_round(self) -> None:
        self._round += 1
        if self._round_records:
            self._records_by_round.append((self._round, self._round_records))
            self._round_records = []

    def _report(self, report: WorkerReport) -> None:
        self._runner.send(report)
        self._records_by_round = []


def run_worker(task: Task, mine: int, exchange: Meeting, runner: Connection, log: Path, runner_pid: int) -> None:
    """Run a share in a process that was forked from the runner, and write its messages to `log`.

    The process must not use libraries that keep threads, because a fork has none of them.
    """
    die_with_parent(signal.SIGKILL, runner_pid)
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the runner handles them
    messages = log.open("w", encoding="utf-8", buffering=1)
    for descriptor in (_STDOUT, _STDERR):
        os.dup2(messages.fileno(), descriptor)
    sys.stdout = sys.stderr = messages
    exchange.join(mine)
    try:
        Worker(task, mine, exchange, runner).run()
    except Exception as error:
        if not print_crash(error):
            raise
        sys.exit(CRASHED)
