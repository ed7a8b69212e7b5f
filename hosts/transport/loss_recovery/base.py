# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The base classes of loss recoveries: the sender's choice of the next packet, and the receiver's packet order.

Packets are numbered from 0 without wrapping (`index`); the queue pair maps them to 24-bit PSNs. A recovery knows
neither bytes nor frames. It uses the flow's clock, which stops while flow control pauses the flow, so that paused time
does not count towards a retransmission timeout (docs/sources.md#go-back-n).
"""

from enum import IntEnum
from typing import Any, ClassVar, Final

from mypy_extensions import mypyc_attr

from sfc_testbed.hosts.transport.congestion.base import NoParameters, PathContext

NEVER: Final = (1 << 62) - 1
"""A deadline that is never reached; the largest integer that compiled code handles without boxing."""


class Arrival(IntEnum):
    """The receiver's decision about a data packet."""

    IN_ORDER = 0
    """The packet is delivered; `expected` has been advanced."""
    DUPLICATE = 1
    """The packet is dropped, and the packets received so far are acknowledged again."""
    NEGATIVE = 2
    """The packet is out of order and answered with a NAK; the packet order decides whether to keep it."""
    SILENT = 3
    """The packet is out of order and dropped without an answer."""
    EARLY = 4
    """The packet is out of order, kept and acknowledged selectively; packets before it do not count as lost."""


@mypyc_attr(allow_interpreted_subclasses=True)
class PacketOrder:
    """The receiver's part of a loss recovery, which puts packets in order. This base class keeps no early packets."""

    __slots__ = ("expected",)

    selective: ClassVar[bool] = False
    """Whether a NAK names the packet that caused it."""

    def __init__(self, parameters: Any) -> None:
        self.expected = 0

    def on_packet(self, index: int, opcode: int, body: bytes, body_crc: int, now_ns: int) -> Arrival:
        """Decide about an arriving packet; for IN_ORDER, advance `expected` past it.

        `body` and `body_crc` are as in `ReceiverQueuePair.on_data`. A packet that is kept is returned with both.
        """
        raise NotImplementedError

    def next_held(self) -> tuple[int, bytes, int] | None:
        """Return the expected packet as (opcode, body, body_crc) and advance `expected`; None if it is not kept."""
        return None

    def has(self, index: int) -> bool:
        """Return whether a packet has arrived."""
        return index < self.expected

    def missing(self, end: int) -> int:
        """Return the number of packets before `end` that have not arrived."""
        return max(0, end - self.expected)


@mypyc_attr(allow_interpreted_subclasses=True)
class KeepingOrder(PacketOrder):
    """A packet order that keeps early packets until the gap before them closes.

    Its parameters must have a field `held_packets`, the maximum distance of kept packets from the gap.
    """

    __slots__ = ("_held", "_max_distance")

    early: ClassVar[Arrival] = Arrival.EARLY
    """Result of `on_packet` for an early packet that is kept."""

    def __init__(self, parameters: Any) -> None:
        super().__init__(parameters)
        self._held: dict[int, tuple[int, bytes, int]] = {}
        self._max_distance: int = parameters.held_packets

    def on_packet(self, index: int, opcode: int, body: bytes, body_crc: int, now_ns: int) -> Arrival:
        """Keep an early packet, unless it is too far ahead of the gap."""
        if index == self.expected:
            self.expected = index + 1
            return Arrival.IN_ORDER
        if index < self.expected:
            return Arrival.DUPLICATE
        if index - self.expected > self._max_distance:
            return Arrival.SILENT
        self._held[index] = (opcode, body, body_crc)
        return self.early

    def next_held(self) -> tuple[int, bytes, int] | None:
        """Return the expected packet if it is kept."""
        held = self._held.pop(self.expected, None) if self._held else None
        if held is not None:
            self.expected += 1
        return held

    def has(self, index: int) -> bool:
        """Return whether a packet was delivered or is kept."""
        return index < self.expected or index in self._held

    def missing(self, end: int) -> int:
        """Return the number of packets before `end` that are neither delivered nor kept."""
        return max(0, end - self.expected - len(self._held))


@mypyc_attr(allow_interpreted_subclasses=True)
class LossRecovery:
    """The sender's part of a loss recovery.

    `cumulative` is the first packet not acknowledged, `next_new` the first packet never sent.
    """

    __slots__ = ("cumulative", "deadline_ns", "held_ns", "next_new")

    Parameters: ClassVar[type[Any]] = NoParameters
    Order: ClassVar[type[PacketOrder]] = PacketOrder
    is_pulled: ClassVar[bool] = False
    """Whether receivers answer complete and trimmed packets with pulls, which are passed to `on_pull`."""
    tolerates_reordering: ClassVar[bool] = False
    """Whether packets that take different paths may overtake one another without being sent again."""
    resends_successors: ClassVar[bool] = False
    """Whether a lost packet and all packets sent after it are sent again, because receivers keep no early packets."""

    @classmethod
    def resolve(cls, parameters: Any, path: PathContext) -> Any:
        """Return the parameters with unset values derived from the path. Both must be in the same units."""
        return parameters

    @classmethod
    def is_tolerant(cls, parameters: Any) -> bool:
        """Return whether the recovery with these parameters tolerates reordering."""
        return cls.tolerates_reordering

    @classmethod
    def variant(cls, parameters: Any) -> "type[LossRecovery]":
        """Return the class that implements the recovery with these parameters."""
        return cls

    def __init__(self, parameters: Any, path: PathContext, rto_ns: int, first_index: int) -> None:
        """Start at packet `first_index`; `rto_ns` is the timeout of the settings, which not every algorithm uses."""
        self.cumulative = first_index
        self.next_new = first_index
        self.deadline_ns = NEVER
        """Time at which `on_timer` must be called, on the flow's clock."""
        self.held_ns = 0
        """Total time for which flow control has paused the flow; the caller's clock is ahead of the flow's by this."""

    def next_packet(self) -> int:
        """Return the packet to send next: a packet to resend or `next_new`; -1 if the recovery allows neither."""
        raise NotImplementedError

    def in_flight(self) -> int:
        """Return the number of packets that were sent and are neither acknowledged nor considered lost."""
        raise NotImplementedError

    def in_flight_before(self, index: int) -> int:
        """Return the number of packets that count against the window when packet `index` is about to be sent.

        After a timeout this may be fewer than are in flight.
        """
        return self.in_flight()

    def on_sent(self, index: int, now_ns: int) -> None:
        """Handle the start of the packet that `next_packet` returned."""
        raise NotImplementedError

    def on_ack(self, cumulative: int, selective: int, negative: bool, now_ns: int) -> int:
        """Handle an acknowledgement and return the number of packets newly found lost.

        Every packet before `cumulative` has arrived, and so has packet `selective` unless it is -1. `cumulative` is
        between `self.cumulative` and `self.next_new`, and `self.cumulative` is advanced at least to it.
        """
        raise NotImplementedError

    def on_trimmed(self, index: int, now_ns: int) -> int:
        """Handle the notice that this packet arrived trimmed. Returns the number of packets newly found lost."""
        return 0

    def on_returned(self, index: int, now_ns: int) -> int:
        """Handle this packet's header, returned by a switch. Returns the number of packets newly found lost."""
        return 0

    def on_pull(self, number: int, now_ns: int) -> None:
        """Handle a pull; `number` counts the receiver's pulls for this queue pair, modulo 2^24."""

    def on_timer(self, now_ns: int) -> int:
        """Handle a timeout at `deadline_ns`. Returns the number of packets newly found lost."""
        raise NotImplementedError

    def stop_timer(self) -> None:
        """Stop the timeout until the next packet is sent, which starts it again.

        Called instead of `on_timer` if nothing has been sent since the latest timeout, because the packet to resend
        waits for its pace, for the window or in the NIC: no answer can be late.
        """
        self.deadline_ns = NEVER

    def is_timeout(self, now_ns: int) -> bool:
        """Return whether the deadline that has passed is a retransmission timeout; otherwise `on_check` is called."""
        return True

    def on_check(self, now_ns: int) -> int:
        """Handle a deadline that is no timeout. Returns the number of packets newly found lost."""
        return 0


def is_possible(
    cumulative: int, selective: int, is_selective: bool, negative: bool, next_new: int, *, is_pulled: bool = False
) -> bool:
    """Return whether a correct receiver can have sent this answer, given that packets 0..next_new-1 were sent.

    A NAK must miss one of these packets. A selective answer must name a later packet that was sent; only NAKs can be
    selective, or only ACKs if the receiver pulls (`LossRecovery.is_pulled`).
    """
    if cumulative < 0 or cumulative > next_new - negative:
        return False
    return not is_selective or (negative != is_pulled and cumulative < selective < next_new)
