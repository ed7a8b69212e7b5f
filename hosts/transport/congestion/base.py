# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a congestion control is: hooks that tell it what happened, and two numbers that the queue pair reads.

It never sees a packet, a queue pair or a clock; what an echo tells is read for it here. In-flight bytes, RTT and
pacing are kept by the queue pair.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from mypy_extensions import i64, mypyc_attr

from wire.constants import INT_FLAG_STAMP, INT_RECORD_BYTES, INT_SHIM_BYTES
from wire.int_header import COUNTER_MODULUS
from wire.units import NS_PER_US
from wire.words import word_at

UNLIMITED_WINDOW: Final = (1 << 62) - 1
"""`window_bytes` of an algorithm that limits nothing."""

STAMP_MODULUS_NS: Final = COUNTER_MODULUS * NS_PER_US
SENT_MODULUS_BYTES: Final = COUNTER_MODULUS

_FLAGS_AT: Final = 1
_STAMP_AT: Final = 4
_SENT_AT: Final = 8
_QUEUE_AT: Final = 12
"""In the shim, and in a record, of `wire.int_header`."""


class HopTelemetry:
    """One switch hop's state, as stamped into a data packet and echoed (INT; HPCC §3)."""

    __slots__ = ("queue_bytes", "rate_bps", "sent_bytes", "stamp_ns")

    def __init__(self, rate_bps: int, stamp_ns: int, sent_bytes: int, queue_bytes: int) -> None:
        self.rate_bps = rate_bps
        """Rate of the output port (wall)."""

        self.stamp_ns = stamp_ns
        """The switch's clock when the packet left (wall, in steps of 1 us); wraps at STAMP_MODULUS_NS."""

        self.sent_bytes = sent_bytes
        """Bytes the port had sent before this packet; wraps at SENT_MODULUS_BYTES."""

        self.queue_bytes = queue_bytes
        """Bytes left in the port's queues."""


class AckSample:
    """What one acknowledgement tells. Times are wall ns. It is read, never changed."""

    __slots__ = (
        "acked_bytes", "cumulative_bytes", "ecn_marked", "hops", "in_flight_bytes", "one_way_delay_ns", "rtt_ns",
        "sent_bytes",
    )  # fmt: skip

    def __init__(
        self,
        acked_bytes: int,
        in_flight_bytes: int,
        rtt_ns: int | None,
        ecn_marked: bool,
        one_way_delay_ns: int | None,
        hops: tuple[HopTelemetry, ...],
        cumulative_bytes: int,
        sent_bytes: int,
    ) -> None:
        self.acked_bytes = acked_bytes
        """Payload bytes it newly acknowledges; a packet past a gap counts when the gap closes."""

        self.in_flight_bytes = in_flight_bytes
        """Bytes still unacknowledged, every packet counted as a full one."""

        self.rtt_ns = rtt_ns
        """From the first start of the packet on this NIC's wire to the arrival of what acknowledges it; None if that
        packet was resent (Karn's rule). To the ns; live, when the kernel took the answer, so that hosts' and switches'
        lateness is in it."""

        self.ecn_marked = ecn_marked
        """The acknowledged data packet carried Congestion Experienced, or one since the last answer that got none."""

        self.one_way_delay_ns = one_way_delay_ns
        """From the start of the packet on the sender's wire to its arrival at the receiver's NIC; None unless it had a
        time stamp (`wants_delay`). Both ends cut their clocks to whole us of wall time: it is off by less than one of
        these, 1 / D us of the model's. No offset: virtual hosts have one clock, live ones that of their machine; live,
        lateness is in it."""

        self.hops = hops
        """In the order of the path; empty unless the data packet carried telemetry."""

        self.cumulative_bytes = cumulative_bytes
        """Payload bytes of this queue pair acknowledged so far: HPCC's ack.seq."""

        self.sent_bytes = sent_bytes
        """Payload bytes of this queue pair sent so far for the first time: HPCC's snd_nxt."""


