# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The pull queue of a NIC for a receiver-driven transport (NDP, SIGCOMM 2017, section 3.2; docs/sources.md#ndp).

Whatever the number of senders, pulls are sent one full packet's serialization time apart, so that the pulled packets
fill the wire but no queue before it. Connections take turns. The pacer knows neither packets nor losses, only how many
pulls each connection needs.
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
    """The number of pulls that one connection waits for, and the number already sent.

    Every pull carries its number, so that a later pull makes up for a lost one.
    """

    __slots__ = ("frame_of", "number", "waiting")

    def __init__(self, frame_of: Callable[[int], bytes]) -> None:
        """Start without pulls; `frame_of` builds the pull frame with a number."""
        self.frame_of = frame_of
        self.number = 0
        self.waiting = 0


class PullPacer(Wakeable):
    """A pacer that sends the pulls of one NIC."""

    __slots__ = ("_frame_bytes", "_next_ns", "_rate_bps", "_remainder", "_turns", "_wire")

    def __init__(self, wire: WireSchedule, frame_bytes: int, rate_bps: int) -> None:
        """Pace pulls for full data packets of `frame_bytes` that arrive at `rate_bps` (wall)."""
        super().__init__()
        self._wire = wire
        self._frame_bytes = frame_bytes
        self._rate_bps = rate_bps
        self._turns: deque[PullQueue] = deque()
        self._next_ns = self._remainder = 0

    def request(self, queue: PullQueue, max_pulls: int) -> None:
        """Request one more pull for a connection, which needs at most `max_pulls` pulls."""
        if queue.waiting > max_pulls:
            queue.waiting = max_pulls
            if max_pulls == 0:
                self._turns.remove(queue)
        elif queue.waiting < max_pulls:
            queue.waiting += 1
            if queue.waiting == 1:
                self._turns.append(queue)
                self._arm()

    def on_wake(self, now_ns: int) -> None:
        """Send the next pull, which is due."""
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
