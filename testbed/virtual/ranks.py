# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run in virtual time over the processes of one `mpirun`, its ranks: each has a share, and the first is the runner.

Between rounds the first takes what the others have told. A rank leaves the meeting when its part is over, however that
came, and then says a last word to the first; so none waits for one that failed. Where a process dies, `mpirun` ends
all.
"""

from __future__ import annotations

import platform
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hosts.crash import engine_crash
from testbed.errors import Crashed, RunError, UsageError
from testbed.interrupt import Interrupt
from testbed.plan.plan import RunPlan
from testbed.recording.captures import FOLDER, capture_folder
from testbed.recording.outcome import ClockOutcome, Progress
from testbed.recording.recorder import Recorder
from testbed.system.code import code_digest
from testbed.virtual.gathering import Gathering
from testbed.virtual.mpi import Communicator, Meeting, RanksLeft, Request, world
from testbed.virtual.part import lookahead_ns
from testbed.virtual.shares import shares
from testbed.virtual.tasks import Task, Told
from testbed.virtual.worker import Worker

_ORDERS, _WORDS = range(2)
"""Tags: what the first wants of the others, and what they tell it."""
_POLL_S = 0.02
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class _Rank:
    """What the first knows of each."""

    machine: str
    code: str


@dataclass(frozen=True)
class _Piece:
    """Of a capture, behind those before it."""

    name: str
    content: bytes


@dataclass(frozen=True)
class _Last:
    """The last word of a rank: the traceback of the exception that ended it, if it failed."""

    failure: str | None
    crash: str | None = None
    """A description of the exception, if the host engine raised it."""


class Ranks:
    """The processes of one `mpirun`, once all are there. Without a plan the others can do nothing, and need none."""

    def __init__(self, communicator: Communicator, code: str, end: Callable[[], None]) -> None:
        """Waits for all. `code` must be the same everywhere; `end` is called when this one has no more to say."""
        self.communicator = communicator
        self.mine = communicator.Get_rank()
        self.count = communicator.Get_size()
        self.end = end
        self._is_decided = False
        self._known: list[_Rank] = communicator.gather(_Rank(platform.node(), code)) or []

    @property
    def machines(self) -> int:
        """How many there are. The first one knows."""
        return len({each.machine for each in self._known})

    def machine_of(self, rank: int) -> str:
        """Its name. The first one knows."""
        return self._known[rank].machine

    def check(self) -> None:
        """For the first: UsageError unless it makes no difference who runs what."""
        for rank, each in enumerate(self._known):
            if each.code != self._known[0].code:
                raise UsageError(
                    f"--exchange mpi: the sources, packages or processors of rank {rank} on {each.machine} "
                    f"are not those of rank 0 on {self._known[0].machine}"
                )

    def begin(self, plan: RunPlan) -> None:
        """For the first: all run this."""
        self._decide(is_run=True)
        self.communicator.bcast(plan)

    def dismiss(self) -> None:
        """For the first: lets the others go, unless there was a run."""
        if not self._is_decided:
            self._decide(is_run=False)

    def _decide(self, *, is_run: bool) -> None:
        self._is_decided = True
        for other in range(1, self.count):
            self.communicator.send(is_run, dest=other, tag=_ORDERS)

    def plan(self) -> RunPlan | None:
        """For the others: what is to be run, once the first has decided; None for nothing."""
        while not self.communicator.iprobe(source=0, tag=_ORDERS):
            time.sleep(_POLL_S)  # MPI would keep a core busy with waiting
        is_run = self.communicator.recv(source=0, tag=_ORDERS)
        plan: RunPlan | None = self.communicator.bcast(None) if is_run else None
        return plan

    def task(self, plan: RunPlan, folder: Path) -> Task:
        """That of all, with captures of this one's hosts in that folder."""
        own = shares(plan.topology, plan.columns, self.count)
        return Task(plan, folder, own, lookahead_ns(plan.topology, plan.dilation))


def join(before: Callable[[], None] = lambda: None) -> Ranks:
    """What each process of `mpirun` calls first. UsageError where there is no MPI.

    `before` is called before MPI starts, which a process can do once.
    """
    code = f"{code_digest()} {platform.machine()}"  # a process that fails before MPI starts keeps none waiting
    communicator, end = world(before)
    return Ranks(communicator, code, end)


def simulate_over_ranks(
    plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt, *, ranks: Ranks
) -> ClockOutcome:
    """For the first: as `testbed.virtual.simulation.simulate`, with the same traces. RunError when a rank fails."""
    began_s = time.perf_counter()
    interrupt.stop_if_requested()  # nothing is measured yet
    recorder.begin(0)
    progress.hosts_up(len(plan.topology.hosts), len(plan.topology.hosts))
    gathering = Gathering(plan, recorder, progress, ranks.count)
    _First(ranks, folder.resolve(), gathering, interrupt).run(plan)
    gathering.finish()
    return ClockOutcome(gathering.counters(wall_s=time.perf_counter() - began_s))


