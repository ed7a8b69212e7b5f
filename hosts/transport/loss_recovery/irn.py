# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""IRN: selective retransmission with a cap on packets in flight (Mittal et al., SIGCOMM'18 §3; docs/sources.md#irn).

The receiver keeps packets that come early and answers each with a NAK that carries the first packet it misses and the
one that came. The sender holds a packet for lost only if a later one has arrived; what is lost is sent before anything
new. Two timeouts, a short one for when hardly anything is in flight, cover lost tails and lost retransmissions.
"""

from dataclasses import dataclass, replace
from typing import Annotated

from mypy_extensions import mypyc_attr
from pydantic import Field

from hosts.transport.congestion.base import PathContext
from hosts.transport.loss_recovery.base import NEVER, Arrival, KeepingOrder, LossRecovery, queue_timeout_ns
from wire.input.validation import MAX_COUNT, Count, Nanoseconds, PositiveCount

_RTO_LOW_RTTS = 10


@dataclass(frozen=True, slots=True)
class IrnParameters:
    """Knobs of IRN (docs/sources.md#irn)."""

    rto_low_ns: Nanoseconds = 0
    """RTO_low: while fewer than `rto_low_packets` are in flight; 0: ten base RTTs, its paper's 100 us for 10 us."""

    rto_high_ns: Nanoseconds = 0
    """RTO_high: otherwise; 0: by its paper's rule, the longest path and one full queue."""

    rto_low_packets: Count = 3
    """N of the paper."""

    cap_packets: Annotated[int, Field(ge=-1, le=MAX_COUNT)] = -1
    """BDP-FC: most packets from the first unacknowledged to the newest; -1: one BDP; 0: no cap (HPCC+IRN in TLT)."""

    held_packets: PositiveCount = 1 << 16
    """How far ahead of a gap the receiver keeps packets; beyond, they are dropped."""


@mypyc_attr(allow_interpreted_subclasses=True)
class SelectiveOrder(KeepingOrder):
    """Answers each early packet with a NAK."""

    __slots__ = ()

    selective = True
    early = Arrival.NEGATIVE


@mypyc_attr(allow_interpreted_subclasses=True)
class Irn(LossRecovery):
    """State: which later packets have arrived, and which gaps wait to be resent.

    One addition to the paper: when what a timeout resent is acknowledged, the next unacknowledged packet is resent at
    once rather than after another timeout, so a lost tail of k packets costs one timeout and k round trips. (Twice as
    many in every turn would take fewer, but where many tails were lost together these are then lost again.) If an
    acknowledgement comes sooner after the resend than any can in this network, it is for the first sending: the timeout
    was spurious and nothing more is resent. It is the network's shortest round trip that counts and not its longest:
    near hosts answer sooner. Time in which flow control holds the flow counts too: acknowledgements come then as well.

    After a timeout nobody knows what is still in flight. What was sent before it keeps new packets out of the window,
    but not resent ones: a window that has shrunk below a lost tail (HPCC's does) would never let the tail be resent.

    A receiver never misses first what it has told to have: it goes on past what it holds before it answers. Where an
    acknowledgement says so, an earlier one was not the receiver's: none of the selective ones is believed any more.
    """

    __slots__ = (
        "_after_timeout", "_cap_packets", "_highest", "_is_low", "_lost", "_resent", "_rto_high_ns", "_rto_low_ns",
        "_rto_low_packets", "_sacked", "_shortest_rtt_ns", "_tail_end", "_turn_end", "_turn_ns",
    )  # fmt: skip

    Parameters = IrnParameters
    Order = SelectiveOrder

    @classmethod
    def resolve(cls, parameters: IrnParameters, path: PathContext) -> IrnParameters:
        """Timeouts and cap by the rules of its paper."""
        cap_packets = parameters.cap_packets
        return replace(
            parameters,
            rto_low_ns=parameters.rto_low_ns or _RTO_LOW_RTTS * path.base_rtt_ns,
            rto_high_ns=parameters.rto_high_ns or queue_timeout_ns(path),
            cap_packets=cap_packets if cap_packets >= 0 else max(1, -(-path.bdp_bytes // path.payload_bytes)),
        )

    def __init__(self, parameters: IrnParameters, path: PathContext, rto_ns: int, first_index: int) -> None:
        super().__init__(parameters, path, rto_ns, first_index)
        self._shortest_rtt_ns = path.shortest_rtt_ns
        self._cap_packets: int = parameters.cap_packets or NEVER
        self._rto_low_ns: int = parameters.rto_low_ns
        self._rto_high_ns: int = parameters.rto_high_ns
        self._rto_low_packets: int = parameters.rto_low_packets
        self._is_low = False  # what the deadline is made of
        self._sacked: set[int] = set()
        self._lost: dict[int, None] = {}  # in ascending order
        self._highest = first_index - 1
        self._after_timeout = False
        self._resent: set[int] = set()  # since the latest timeout, and not acknowledged
        self._tail_end = first_index  # where new packets began at the latest timeout
        self._turn_end, self._turn_ns = first_index, NEVER

    def next_packet(self) -> int:
        """The first packet found lost; else a new one, if the cap allows."""
        if self._lost:
            return next(iter(self._lost))
        return self.next_new if self.next_new - self.cumulative < self._cap_packets else -1

    def in_flight(self) -> int:
        """Packets sent, less those that have arrived out of order and those waiting to be resent."""
        return self.next_new - self.cumulative - len(self._sacked) - len(self._lost)

    def in_flight_before(self, index: int) -> int:
        """After a timeout, resent packets share the window among themselves."""
        return len(self._resent) if self._after_timeout and index < self.next_new else self.in_flight()

    def on_sent(self, index: int, now_ns: int) -> None:
        """The first packet in flight starts the timer; RTO_low becomes RTO_high when more follow."""
        if index == self.next_new:
            self.next_new = index + 1
        else:
            self._lost.pop(index, None)
            self._resent.add(index)
            self._turn_ns = min(self._turn_ns, now_ns + self.held_ns)
        if self.deadline_ns == NEVER:
            self._start_timer(now_ns)
        elif self._is_low and self.in_flight() >= self._rto_low_packets:
            self._is_low = False
            self.deadline_ns += max(0, self._rto_high_ns - self._rto_low_ns)

    def on_ack(self, cumulative: int, selective: int, negative: bool, now_ns: int) -> int:
        """Progress restarts the timer; a selective acknowledgement reveals the gaps before it."""
        progressed = cumulative > self.cumulative
        if progressed:
            self._advance(cumulative)
        found = self._forget_arrivals() if self._sacked and self.cumulative in self._sacked else 0
        if selective > self.cumulative:
            found += self._reveal(selective)
        if progressed and self._after_timeout:
            found += self._continue_after_timeout(now_ns)
        if progressed or found or now_ns + self._timeout_ns() < self.deadline_ns:
            self._start_timer(now_ns)
        if self.cumulative == self.next_new:
            self.deadline_ns = NEVER
        return found

    def on_timer(self, now_ns: int) -> int:
        """Resend the first unacknowledged packet and every gap below what has arrived."""
        self._start_timer(now_ns)
        self._after_timeout = True
        self._tail_end = self.next_new
        self._resent.clear()
        before = len(self._lost)
        self._lost = {self.cumulative: None}
        for index in range(self.cumulative + 1, self._highest):
            if index not in self._sacked:
                self._lost[index] = None
        self._begin_turn()
        return max(0, len(self._lost) - before)

    def _advance(self, cumulative: int) -> None:
        if self._sacked or self._lost or self._resent:
            for index in range(self.cumulative, cumulative):
                self._sacked.discard(index)
                self._lost.pop(index, None)
                self._resent.discard(index)
        self.cumulative = cumulative
        if self._highest < cumulative - 1:
            self._highest = cumulative - 1

    def _forget_arrivals(self) -> int:
        """All that is known to have arrived counts as lost instead. Returns how many."""
        forgotten = len(self._sacked)
        self._sacked.clear()
        self._lost = dict.fromkeys(range(self.cumulative, self._highest + 1))
        return forgotten

    def _reveal(self, selective: int) -> int:
        """`selective` has arrived: what lies between it and the highest arrival before is lost. Returns how many."""
        if selective in self._sacked:
            return 0
        self._sacked.add(selective)
        self._lost.pop(selective, None)
        self._resent.discard(selective)
        gaps = range(max(self._highest + 1, self.cumulative), selective)
        for index in gaps:
            self._lost[index] = None
        self._highest = max(self._highest, selective)
        return len(gaps)

    def _continue_after_timeout(self, now_ns: int) -> int:
        is_for_first_sending = now_ns + self.held_ns < self._turn_ns + self._shortest_rtt_ns
        if self.cumulative >= self._tail_end or is_for_first_sending:
            self._after_timeout = False
            return 0
        if self._lost or self.cumulative < max(self._turn_end, self._highest + 1):
            return 0
        self._lost[self.cumulative] = None
        self._begin_turn()
        return 1

    def _begin_turn(self) -> None:
        """What waits to be resent is a turn: it ends when all of it is acknowledged."""
        self._turn_ns = NEVER
        self._turn_end = max(self._lost) + 1

    def _start_timer(self, now_ns: int) -> None:
        self._is_low = self.in_flight() < self._rto_low_packets
        self.deadline_ns = now_ns + (self._rto_low_ns if self._is_low else self._rto_high_ns)

    def _timeout_ns(self) -> int:
        return self._rto_low_ns if self.in_flight() < self._rto_low_packets else self._rto_high_ns
