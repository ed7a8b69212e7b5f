# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The NIC of a host that stands still at times known beforehand: it sends nothing and reads nothing, then goes on.

A NIC that never does is a plain `Nic`, at no cost. What stands still is the model: its caller may be as late as ever.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from hosts.transport.algorithms import Algorithms
from hosts.transport.messages import NicAddress
from hosts.transport.nic import Nic


@dataclass(frozen=True, slots=True)
class Standstill:
    """From one wall instant to another. Frames that arrive wait in a ring of so many."""

    begin_ns: int
    end_ns: int
    ring_frames: int


class StallingNic(Nic):
    """Does nothing during its standstills; afterwards overdue timers fire, then it reads what waited, in order.

    The frame that is on the wire as one begins is finished.
    """

    def __init__(self, address: NicAddress, algorithms: Algorithms, *, epoch_ns: int = 0) -> None:
        super().__init__(address, algorithms, epoch_ns=epoch_ns)
        self._standstills: deque[Standstill] = deque()
        self._ring: deque[tuple[int, bytes]] = deque()
        self._is_still = False
        self._resumed_ns = 0

    def stand_still(self, standstills: Iterable[Standstill]) -> None:
        """Replaces what was planned; before the first begins. Those that touch are one."""
        self._standstills = deque(_merged(standstills))

    def receive(self, frame: bytes, now_ns: int) -> None:
        self._catch_up(now_ns)
        if not self._is_still:
            super().receive(frame, max(now_ns, self._resumed_ns))
        elif len(self._ring) < self._standstills[0].ring_frames:
            self._ring.append((now_ns, frame))
        else:
            self._counters.ring_overruns += 1

    def send_program_frame(self, frame: bytes, now_ns: int) -> None:
        self._catch_up(now_ns)
        if self._is_still:
            self.attach_programs().send(frame, self._wire.clock_ns)
        else:
            super().send_program_frame(frame, now_ns)

    def frames_to_send(self, now_ns: int) -> list[tuple[int, bytes]]:
        self._catch_up(now_ns)
        return self._wire.finished(now_ns) if self._is_still else super().frames_to_send(now_ns)

    def next_timer_ns(self) -> int | None:
        if not self._is_still:
            return super().next_timer_ns()
        end_ns = self._standstills[0].end_ns
        leaving_ns = self._wire.next_finish_ns()
        return end_ns if leaving_ns is None else min(end_ns, leaving_ns)

    def quiesce(self) -> None:
        """Reads what waits, so that it is counted."""
        super().quiesce()
        self._standstills.clear()
        self._is_still = False
        self._read_ring(0)

    def _catch_up(self, now_ns: int) -> None:
        """Enters and leaves standstills that begin and end by now, each at its own time."""
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
            arrival_ns, frame = self._ring.popleft()
            super().receive(frame, max(arrival_ns, earliest_ns))


def _merged(standstills: Iterable[Standstill]) -> list[Standstill]:
    merged: list[Standstill] = []
    for each in sorted(standstills, key=lambda one: one.begin_ns):
        if merged and each.begin_ns <= merged[-1].end_ns:
            last = merged.pop()
            each = Standstill(last.begin_ns, max(last.end_ns, each.end_ns), each.ring_frames)
        merged.append(each)
    return merged
