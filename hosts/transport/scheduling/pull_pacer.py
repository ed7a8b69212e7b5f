# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The pull queue of a NIC for a receiver-driven transport (NDP, SIGCOMM 2017, section 3.2; docs/sources.md#ndp).

Whatever the number of senders, a pull is followed by a gap as long as the pulled packet's serialization time, so that
the pulled packets fill the wire but no queue before it. Packets shorter than the MTU have shorter gaps, which are the
byte credits of the SFC paper (appendix B.4). Connections take turns. The pacer knows neither packets nor losses, only
how many pulls each connection needs, and for packets of which size.
"""

from collections import deque
from typing import Final

from mypy_extensions import i64, mypyc_attr

from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.hosts.transport.scheduling.timers import Wakeable
from sfc_testbed.hosts.transport.scheduling.wire_schedule import WireSchedule
from sfc_testbed.wire.units import NS_PER_S

_BIT_NS: Final = 8 * NS_PER_S


@mypyc_attr(allow_interpreted_subclasses=True)
class PullQueue:
    """A connection with the number of pulls that it waits for, the number already sent, and the size of its packets.

    Every pull carries its number, so that a later pull makes up for a lost one.
    """

    __slots__ = ("frame_bytes", "pulls_sent", "waiting_pulls")

    def __init__(self) -> None:
        self.frame_bytes = 0
        self.pulls_sent = 0
        self.waiting_pulls = 0

    def pull_frame(self, number: int) -> bytes:
        """Return the frame of a pull with this number."""
        raise NotImplementedError


class PullPacer(Wakeable):
    """A pacer that sends the pulls of one NIC."""

    __slots__ = ("_next_ns", "_remainder", "_turns", "_wire")

    def __init__(self, wire: WireSchedule) -> None:
        """Pace pulls for data packets that arrive at the rate of the wire."""
        super().__init__()
        self._wire = wire
        self._turns: deque[PullQueue] = deque()
        self._next_ns = self._remainder = 0

    def request(self, queue: PullQueue, max_pulls: int, frame_bytes: int) -> None:
        """Request one more pull for a connection, which needs at most `max_pulls` pulls for frames of `frame_bytes`."""
        queue.frame_bytes = frame_bytes
        if queue.waiting_pulls > max_pulls:
            queue.waiting_pulls = max_pulls
            if max_pulls == 0:
                self._turns.remove(queue)
        elif queue.waiting_pulls < max_pulls:
            queue.waiting_pulls += 1
            if queue.waiting_pulls == 1:
                self._turns.append(queue)
                self._arm()

    def on_wake(self, now_ns: int) -> None:
        """Send the next pull, which is due."""
        if not self._turns:
            return
        queue = self._turns.popleft()
        queue.waiting_pulls -= 1
        queue.pulls_sent += 1
        self._wire.send_control(queue.pull_frame(queue.pulls_sent))
        if queue.waiting_pulls:
            self._turns.append(queue)
        if now_ns > self._next_ns:
            self._next_ns, self._remainder = now_ns, 0
        bits_ns: i64 = queue.frame_bytes * _BIT_NS + self._remainder
        rate_bps = self._wire.rate_bps
        gap_ns = bits_ns // rate_bps
        self._remainder = bits_ns - gap_ns * rate_bps
        self._next_ns += gap_ns
        self._arm()

    def _arm(self) -> None:
        if self._turns and self.wake_ns == NEVER:
            clock_ns = self._wire.clock_ns
            self.wake_ns = self._next_ns if self._next_ns > clock_ns else clock_ns
            self._wire.wake_at(self.wake_ns, self)