def serve(ranks: Ranks) -> None:
    """For the others: their part of a run, if there is one. What goes wrong is the first one's to say."""
    plan = ranks.plan()
    if plan is None:
        return
    meeting, first = Meeting(ranks.communicator), _ToFirst(ranks.communicator)
    last = _Last(None)
    try:
        with _own_folder(plan) as folder:
            Worker(ranks.task(plan, folder), ranks.mine, meeting, first).run()
            meeting.leave()
            first.send_captures(plan, folder)
    except RanksLeft:
        pass
    except BaseException as error:
        last = _Last(traceback.format_exc(), engine_crash(error))
        meeting.leave()
    first.end(last)


@contextmanager
def _own_folder(plan: RunPlan) -> Iterator[Path]:
    """For captures, on their way to the run's folder: machines need not share files."""
    if not plan.captured:
        yield Path()
        return
    with TemporaryDirectory(prefix="sfc-testbed-") as name:
        yield Path(name)


class _ToFirst:
    """The runner, as the other ranks' workers know it. It must not be waited for before the last meeting."""

    def __init__(self, communicator: Communicator) -> None:
        self._communicator = communicator
        self._going: list[Request] = []

    def poll(self) -> bool:
        """The first one's own worker is asked to end, and all end with it."""
        return False

    def recv(self) -> None:
        """Nothing."""

    def send(self, told: Told, /) -> None:
        self._going = [each for each in self._going if not each.test()[0]]
        self._going.append(self._communicator.isend(told, dest=0, tag=_WORDS))

    def send_captures(self, plan: RunPlan, folder: Path) -> None:
        """Those of this rank's nodes, after the last meeting."""
        if not plan.captured:
            return
        for path in sorted(capture_folder(folder, plan.captured).iterdir()):
            with path.open("rb") as file:
                while content := file.read(_PIECE_BYTES):
                    self._communicator.send(_Piece(path.name, content), dest=0, tag=_WORDS)

    def end(self, last: _Last) -> None:
        self._communicator.send(last, dest=0, tag=_WORDS)
        for each in self._going:
            each.wait()


class _First:
    """The runner: its own share, and what the others tell."""

    def __init__(self, ranks: Ranks, folder: Path, gathering: Gathering, interrupt: Interrupt) -> None:
        self._ranks = ranks
        self._communicator = ranks.communicator
        self._folder = folder
        self._gathering = gathering
        self._interrupt = interrupt
        self._last: dict[int, _Last] = {}
        self._has_failed = False

    def run(self, plan: RunPlan) -> None:
        """Run the first rank's share. RunError when another rank fails. However it ends, the others are done then."""
        self._ranks.begin(plan)
        meeting = Meeting(self._communicator, self._between_rounds)
        try:
            Worker(self._ranks.task(plan, self._folder), self._ranks.mine, meeting, self).run()
            meeting.leave()
            self._hear_all()
        except BaseException as error:
            self._has_failed = True
            meeting.leave()
            self._hear_all()
            if not isinstance(error, RanksLeft):
                raise
        finally:
            self._ranks.end()  # else the others would wait for the page to be drawn
        for rank, last in sorted(self._last.items()):
            if last.failure is not None:
                raise self._error(rank, last.failure, last.crash)

    def poll(self) -> bool:
        """Its own worker asks, for all."""
        return self._interrupt.is_requested

    def recv(self) -> None:
        """Nothing."""

    def send(self, told: Told, /) -> None:
        self._gathering.take(0, told)

    def _between_rounds(self) -> None:
        self._interrupt.stop_if_urgent()
        for rank in range(1, self._ranks.count):
            while rank not in self._last and self._communicator.iprobe(source=rank, tag=_WORDS):
                self._hear(rank)

    def _hear_all(self) -> None:
        for rank in range(1, self._ranks.count):
            while rank not in self._last:
                self._hear(rank)

    def _hear(self, rank: int) -> None:
        word = self._communicator.recv(source=rank, tag=_WORDS)
        if isinstance(word, _Last):
            self._last[rank] = word
        elif self._has_failed:
            pass  # heard all the same: a rank cannot end before
        elif isinstance(word, _Piece):
            with (self._folder / FOLDER / word.name).open("ab") as file:
                file.write(word.content)
        else:
            self._gathering.take(rank, word)

    def _error(self, rank: int, failure: str, crash: str | None) -> RunError:
        """Write the traceback of a rank to its log and return the exception that says why the rank failed."""
        log = self._folder / "logs" / f"rank{rank}.log"
        log.write_text(failure, encoding="utf-8")
        if crash is not None:
            return Crashed(f"{crash}; see logs/{log.name}")
        said, machine = failure.rstrip().splitlines()[-1], self._ranks.machine_of(rank)
        return RunError(f"rank {rank} of {self._ranks.count} on {machine} failed: {said}; see logs/{log.name}")
