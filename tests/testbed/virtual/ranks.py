# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ranks for tests: threads of this process in place of `mpirun`'s processes; only one of them runs at a time."""

from __future__ import annotations

import pickle
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Condition, Thread
from types import SimpleNamespace
from typing import Any

from sfc_testbed.testbed.execution.execute import Clock
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.recording.outcome import ClockOutcome, Progress
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.virtual.ranks import Ranks, serve, simulate_over_ranks

_PATIENCE_S = 60


class Hub:
    """The state shared by all ranks. The holder of `turn` runs; a waiting rank passes it on."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.turn = Condition()
        self.meetings: dict[int, dict[int, bytes]] = defaultdict(dict)
        self.mail: dict[tuple[int, int, int], deque[bytes]] = defaultdict(deque)
        """Messages by source, destination and tag."""

    def wait_for(self, is_so: Callable[[], bool]) -> None:
        self.turn.notify_all()
        if not self.turn.wait_for(is_so, _PATIENCE_S):
            raise TimeoutError("a rank waits for another one that does not answer")


class FakeCommunicator:
    """The communicator of one rank; objects are pickled for transport, as by mpi4py."""

    def __init__(self, hub: Hub, rank: int) -> None:
        self._hub = hub
        self._rank = rank
        self._met = 0

    def Get_rank(self) -> int:
        return self._rank

    def Get_size(self) -> int:
        return self._hub.count

    def _meet(self, word: Any) -> list[Any]:
        meeting = self._hub.meetings[self._met]
        self._met += 1
        meeting[self._rank] = pickle.dumps(word)
        self._hub.wait_for(lambda: len(meeting) == self._hub.count)
        return [pickle.loads(meeting[rank]) for rank in range(self._hub.count)]

    def alltoall(self, parts: Sequence[Any], /) -> list[Any]:
        return [row[self._rank] for row in self._meet(list(parts))]

    def gather(self, word: Any, /) -> list[Any] | None:
        words = self._meet(word)
        return words if self._rank == 0 else None

    def bcast(self, word: Any, /) -> Any:
        return self._meet(word)[0]

    def send(self, word: Any, /, dest: int, tag: int) -> None:
        self._hub.mail[self._rank, dest, tag].append(pickle.dumps(word))
        self._hub.turn.notify_all()

    def isend(self, word: Any, /, dest: int, tag: int) -> Any:
        self.send(word, dest=dest, tag=tag)
        return SimpleNamespace(test=lambda: (True, None), wait=lambda: None)  # it has been delivered

    def iprobe(self, *, source: int, tag: int) -> bool:
        box = self._hub.mail[source, self._rank, tag]
        if self._rank > 0:  # other ranks only probe when they have nothing else to do
            self._hub.wait_for(lambda: bool(box))
        return bool(box)

    def recv(self, *, source: int, tag: int) -> Any:
        box = self._hub.mail[source, self._rank, tag]
        self._hub.wait_for(lambda: bool(box))
        return pickle.loads(box.popleft())


class RankThreads:
    """Ranks with these source codes; all but rank 0 run in threads."""

    def __init__(self, *codes: str) -> None:
        self._hub = Hub(len(codes))
        self.ended: list[int] = []
        """Ranks that have called their end function."""
        self._threads = [
            Thread(target=self._serve, args=(rank, code), daemon=True) for rank, code in enumerate(codes) if rank > 0
        ]
        self._code = codes[0]

    def _join(self, rank: int, code: str) -> Ranks:
        return Ranks(FakeCommunicator(self._hub, rank), code, lambda: self.ended.append(rank))

    def _serve(self, rank: int, code: str) -> None:
        with self._hub.turn:
            serve(self._join(rank, code))
            self._hub.turn.notify_all()

    def run(self, act: Callable[[Ranks], ClockOutcome | None]) -> ClockOutcome | None:
        """Run `act` on rank 0, and check that all other ranks end, however it ends."""
        for thread in self._threads:
            thread.start()
        try:
            with self._hub.turn:
                return act(self._join(0, self._code))
        finally:
            for thread in self._threads:
                thread.join(_PATIENCE_S)
            assert not any(thread.is_alive() for thread in self._threads)


def over_threads(count: int) -> Clock:
    """Return a clock that runs a plan on `count` ranks."""

    def clock(
        plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt
    ) -> ClockOutcome:
        def act(ranks: Ranks) -> ClockOutcome:
            return simulate_over_ranks(plan, folder, recorder, progress, interrupt, ranks=ranks)

        threads = RankThreads(*["the same"] * count)
        outcome = threads.run(act)
        assert outcome is not None
        assert threads.ended == [0]
        return outcome

    return clock
