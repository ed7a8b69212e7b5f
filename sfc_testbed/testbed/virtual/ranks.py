# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run in virtual time over the ranks (processes) of one `mpirun`. Each rank runs a share; rank 0 is the runner too.

Rank 0 reads the other ranks' reports between rounds. A rank leaves the meeting when its share is done or has failed,
and then sends a final message to rank 0. So no rank waits for a failed one. If a process dies, `mpirun` ends all.
"""

from __future__ import annotations

import platform
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from os_helpers.temporary import temporary_folder
from sfc_testbed.hosts.crash import engine_crash
from sfc_testbed.place import TEMPORARY
from sfc_testbed.request.extensions import load
from sfc_testbed.testbed.errors import Crashed, RunError, UsageError
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.recording.captures import FOLDER, capture_folder
from sfc_testbed.testbed.recording.outcome import ClockOutcome, Progress
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.system.code import code_digest
from sfc_testbed.testbed.virtual.gathering import Gathering
from sfc_testbed.testbed.virtual.mpi import Communicator, Meeting, RanksLeft, world
from sfc_testbed.testbed.virtual.part import lookahead_ns
from sfc_testbed.testbed.virtual.shares import shares
from sfc_testbed.testbed.virtual.tasks import Task, WorkerReport
from sfc_testbed.testbed.virtual.worker import Worker

_ORDER_TAG, _REPORT_TAG = range(2)
"""MPI tags: orders of rank 0 to the others, and their reports to rank 0."""
_POLL_S = 0.02
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class _Rank:
    """Properties of a rank that rank 0 knows."""

    machine: str
    code: str


@dataclass(frozen=True)
class _CapturePiece:
    """The next piece of a capture file."""

    name: str
    content: bytes


@dataclass(frozen=True)
class _FinalMessage:
    """The final message of a rank: the traceback of the exception that ended it, if it failed."""

    failure: str | None
    crash: str | None = None
    """A description of the exception, if the host engine raised it."""


class Ranks:
    """All processes of one `mpirun`. Only rank 0 needs a plan; the others receive it."""

    def __init__(self, communicator: Communicator, code: str, end: Callable[[], None]) -> None:
        """Wait for all ranks. `code` must be equal on all ranks; `end` is called when this rank needs MPI no longer."""
        self.communicator = communicator
        self.mine = communicator.Get_rank()
        self.count = communicator.Get_size()
        self.end = end
        self._is_decided = False
        self._ranks: list[_Rank] = communicator.gather(_Rank(platform.node(), code)) or []

    @property
    def machines(self) -> int:
        """The number of machines, known to rank 0 only."""
        return len({rank.machine for rank in self._ranks})

    def machine_of(self, rank: int) -> str:
        """Return the name of a rank's machine; for rank 0 only."""
        return self._ranks[rank].machine

    def check(self) -> None:
        """Raise UsageError unless all ranks have the same sources, packages and processors; for rank 0 only."""
        for rank, other in enumerate(self._ranks):
            if other.code != self._ranks[0].code:
                raise UsageError(
                    f"--exchange mpi: the sources, packages or processors of rank {rank} on {other.machine} "
                    f"differ from those of rank 0 on {self._ranks[0].machine}"
                )

    def begin(self, plan: RunPlan) -> None:
        """Start a run on all ranks; for rank 0 only."""
        self._decide(is_run=True)
        self.communicator.bcast(plan)

    def dismiss(self) -> None:
        """Let the other ranks end, unless there was a run; for rank 0 only."""
        if not self._is_decided:
            self._decide(is_run=False)

    def _decide(self, *, is_run: bool) -> None:
        self._is_decided = True
        for other in range(1, self.count):
            self.communicator.send(is_run, dest=other, tag=_ORDER_TAG)

    def plan(self) -> RunPlan | None:
        """Wait for rank 0's decision and return the plan to run, or None; for the other ranks only."""
        while not self.communicator.iprobe(source=0, tag=_ORDER_TAG):
            time.sleep(_POLL_S)  # a blocking receive of MPI would keep a core busy
        is_run = self.communicator.recv(source=0, tag=_ORDER_TAG)
        plan: RunPlan | None = self.communicator.bcast(None) if is_run else None
        return plan

    def task(self, plan: RunPlan, folder: Path) -> Task:
        """Return the task of all ranks; this rank's captures go to `folder`."""
        rank_shares = shares(plan.topology, plan.columns, self.count)
        return Task(plan, folder, rank_shares, lookahead_ns(plan.topology, plan.dilation))


def join(before: Callable[[], None] = lambda: None) -> Ranks:
    """Join the ranks of `mpirun`, before anything else in the process. Raises UsageError if there is no MPI.

    `before` is called before MPI starts, which is possible only once per process.
    """
    code = f"{code_digest()} {platform.machine()}"  # before MPI starts, so that a failure here blocks no other rank
    communicator, end = world(before)
    return Ranks(communicator, code, end)


def simulate_over_ranks(
    plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt, *, ranks: Ranks
) -> ClockOutcome:
    """Run a plan like `testbed.virtual.simulation.simulate`, with the same traces. Raises RunError if a rank fails."""
    began_s = time.perf_counter()
    interrupt.stop_if_requested()  # nothing has been measured yet
    recorder.begin(0)
    gathering = Gathering(plan, recorder, progress, ranks.count)
    _FirstRank(ranks, folder.resolve(), gathering, interrupt).run(plan)
    gathering.finish()
    return ClockOutcome(gathering.counters(wall_s=time.perf_counter() - began_s))