@dataclass(frozen=True, slots=True)
class PathContext:
    """What every algorithm may know beforehand, in wall units."""

    line_rate_bps: int
    """Rate of the NIC."""

    base_rtt_ns: int
    """Round trip of the network's longest path with empty queues."""

    payload_bytes: int
    """Bytes of a full packet's payload."""

    bdp_bytes: int
    """Bytes that fill the longest path at the rate of this NIC, or of what is slower on the way."""

    full_queue_ns: int = 0
    """How long the deepest queue that a switch allows takes to drain."""

    shortest_rtt_ns: int = 0
    """What no round trip in the network is shorter than."""


@dataclass(frozen=True, slots=True)
class NoParameters:
    """Parameters of an algorithm that has none."""


@mypyc_attr(allow_interpreted_subclasses=True)
class CongestionControl:
    """Base of all rows: limits nothing. Override the hooks you need; the queue pair skips those you do not.

    A new algorithm is one file and one row of CONGESTION_CONTROLS. `Parameters` is a frozen dataclass in model units
    whose `_ns` and `_bps` fields arrive in wall units. Those that follow from the network unless somebody sets them are
    filled in by `resolve`.
    """

    __slots__ = ("path", "rate_bps", "window_bytes")

    Parameters: ClassVar[type[Any]] = NoParameters
    ecn_capable: ClassVar[bool] = False
    """Whether data packets are sent as ECN-capable (ECT(0)), so that switches mark instead of ignoring them."""
    wants_telemetry: ClassVar[bool] = False
    """Whether data packets ask switches for INT records; samples then carry `hops`."""
    wants_delay: ClassVar[bool] = False
    """Whether data packets carry a time stamp; samples then carry `one_way_delay_ns`."""
    obeys_feedback: ClassVar[bool] = False
    """Whether what a switch's congestion point says of one of its flows is handed to `on_feedback`, or ignored."""

    window_bytes: int
    """The flow may send while less than this is in flight (one packet may always fly)."""
    rate_bps: int
    """Pacing rate (wall), at least 1; the line rate means unpaced."""

    @classmethod
    def resolve(cls, parameters: Any, path: PathContext) -> Any:
        """The parameters with what was left open worked out from the path. Both in one kind of units."""
        return parameters

    def __init__(self, parameters: Any, path: PathContext) -> None:
        """`parameters` are resolved."""
        self.path = path
        self.window_bytes = UNLIMITED_WINDOW
        self.rate_bps = path.line_rate_bps

    def on_sent(self, size_bytes: int, now_ns: int) -> None:
        """A data packet with so many payload bytes started on the wire."""

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """An acknowledgement arrived."""

    def on_congestion_notice(self, now_ns: int) -> None:
        """A CNP arrived, or an ACK that tells of a marked packet, by `TransportSettings.congestion_notice`."""

    def on_feedback(self, feedback: int, now_ns: int) -> None:
        """A congestion point sampled a packet of this flow; the feedback is |Fb|, 1 to 63 (docs/sources.md#qcn)."""

    def on_loss(self, size_bytes: int, now_ns: int) -> None:
        """So many bytes have been found lost."""

    def on_timer(self, now_ns: int) -> None:
        """The time `next_timer_ns` named has come."""

    def next_timer_ns(self) -> int | None:
        """When `on_timer` wants to be called; None for never."""
        return None


def overrides(plugin: object, base: type, hook: str) -> bool:
    """Whether an algorithm has a hook of its own, and not the one of its base, which does nothing."""
    return getattr(type(plugin), hook) is not getattr(base, hook)


def telemetry_of(shim: bytes) -> tuple[int | None, tuple[HopTelemetry, ...]]:
    """What an echo tells: the one-way delay (ns) if the packet was stamped, and the hops in the order of the path."""
    delay_ns: int | None = None
    end: i64 = len(shim)
    if shim[_FLAGS_AT] & INT_FLAG_STAMP:
        end -= INT_RECORD_BYTES
        delay_ns = word_at(shim, end + _SENT_AT) * NS_PER_US
    hops: list[HopTelemetry] = []
    at = end - INT_RECORD_BYTES
    while at >= INT_SHIM_BYTES:
        rate_bps: int = word_at(shim, at) * 1000
        stamp_ns: int = word_at(shim, at + _STAMP_AT) * NS_PER_US
        hops.append(HopTelemetry(rate_bps, stamp_ns, word_at(shim, at + _SENT_AT), word_at(shim, at + _QUEUE_AT)))
        at -= INT_RECORD_BYTES
    return delay_ns, tuple(hops)
