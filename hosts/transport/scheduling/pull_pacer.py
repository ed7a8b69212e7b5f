# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Pulls of a receiver-driven transport (NDP, SIGCOMM 2017, section 3.2; docs/sources.md#ndp): one queue for a NIC.

Whatever senders there are, pulls leave one full packet's time on this wire apart, so what they bring fills the wire and
no queue before it. Connections take turns. The pacer knows neither packets nor losses: it is told how many pulls a
connection has coming.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from hosts.transport.loss_recovery.base import NEVER
from hosts.transport.scheduling.timers import Wakeable
from hosts.transport.scheduling.wire_schedule import WireSchedule
from wire.units import NS_PER_S

_BIT_NS: Final = 8 * NS_PER_S


class PullQueue:
    """The pulls that one connection has coming, and how many it was sent: a pull bears its number, so that a later one
    makes up for a lost one."""

    __slots__ = ("frame_of", "number", "waiting")

    def __init__(self, frame_of: Callable[[int], bytes]) -> None:
        """`frame_of`: the frame that carries a number."""
        self.frame_of = frame_of
        self.number = 0
        self.waiting = 0


class PullPacer(Wakeable):
    """Sends the pulls of one NIC."""

    __slots__ = ("_frame_bytes", "_next_ns", "_rate_bps", "_remainder", "_turns", "_wire")

    def __init__(self, wire: WireSchedule, frame_bytes: int, rate_bps: int) -> None:
        """`frame_bytes`: of a full data packet; `rate_bps`: of the wire that it comes in on (wall)."""
        super().__init__()
        self._wire = wire
        self._frame_bytes = frame_bytes
        self._rate_bps = rate_bps
        self._turns: deque[PullQueue] = deque()
        self._next_ns = self._remainder = 0

    def request(self, queue: PullQueue, most: int) -> None:
        """One more pull for a connection, which has no use for more than `most`."""
        if queue.waiting > most:
            queue.waiting = most
            if most == 0:
                self._turns.remove(queue)
        elif queue.waiting < most:
            queue.waiting += 1
            if queue.waiting == 1:
                self._turns.append(queue)
                self._arm()

    def on_wake(self, now_ns: int) -> None:
        """The next pull is due."""
        if not self._turns:
            return
        queue = self._turns.popleft()
        queue.waiting -= 1
        queue.number += 1
        self._wire.send_control(queue.frame_of(queue.number))
        if queue.waiting:
            self._turns.append(queue)
        if now_ns > self._next_ns:
            self._next_ns, self._remainder = now_ns, 0
        bits_ns: i64 = self._frame_bytes * _BIT_NS + self._remainder
        rate_bps: i64 = self._rate_bps
        gap_ns = bits_ns // rate_bps
        self._remainder = bits_ns - gap_ns * rate_bps
        self._next_ns += gap_ns
        self._arm()

    def _arm(self) -> None:
        if self._turns and self.wake_ns == NEVER:
            clock_ns = self._wire.clock_ns
            self.wake_ns = self._next_ns if self._next_ns > clock_ns else clock_ns
            self._wire.wake_at(self.wake_ns, self)