def serve(ranks: Ranks) -> None:
    """Run this rank's share, if there is a run; for all ranks but rank 0, which reports all errors."""
    plan = ranks.plan()
    if plan is None:
        return
    meeting, first = Meeting(ranks.communicator), _FirstRankConnection(ranks.communicator)
    final = _FinalMessage(None)
    try:
        load(plan.spec.uses)
        with _capture_folder(plan) as folder:
            Worker(ranks.task(plan, folder), ranks.mine, meeting, first).run()
            meeting.leave()
            first.send_captures(plan, folder)
    except RanksLeft:
        pass
    except BaseException as error:
        final = _FinalMessage(traceback.format_exc(), engine_crash(error))
        meeting.leave()
    first.end(final)


@contextmanager
def _capture_folder(plan: RunPlan) -> Iterator[Path]:
    """Provide a temporary folder for captures: machines may not share files, so rank 0 collects them."""
    if not plan.captured:
        yield Path()
        return
    with temporary_folder(TEMPORARY) as folder:
        yield folder


class _FirstRankConnection:
    """The connection of another rank's worker to the runner. It never blocks before the last meeting."""

    def __init__(self, communicator: Communicator) -> None:
        self._communicator = communicator
        self._pending: list[Any] = []

    def poll(self) -> bool:
        """Return False: only rank 0's worker is asked to end, and all ranks end with it."""
        return False

    def recv(self) -> None:
        """Do nothing."""

    def send(self, report: WorkerReport, /) -> None:
        """Send a report without blocking."""
        self._pending = [request for request in self._pending if not request.test()[0]]
        self._pending.append(self._communicator.isend(report, dest=0, tag=_REPORT_TAG))

    def send_captures(self, plan: RunPlan, folder: Path) -> None:
        """Send the captures of this rank's nodes, after the last meeting."""
        if not plan.captured:
            return
        for path in sorted(capture_folder(folder, plan.captured).iterdir()):
            with path.open("rb") as file:
                while content := file.read(_PIECE_BYTES):
                    self._communicator.send(_CapturePiece(path.name, content), dest=0, tag=_REPORT_TAG)

    def end(self, final: _FinalMessage) -> None:
        """Send the final message and wait until all messages are sent."""
        self._communicator.send(final, dest=0, tag=_REPORT_TAG)
        for request in self._pending:
            request.wait()


class _FirstRank:
    """The runner on rank 0: runs its own share and collects the reports of the others."""

    def __init__(self, ranks: Ranks, folder: Path, gathering: Gathering, interrupt: Interrupt) -> None:
        self._ranks = ranks
        self._communicator = ranks.communicator
        self._folder = folder
        self._gathering = gathering
        self._interrupt = interrupt
        self._final: dict[int, _FinalMessage] = {}
        self._has_failed = False

    def run(self, plan: RunPlan) -> None:
        """Run rank 0's share and end all other ranks, whatever happens. Raises RunError if another rank fails."""
        self._ranks.begin(plan)
        meeting = Meeting(self._communicator, self._between_rounds)
        try:
            Worker(self._ranks.task(plan, self._folder), self._ranks.mine, meeting, self).run()
            meeting.leave()
            self._receive_all()
        except BaseException as error:
            self._has_failed = True
            meeting.leave()
            self._receive_all()
            if not isinstance(error, RanksLeft):
                raise
        finally:
            self._ranks.end()  # otherwise the other ranks would wait until the page is drawn
        for rank, final in sorted(self._final.items()):
            if final.failure is not None:
                raise self._error(rank, final.failure, final.crash)

    def poll(self) -> bool:
        """Return whether rank 0's worker should end the run for all ranks."""
        return self._interrupt.is_requested

    def recv(self) -> None:
        """Do nothing."""

    def send(self, report: WorkerReport, /) -> None:
        """Take the report of rank 0's own worker."""
        self._gathering.take(0, report)

    def _between_rounds(self) -> None:
        self._interrupt.stop_if_urgent()
        for rank in range(1, self._ranks.count):
            while rank not in self._final and self._communicator.iprobe(source=rank, tag=_REPORT_TAG):
                self._receive(rank)

    def _receive_all(self) -> None:
        for rank in range(1, self._ranks.count):
            while rank not in self._final:
                self._receive(rank)

    def _receive(self, rank: int) -> None:
        message = self._communicator.recv(source=rank, tag=_REPORT_TAG)
        if isinstance(message, _FinalMessage):
            self._final[rank] = message
        elif self._has_failed:
            pass  # received nevertheless, because the rank cannot end before
        elif isinstance(message, _CapturePiece):
            with (self._folder / FOLDER / message.name).open("ab") as file:
                file.write(message.content)
        else:
            self._gathering.take(rank, message)

    def _error(self, rank: int, failure: str, crash: str | None) -> RunError:
        """Write a rank's traceback to its log, and return the exception that describes the failure."""
        log = self._folder / "logs" / f"rank{rank}.log"
        log.write_text(failure, encoding="utf-8")
        if crash is not None:
            return Crashed(f"{crash}; see logs/{log.name}")
        reason, machine = failure.rstrip().splitlines()[-1], self._ranks.machine_of(rank)
        return RunError(f"rank {rank} of {self._ranks.count} on {machine} failed: {reason}; see logs/{log.name}")
