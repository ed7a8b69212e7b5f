# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run in virtual time divided among processes: the runner's side, which records but decides nothing about the run."""

from __future__ import annotations

import os
import time
from contextlib import closing, suppress
from importlib import import_module
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from threading import Thread

from os_helpers.child import how_ended, log_words
from sfc_testbed.testbed.errors import Crashed, RunError
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.recording.outcome import ClockOutcome, Progress
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.targets.common.commands import build_engine
from sfc_testbed.testbed.virtual.gathering import Gathering
from sfc_testbed.testbed.virtual.part import lookahead_ns
from sfc_testbed.testbed.virtual.shares import Share, shares
from sfc_testbed.testbed.virtual.tasks import CRASHED, Task, WorkerReport
from sfc_testbed.testbed.virtual.worker import run_worker
from softswitch.meeting import Meeting

_FORK = get_context("fork")
_POLL_S = 0.2
_ROOM_BYTES = 1 << 20
_MODULES_FOR_THE_END = (
    "sfc_testbed.analysis.results.build",
    "sfc_testbed.testbed.recording.counters",
    "sfc_testbed.analysis.report.html_pages",
    "sfc_testbed.analysis.report.terminal_tables",
    "sfc_testbed.testbed.execution.watch_page",
)
_HEADERS = 4
"""A factor on the bytes that links carry in a round, since small frames have large entries and links may duplicate."""


def simulate_shared(
    plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt, *, workers: int
) -> ClockOutcome:
    """Run the plan with the same traces as `testbed.virtual.simulation.simulate`.

    Raises RunError if a worker dies, and Crashed if an exception in the host engine ended a worker.
    """
    began_s = time.perf_counter()
    worker_shares = shares(plan.topology, plan.columns, workers)
    with closing(_Workers(plan, folder, worker_shares)) as workers_running:
        interrupt.stop_if_requested()
        loading = Thread(target=_load_modules_for_the_end)  # not earlier: a fork has none of the other threads
        loading.start()
        try:
            recorder.begin(0)
            gathering = Gathering(plan, recorder, progress, len(worker_shares))
            _listen(workers_running, gathering, interrupt)
        finally:
            loading.join()
        counters = gathering.counters(wall_s=time.perf_counter() - began_s)
    return ClockOutcome(counters)


def _load_modules_for_the_end() -> None:
    """Load what the runner needs after the run, while it has little to do."""
    for name in _MODULES_FOR_THE_END:
        import_module(name)


class _Workers:
    """The worker processes, forked from this one, so that they have its plan. `close` kills the rest."""

    def __init__(self, plan: RunPlan, folder: Path, worker_shares: list[Share]) -> None:
        self.processes: list[ForkProcess] = []
        self.connections: list[Connection] = []
        self._logs = [folder / "logs" / f"worker{mine + 1}.log" for mine in range(len(worker_shares))]
        self._meeting = Meeting(build_engine(plan.spec.program), len(worker_shares), _room_bytes(plan))
        task = Task(plan, folder.resolve(), worker_shares, lookahead_ns(plan.topology, plan.dilation))
        try:
            for mine in range(len(worker_shares)):
                self._start(task, mine)
        except BaseException:
            self.close()
            raise

    def _start(self, task: Task, mine: int) -> None:
        self._logs[mine].touch()  # a worker may die before it opens its log
        runner_end, worker_end = Pipe()
        process = _FORK.Process(
            target=run_worker, args=(task, mine, self._meeting, worker_end, self._logs[mine], os.getpid())
        )
        with worker_end:
            process.start()
        self.processes.append(process)
        self.connections.append(runner_end)

    def ask_to_end(self) -> None:
        """Ask the workers to end with the current round; workers that have ended are ignored."""
        for connection in self.connections:
            with suppress(OSError):
                connection.send(None)

    def failure(self, number: int) -> RunError:
        """Return an exception that says in one line why a worker's connection ended."""
        self.processes[number].join()
        status = self.processes[number].exitcode or 0
        output = log_words(self._logs[number])
        if status == CRASHED:
            return Crashed(output)
        return RunError(f"worker {number + 1} of {len(self.processes)} {how_ended(status)} ({output})")

    def close(self) -> None:
        for process, connection in zip(self.processes, self.connections, strict=True):
            process.kill()
            process.join()
            connection.close()


def _listen(workers: _Workers, gathering: Gathering, interrupt: Interrupt) -> None:
    """Take the workers' reports until all have ended. Raises KeyboardInterrupt at a second interruption."""
    is_end_requested = False
    numbers = {connection: number for number, connection in enumerate(workers.connections)}
    while numbers:
        interrupt.stop_if_urgent()
        if gathering.is_starting:
            interrupt.stop_if_requested()  # nothing has been measured yet
        if interrupt.is_requested and not is_end_requested:
            is_end_requested = True
            workers.ask_to_end()
            gathering.progress.draining(is_interrupted=True)
        for ready in wait(list(numbers), _POLL_S):
            assert isinstance(ready, Connection)
            number = numbers[ready]
            try:
                report: WorkerReport = ready.recv()
            except (EOFError, OSError):  # possibly in the middle of a report
                raise workers.failure(number) from None
            gathering.take(number, report)
            if report.counts is not None:
                del numbers[ready]
    gathering.finish()


def open_files(workers: int) -> int:
    """Return the number of the runner's open files for this many workers: connections and processes."""
    return 2 * workers + 1


def _room_bytes(plan: RunPlan) -> int:
    """Return an upper bound of the bytes that two workers exchange in a round."""
    hosts = {host.name for host in plan.topology.hosts}
    rate_bps = sum(link.rate_bps for link in plan.topology.links if not {link.a.node, link.b.node} & hosts)
    round_ns = lookahead_ns(plan.topology, plan.dilation) / plan.dilation.factor
    return _ROOM_BYTES + int(_HEADERS * rate_bps * round_ns / 8e9) + 32 * len(plan.flows)
