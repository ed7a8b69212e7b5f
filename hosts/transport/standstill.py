# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The NIC of a host that stalls at times known beforehand: during a stall it neither sends nor reads frames.

Hosts without stalls use a plain `Nic` and have no overhead. Stalls happen in model time, so they do not depend on how
late the caller is.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from mypy_extensions import i64

from sfc_testbed.hosts.transport.algorithms import Algorithms
from sfc_testbed.hosts.transport.messages import NicAddress
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.scheduling.wire_schedule import WireSchedule


@dataclass(frozen=True, slots=True)
class Standstill:
    """A stall between two wall instants. Arriving frames wait in a receive ring of `ring_frames` frames."""

    begin_ns: int
    end_ns: int
    ring_frames: int


class StallingNic(Nic):
    """A NIC that does nothing during its stalls.

    After a stall, overdue timers fire first; then the NIC reads the waiting frames in order. A frame that is on the
    wire when a stall begins is sent to its end.
    """

    def __init__(self, address: NicAddress, algorithms: Algorithms, *, epoch_ns: int = 0) -> None:
        super().__init__(address, algorithms, epoch_ns=epoch_ns)
        self._standstills: deque[Standstill] = deque()
        self._ring: deque[tuple[int, bytes, i64]] = deque()
        self._is_still = False
        self._resumed_ns = 0

    def stand_still(self, standstills: Iterable[Standstill]) -> None:
        """Set the stalls, replacing earlier ones. Must be called before the first begins.

        Stalls that overlap or touch are merged.
        """
        self._standstills = deque(_merged(standstills))

    def receive(self, frame: bytes, now_ns: i64, tail: i64 = 0) -> None:
        self._catch_up(now_ns)
        if not self._is_still:
            super().receive(frame, max(int(now_ns), self._resumed_ns), tail)
        elif len(self._ring) < self._standstills[0].ring_frames:
            self._ring.append((now_ns, frame, tail))
        else:
            self._counters.ring_overruns += 1

    def send_program_frame(self, frame: bytes, now_ns: int) -> None:
        self._catch_up(now_ns)
        if self._is_still:
            self.attach_programs().send(frame, self._wire.clock_ns)
        else:
            super().send_program_frame(frame, now_ns)

    def advance(self, now_ns: int) -> WireSchedule:
        self._catch_up(now_ns)
        return self._wire if self._is_still else super().advance(now_ns)

    def next_timer_ns(self) -> int | None:
        if not self._is_still:
            return super().next_timer_ns()
        end_ns = self._standstills[0].end_ns
        leaving_ns = self._wire.next_finish_ns()
        return end_ns if leaving_ns is None else min(end_ns, leaving_ns)

    def quiesce(self) -> None:
        """Stop sending and read the waiting frames, so that they are counted."""
        super().quiesce()
        self._standstills.clear()
        self._is_still = False
        self._read_ring(0)

    def _catch_up(self, now_ns: int) -> None:
        """Begin and end the stalls that are due by `now_ns`, each at its own time."""
        while self._standstills and self._standstills[0].begin_ns <= now_ns:
            current = self._standstills[0]
            if not self._is_still:
                self._wire.advance(current.begin_ns - 1)
                self._is_still = True
            if now_ns < current.end_ns:
                return
            self._standstills.popleft()
            self._is_still = False
            self._resumed_ns = current.end_ns
            self._wire.clock_ns = max(self._wire.clock_ns, current.end_ns)
            self._read_ring(current.end_ns)

    def _read_ring(self, earliest_ns: int) -> None:
        while self._ring:
            arrival_ns, frame, tail = self._ring.popleft()
            super().receive(frame, max(arrival_ns, earliest_ns), tail)


def _merged(standstills: Iterable[Standstill]) -> list[Standstill]:
    merged: list[Standstill] = []
    for standstill in sorted(standstills, key=lambda item: item.begin_ns):
        if merged and standstill.begin_ns <= merged[-1].end_ns:
            last = merged.pop()
            standstill = Standstill(last.begin_ns, max(last.end_ns, standstill.end_ns), standstill.ring_frames)
        merged.append(standstill)
    return merged
