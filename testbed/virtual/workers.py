# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run in virtual time shared out over processes: the runner's side, which records and decides nothing of the run."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path

from testbed.errors import Crashed, RunError
from testbed.interrupt import Interrupt
from testbed.plan.plan import RunPlan
from testbed.recording.outcome import ClockOutcome, Progress
from testbed.recording.recorder import Recorder
from testbed.system.child import how_ended, log_words
from testbed.virtual.exchange import Descriptors, shared_memory
from testbed.virtual.gathering import Gathering
from testbed.virtual.part import lookahead_ns
from testbed.virtual.shares import Share, shares
from testbed.virtual.tasks import CRASHED, Task, Told

_ROOT = Path(__file__).resolve().parents[2]
_POLL_S = 0.2
_ROOM_BYTES = 1 << 20
_HEADERS = 4
"""Times the bytes that links carry in a round: small frames have large entries, and links double some."""


def simulate_shared(
    plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt, *, workers: int
) -> ClockOutcome:
    """Run the plan with the same traces as `testbed.virtual.simulation.simulate`.

    RunError when a worker dies, Crashed when an exception in the host engine ended a worker.
    """
    began_s = time.perf_counter()
    own = shares(plan.topology, plan.columns, workers)
    with _Workers(plan, folder, own) as running:
        interrupt.stop_if_requested()
        recorder.begin(0)
        progress.hosts_up(len(plan.topology.hosts), len(plan.topology.hosts))
        gathering = Gathering(plan, recorder, progress, len(own))
        _listen(running, gathering, interrupt)
        counters = gathering.counters(wall_s=time.perf_counter() - began_s)
    return ClockOutcome(counters)


class _Workers:
    """The processes. Leaving ends those that are still there."""

    def __init__(self, plan: RunPlan, folder: Path, own: list[Share]) -> None:
        self.processes: list[subprocess.Popen[bytes]] = []
        self.connections: list[Connection] = []
        self._logs = [folder / "logs" / f"worker{mine + 1}.log" for mine in range(len(own))]
        self._stack = ExitStack()
        descriptors = shared_memory(len(own), _room_bytes(plan))
        self._stack.callback(descriptors.close)
        try:
            for mine in range(len(own)):
                self._start(mine, descriptors)
            round_ns = lookahead_ns(plan.topology, plan.dilation)
            task = pickle.dumps(Task(plan, folder.resolve(), own, round_ns, descriptors))
            for mine in range(len(own)):
                self._hand_over(mine, task)
        except BaseException:
            self.close()
            raise

    def _start(self, mine: int, descriptors: Descriptors) -> None:
        ours, theirs = socket.socketpair()
        numbers = (theirs.fileno(), mine, os.getpid())
        with theirs, self._logs[mine].open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "testbed.virtual.worker", *map(str, numbers)],
                pass_fds=[theirs.fileno(), *descriptors.numbers()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=_ROOT,
                start_new_session=True,  # Ctrl-C is the runner's to handle
            )
        self.processes.append(process)
        self.connections.append(Connection(ours.detach()))

    def _hand_over(self, mine: int, task: bytes) -> None:
        try:
            self.connections[mine].send_bytes(task)
        except OSError:
            raise self.failure(mine) from None

    def ask_to_end(self) -> None:
        """At the end of the round that they are in; one that has ended already does not mind."""
        for connection in self.connections:
            with suppress(OSError):
                connection.send(None)

    def failure(self, number: int) -> RunError:
        """Return why a worker's connection ended, as an exception with one line."""
        status = self.processes[number].wait()
        said = log_words(self._logs[number])
        if status == CRASHED:
            return Crashed(said)
        return RunError(f"worker {number + 1} of {len(self.processes)} {how_ended(status)} ({said})")

    def close(self) -> None:
        for process, connection in zip(self.processes, self.connections, strict=True):
            process.kill()
            process.wait()
            connection.close()
        self._stack.close()

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _listen(workers: _Workers, gathering: Gathering, interrupt: Interrupt) -> None:
    """Until all have ended. KeyboardInterrupt when it is asked for again."""
    asked = False
    open_ones = {connection: number for number, connection in enumerate(workers.connections)}
    while open_ones:
        interrupt.stop_if_urgent()
        if interrupt.is_requested and not asked:
            asked = True
            workers.ask_to_end()
        for ready in wait(list(open_ones), _POLL_S):
            assert isinstance(ready, Connection)
            number = open_ones[ready]
            try:
                told: Told = ready.recv()
            except (EOFError, OSError):  # also in the middle of what it told
                raise workers.failure(number) from None
            gathering.take(number, told)
            if told.counts is not None:
                del open_ones[ready]
    gathering.finish()


def open_files(workers: int) -> int:
    """What the runner has open for so many: a bell from each to each, and a connection to each."""
    return workers * (workers + 1)


def _room_bytes(plan: RunPlan) -> int:
    """What two workers can send each other in a round, at most."""
    hosts = {host.name for host in plan.topology.hosts}
    rate_bps = sum(link.rate_bps for link in plan.topology.links if not {link.a.node, link.b.node} & hosts)
    round_ns = lookahead_ns(plan.topology, plan.dilation) / plan.dilation.factor
    return _ROOM_BYTES + int(_HEADERS * rate_bps * round_ns / 8e9) + 32 * len(plan.flows)
