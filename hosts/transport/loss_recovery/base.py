# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a loss recovery is: the sender's choice of the next packet, and the receiver's rule for packets out of order.

Packets are numbered from 0 without wrapping (`index`); the queue pair maps them to 24-bit PSNs. A recovery knows
neither bytes nor frames. Its clock is the flow's own: it stands still while flow control holds the flow, so paused time
never runs a retransmission timeout (docs/sources.md#go-back-n).
"""

from enum import IntEnum
from typing import Any, ClassVar, Final

from mypy_extensions import mypyc_attr

from hosts.transport.congestion.base import NoParameters, PathContext
from wire.units import two_digits_up

NEVER: Final = (1 << 62) - 1
"""A deadline that does not come; the largest number that costs a compiled program no more than a small one."""


def queue_timeout_ns(path: PathContext) -> int:
    """A timeout that one full queue does not cause: the base RTT and its drain, rounded up as people set it."""
    return two_digits_up(path.base_rtt_ns + path.full_queue_ns)


class Arrival(IntEnum):
    """What the receiver does with a data packet."""

    IN_ORDER = 0
    """Deliver it; `expected` has moved on."""
    DUPLICATE = 1
    """Drop it and acknowledge what is there already."""
    NEGATIVE = 2
    """Out of order: answer with a NAK (whether the packet is kept is the rule's own affair)."""
    SILENT = 3
    """Out of order: drop it, a NAK for the gap has been sent."""
    EARLY = 4
    """Out of order and kept: acknowledge it by itself. Nothing before it counts as lost for that."""


@mypyc_attr(allow_interpreted_subclasses=True)
class PacketOrder:
    """Receiver half: puts packets in order. Holds nothing by default."""

    __slots__ = ("expected",)

    selective: ClassVar[bool] = False
    """Whether a NAK names the packet that caused it."""

    def __init__(self, parameters: Any) -> None:
        self.expected = 0

    def on_packet(self, index: int, opcode: int, body: bytes, now_ns: int) -> Arrival:
        """Judge an arriving packet; on IN_ORDER `expected` is advanced past it."""
        raise NotImplementedError

    def next_held(self) -> tuple[int, bytes] | None:
        """The packet now expected, as (opcode, body), if it was kept when it came early; advances `expected`."""
        return None

    def has(self, index: int) -> bool:
        """Whether this packet is there."""
        return index < self.expected

    def missing(self, end: int) -> int:
        """How many packets before `end` are not there."""
        return max(0, end - self.expected)


@mypyc_attr(allow_interpreted_subclasses=True)
class KeepingOrder(PacketOrder):
    """Keeps early packets until the gap before them closes; what it needs of its parameters is `held_packets`."""

    __slots__ = ("_held", "_most")

    early: ClassVar[Arrival] = Arrival.EARLY
    """What it says of an early packet that it keeps."""

    def __init__(self, parameters: Any) -> None:
        super().__init__(parameters)
        self._held: dict[int, tuple[int, bytes]] = {}
        self._most: int = parameters.held_packets

    def on_packet(self, index: int, opcode: int, body: bytes, now_ns: int) -> Arrival:
        """See the base class."""
        if index == self.expected:
            self.expected = index + 1
            return Arrival.IN_ORDER
        if index < self.expected:
            return Arrival.DUPLICATE
        if index - self.expected > self._most:
            return Arrival.SILENT
        self._held[index] = (opcode, body)
        return self.early

    def next_held(self) -> tuple[int, bytes] | None:
        """See the base class."""
        held = self._held.pop(self.expected, None) if self._held else None
        if held is not None:
            self.expected += 1
        return held

    def has(self, index: int) -> bool:
        """See the base class."""
        return index < self.expected or index in self._held

    def missing(self, end: int) -> int:
        """See the base class."""
        return max(0, end - self.expected - len(self._held))


@mypyc_attr(allow_interpreted_subclasses=True)
class LossRecovery:
    """Sender half. `cumulative` is the first packet not acknowledged, `next_new` the first never sent."""

    __slots__ = ("cumulative", "deadline_ns", "held_ns", "next_new")

    Parameters: ClassVar[type[Any]] = NoParameters
    Order: ClassVar[type[PacketOrder]] = PacketOrder
    is_pulled: ClassVar[bool] = False
    """Whether receivers answer what arrives, whole or trimmed, with pulls, which `on_pull` takes."""

    @classmethod
    def resolve(cls, parameters: Any, path: PathContext) -> Any:
        """The parameters with what was left open worked out from the path. Both in one kind of units."""
        return parameters

    def __init__(self, parameters: Any, path: PathContext, rto_ns: int, first_index: int) -> None:
        """`rto_ns` is the settings' timeout; an algorithm with several has its own Parameters."""
        self.cumulative = first_index
        self.next_new = first_index
        self.deadline_ns = NEVER
        """When `on_timer` must be called, on the flow's clock."""
        self.held_ns = 0
        """How long flow control has held the flow so far: the caller's clock is ahead of the flow's by this."""

    def next_packet(self) -> int:
        """Index of the packet to send next: one to resend, or `next_new`; -1 if the recovery's own cap forbids both."""
        raise NotImplementedError

    def in_flight(self) -> int:
        """Packets sent and neither acknowledged nor believed lost."""
        raise NotImplementedError

    def in_flight_before(self, index: int) -> int:
        """Packets that take up the window when `index` is to be sent; after a timeout fewer may than are in flight."""
        return self.in_flight()

    def on_sent(self, index: int, now_ns: int) -> None:
        """The packet that `next_packet` named has started on the wire."""
        raise NotImplementedError

    def on_ack(self, cumulative: int, selective: int, negative: bool, now_ns: int) -> int:
        """Every packet before `cumulative` has arrived; so has `selective` unless -1. Returns packets found lost.

        `cumulative` lies between `self.cumulative` and `self.next_new`; `self.cumulative` moves at least to it.
        """
        raise NotImplementedError

    def on_trimmed(self, index: int, now_ns: int) -> int:
        """The receiver got this packet's header without its data. Returns packets found lost."""
        return 0

    def on_returned(self, index: int, now_ns: int) -> int:
        """A switch sent this packet's header back. Returns packets found lost."""
        return 0

    def on_pull(self, number: int, now_ns: int) -> None:
        """The receiver asks for a packet; `number` counts its pulls of this queue pair, in 24 bits."""

    def on_timer(self, now_ns: int) -> int:
        """`deadline_ns` has come: a timeout. Returns packets found lost."""
        raise NotImplementedError


def is_possible(
    cumulative: int, selective: int, is_selective: bool, negative: bool, next_new: int, *, is_pulled: bool = False
) -> bool:
    """Whether a receiver can say so that was sent packets 0..next_new-1: a NAK misses one of them, and tells of a later
    one if it is selective. Where receivers pull (`LossRecovery.is_pulled`), ACKs do so instead."""
    if cumulative < 0 or cumulative > next_new - negative:
        return False
    return not is_selective or (negative != is_pulled and cumulative < selective < next_new)
