# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""IRN: selective retransmission with a cap on packets in flight (Mittal et al., SIGCOMM'18 §3; docs/sources.md#irn).

The receiver keeps early packets and answers each with a NAK that names the first missing packet and the packet that
arrived. The sender considers a packet lost only if a later one has arrived, and resends lost packets before it sends
new ones. Timeouts recover lost tails and lost retransmissions; the timeout is shorter if few packets are in flight.
"""

from dataclasses import dataclass, replace
from typing import Annotated

from mypy_extensions import mypyc_attr
from pydantic import Field

from sfc_testbed.hosts.transport.congestion.base import PathContext
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER, Arrival, KeepingOrder, LossRecovery
from sfc_testbed.hosts.transport.loss_recovery.holes import Holes
from sfc_testbed.request.checks import MAX_COUNT, Count, Nanoseconds, PositiveCount
from sfc_testbed.wire.units import two_digits_up

_RTO_LOW_RTTS = 10


@dataclass(frozen=True, slots=True)
class IrnParameters:
    """Parameters of IRN (docs/sources.md#irn)."""

    rto_low_ns: Nanoseconds = 0
    """RTO_low: timeout while fewer than `rto_low_packets` are in flight; 0: ten base RTTs, as in the
    IRN paper, but at most RTO_high."""
    rto_high_ns: Nanoseconds = 0
    """RTO_high: timeout otherwise; 0: base RTT plus the time to drain one full queue, as in the IRN paper."""
    rto_low_packets: Count = 3
    """N of the IRN paper: number of packets in flight from which RTO_high applies."""
    cap_packets: Annotated[int, Field(ge=-1, le=MAX_COUNT)] = -1
    """BDP-FC: maximum packets from the first unacknowledged to the newest; -1: one BDP; 0: no cap (HPCC+IRN in TLT)."""
    held_packets: PositiveCount = 1 << 16
    """Maximum distance of an early packet from the gap; the receiver drops packets further ahead."""
    reordering_packets: Count = 0
    """A missing packet counts as lost once a packet sent this many later has arrived; 0: not by a number of packets.
    Without any tolerance of reordering, it counts as lost once any later packet has arrived, as in the IRN paper."""
    reordering_rtts: Annotated[float, Field(ge=0, le=1_000)] = 0.0
    """A missing packet counts as lost this many base RTTs after a later packet has arrived; 0: not by time."""
    reordering_ns: Nanoseconds = 0
    """The same as a time; 0: derived from `reordering_rtts`."""


@mypyc_attr(allow_interpreted_subclasses=True)
class SelectiveOrder(KeepingOrder):
    """A packet order that keeps early packets and answers each with a NAK."""

    __slots__ = ()

    selective = True
    early = Arrival.NEGATIVE


@mypyc_attr(allow_interpreted_subclasses=True)
class Irn(LossRecovery):
    """The IRN sender. Its state is the set of later packets that have arrived and the lost packets to resend.

    It has one addition to the paper. Once the packets resent after a timeout are acknowledged, the next unacknowledged
    packet is resent at once and not after another timeout. A lost tail of k packets therefore costs one timeout and k
    round trips. (Doubling the number of resent packets per round trip would be faster, but if many flows lose their
    tails together, these packets are lost again.) If an acknowledgement arrives after the resend sooner than the
    network's shortest round trip, it is for the first transmission. The timeout was then spurious and nothing more is
    resent. The longest round trip would be the wrong limit, because nearby hosts answer sooner. Time for which flow
    control pauses the flow counts as well, because acknowledgements arrive during a pause too.

    After a timeout it is unknown which packets are still in flight. Packets sent before the timeout keep new packets
    out of the window, but not resent packets. Otherwise a window that has shrunk below a lost tail, as HPCC's does,
    would never let the tail be resent.

    A correct receiver never reports a packet as the first missing one after it has acknowledged that packet
    selectively. If an acknowledgement does so, an earlier one was forged, and all selective acknowledgements are
    discarded.
    """

    __slots__ = (
        "_after_timeout", "_cap_packets", "_highest", "_is_low", "_lost", "_low_end_ns", "_resent", "_rto_high_ns",
        "_rto_low_ns", "_rto_low_packets", "_sacked", "_shortest_rtt_ns", "_tail_end", "_turn_end", "_turn_ns",
    )  # fmt: skip

    Parameters = IrnParameters
    Order = SelectiveOrder

    @classmethod
    def resolve(cls, parameters: IrnParameters, path: PathContext) -> IrnParameters:
        """Return the parameters with timeouts and cap derived by the rules of the IRN paper."""
        cap_packets = parameters.cap_packets
        rto_high_ns = parameters.rto_high_ns or two_digits_up(path.base_rtt_ns + path.full_queue_ns)
        return replace(
            parameters,
            rto_low_ns=parameters.rto_low_ns or min(_RTO_LOW_RTTS * path.base_rtt_ns, rto_high_ns),
            rto_high_ns=rto_high_ns,
            reordering_ns=parameters.reordering_ns or round(parameters.reordering_rtts * path.base_rtt_ns),
            cap_packets=cap_packets if cap_packets >= 0 else max(1, -(-path.bdp_bytes // path.payload_bytes)),
        )

    @classmethod
    def is_tolerant(cls, parameters: IrnParameters) -> bool:
        """Return whether the parameters have a tolerance of reordering; a subclass needs its own implementation."""
        has_limit = parameters.reordering_packets or parameters.reordering_rtts or parameters.reordering_ns
        return cls is Irn and bool(has_limit)

    @classmethod
    def variant(cls, parameters: IrnParameters) -> type[LossRecovery]:
        """Return the subclass with holes if the parameters have a tolerance of reordering."""
        return TolerantIrn if cls.is_tolerant(parameters) else cls

    def __init__(self, parameters: IrnParameters, path: PathContext, rto_ns: int, first_index: int) -> None:
        super().__init__(parameters, path, rto_ns, first_index)
        self._shortest_rtt_ns = path.shortest_rtt_ns
        self._cap_packets: int = parameters.cap_packets or NEVER
        self._rto_low_ns: int = parameters.rto_low_ns
        self._rto_high_ns: int = parameters.rto_high_ns
        self._rto_low_packets: int = parameters.rto_low_packets
        self._is_low = False  # whether the deadline was computed with RTO_low
        self._low_end_ns = NEVER  # the end of RTO_low if it has applied since the timer started
        self._sacked: set[int] = set()
        self._lost: dict[int, None] = {}  # in ascending order
        self._highest = first_index - 1
        self._after_timeout = False
        self._resent: set[int] = set()  # resent since the latest timeout and not acknowledged
        self._tail_end = first_index  # value of next_new at the latest timeout
        self._turn_end, self._turn_ns = first_index, NEVER

    def next_packet(self) -> int:
        """Return the first lost packet, or else a new one if the cap allows it."""
        if len(self._lost):
            return next(iter(self._lost))
        return self.next_new if self.next_new - self.cumulative < self._cap_packets else -1

    def in_flight(self) -> int:
        """Return the unacknowledged packets, except packets that arrived out of order or wait to be resent."""
        return self.next_new - self.cumulative - len(self._sacked) - len(self._lost)

    def in_flight_before(self, index: int) -> int:
        """Return the packets in flight; for a packet resent after a timeout, count only other resent packets."""
        return len(self._resent) if self._after_timeout and index < self.next_new else self.in_flight()

    def on_sent(self, index: int, now_ns: int) -> None:
        """Start the timer for the first packet in flight, and change RTO_low to RTO_high when enough packets follow."""
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
        """Restart the timer on progress, and find the gaps before a selectively acknowledged packet."""
        progressed = cumulative > self.cumulative
        if progressed:
            self._advance(cumulative)
        lost = self._forget_arrivals() if len(self._sacked) and self.cumulative in self._sacked else 0
        if selective > self.cumulative:
            lost += self._find_gaps(selective, now_ns)
        if progressed and self._after_timeout:
            lost += self._continue_after_timeout(now_ns)
        if progressed or lost:
            self._start_timer(now_ns)
        elif now_ns + self._timeout_ns() < self.deadline_ns:
            self._shorten_timer(now_ns)
        if self.cumulative == self.next_new:
            self.deadline_ns = NEVER
        return lost

    def on_timer(self, now_ns: int) -> int:
        """Resend the first unacknowledged packet and every gap before the highest packet that has arrived."""
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
        if len(self._sacked) or len(self._lost) or len(self._resent):
            for index in range(self.cumulative, cumulative):
                self._sacked.discard(index)
                self._lost.pop(index, None)
                self._resent.discard(index)
        self.cumulative = cumulative
        if self._highest < cumulative - 1:
            self._highest = cumulative - 1

    def _forget_arrivals(self) -> int:
        """Consider all selectively acknowledged packets as lost. Returns their number."""
        forgotten = len(self._sacked)
        self._sacked.clear()
        self._lost = dict.fromkeys(range(self.cumulative, self._highest + 1))
        return forgotten

    def _find_gaps(self, selective: int, now_ns: int) -> int:
        """Handle the arrival of packet `selective`. Returns the number of packets newly found lost."""
        if selective in self._sacked:
            return 0
        self._sacked.add(selective)
        self._lost.pop(selective, None)
        self._resent.discard(selective)
        first = max(self._highest + 1, self.cumulative)
        self._highest = max(self._highest, selective)
        return self._on_gap(first, selective, now_ns) if first < selective else 0

    def _on_gap(self, first: int, end: int, now_ns: int) -> int:
        """Mark packets `first` to `end` - 1, which a later one has overtaken, as lost. Returns their number."""
        for index in range(first, end):
            self._lost[index] = None
        return end - first

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
        """Begin a turn of the packets that wait to be resent; it ends when all of them are acknowledged."""
        self._turn_ns = NEVER
        self._turn_end = max(self._lost) + 1

    def _start_timer(self, now_ns: int) -> None:
        self._is_low = self.in_flight() < self._rto_low_packets
        self.deadline_ns = now_ns + (self._rto_low_ns if self._is_low else self._rto_high_ns)
        self._low_end_ns = self.deadline_ns if self._is_low else NEVER

    def _shorten_timer(self, now_ns: int) -> None:
        """Change RTO_high to RTO_low, which begins only once.

        A slow sender may have three packets in flight after each one that it sends, and two after each answer. If
        RTO_low began again with each answer, it would never end.
        """
        if self._low_end_ns == NEVER:
            self._start_timer(now_ns)
        else:
            self._is_low = True
            self.deadline_ns = self._low_end_ns

    def _timeout_ns(self) -> int:
        return self._rto_low_ns if self.in_flight() < self._rto_low_packets else self._rto_high_ns


@mypyc_attr(allow_interpreted_subclasses=True)
class TolerantIrn(Irn):
    """An IRN sender that tolerates reordering: a packet that a later one has overtaken is a hole before it is lost.

    `deadline_ns` is the time at which the first hole counts as lost, if that is before the timeout.
    """

    __slots__ = ("_holes", "_timeout_at_ns")

    def __init__(self, parameters: IrnParameters, path: PathContext, rto_ns: int, first_index: int) -> None:
        super().__init__(parameters, path, rto_ns, first_index)
        self._holes = Holes(parameters.reordering_packets, parameters.reordering_ns)
        self._timeout_at_ns = NEVER

    def on_sent(self, index: int, now_ns: int) -> None:
        """Do as IRN does, with the timeout as the deadline."""
        self.deadline_ns = self._timeout_at_ns
        super().on_sent(index, now_ns)
        self._set_deadline()

    def on_ack(self, cumulative: int, selective: int, negative: bool, now_ns: int) -> int:
        """Do as IRN does, and find the holes that count as lost because of later arrivals."""
        self.deadline_ns = self._timeout_at_ns
        lost = super().on_ack(cumulative, selective, negative, now_ns)
        return lost + self._lose_holes(now_ns)

    def on_timer(self, now_ns: int) -> int:
        """Do as IRN does; all holes count as lost."""
        lost = super().on_timer(now_ns)
        self._holes.clear()
        self._set_deadline()
        return lost

    def is_timeout(self, now_ns: int) -> bool:
        """Return whether the timeout is over."""
        return self._timeout_at_ns <= now_ns

    def stop_timer(self) -> None:
        """Stop the timeout, but not the time of the first hole."""
        super().stop_timer()
        self._set_deadline()

    def on_check(self, now_ns: int) -> int:
        """Find the holes whose time is over."""
        self.deadline_ns = self._timeout_at_ns
        return self._lose_holes(now_ns)

    def _on_gap(self, first: int, end: int, now_ns: int) -> int:
        self._holes.add(first, end, now_ns)
        return 0

    def _forget_arrivals(self) -> int:
        self._holes.clear()
        return super()._forget_arrivals()

    def _lose_holes(self, now_ns: int) -> int:
        lost = self._holes.take_lost(self.cumulative, self._sacked, self._highest, now_ns)
        for index in lost:
            self._lost[index] = None
        if lost:
            self._start_timer(now_ns)
        self._set_deadline()
        return len(lost)

    def _set_deadline(self) -> None:
        self._timeout_at_ns = self.deadline_ns
        self.deadline_ns = min(self.deadline_ns, self._holes.next_ns)
