# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The base class of congestion controls: hooks for events, and two attributes that the queue pair reads.

A congestion control sees no packet, queue pair or clock; `telemetry` parses echoed telemetry. The queue pair handles
in-flight bytes, RTT and pacing.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from mypy_extensions import mypyc_attr

from sfc_testbed.hosts.transport.congestion.telemetry import GROWING, HopTelemetry, TelemetryLayout
from sfc_testbed.wire.constants import BtsCause

UNLIMITED_WINDOW: Final = (1 << 62) - 1
"""Value of `window_bytes` that does not limit the flow."""


@mypyc_attr(free_list_len=1, acyclic=True)
class AckSample:
    """The measurements of one acknowledgement. Times are wall ns. Treat it as read-only."""

    __slots__ = (
        "acked_bytes", "cumulative_bytes", "ecn_marked", "hops", "in_flight_bytes", "increments", "one_way_delay_ns",
        "path", "rtt_ns", "sent_bytes", "switches",
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
        switches: int = 0,
        *,
        increments: int = 0,
        path: int = 0,
    ) -> None:
        self.acked_bytes = acked_bytes
        """Newly acknowledged payload bytes; a packet after a gap counts once the gap closes."""
        self.in_flight_bytes = in_flight_bytes
        """Bytes still in flight, with every packet counted as a full one."""
        self.rtt_ns = rtt_ns
        """Round-trip time from the start of the packet on this NIC's wire to the arrival of its acknowledgement; None
        if the packet was resent (Karn's rule), unless the congestion control `times_resent`. The resolution is 1 ns. In
        live runs the arrival is the kernel's time stamp, so the value includes lateness of hosts and switches."""
        self.ecn_marked = ecn_marked
        """Whether the acknowledged packet, or an unanswered one since the last answer, had an ECN mark."""
        self.one_way_delay_ns = one_way_delay_ns
        """Delay from the start of the packet on the sender's wire to its arrival at the receiver's NIC; None unless the
        packet had a time stamp (`wants_delay`). Both ends truncate their clocks to whole us of wall time, so the error
        is less than 1 us, which is 1 / D us of model time. Sender and receiver use the same clock, so there is no
        offset. In live runs the value includes lateness."""
        self.hops = hops
        """Telemetry of the switches in the order of the path; empty unless the data packet carried telemetry."""
        self.cumulative_bytes = cumulative_bytes
        """Payload bytes of this queue pair acknowledged so far (HPCC's ack.seq)."""
        self.sent_bytes = sent_bytes
        """Payload bytes of this queue pair sent so far, without resent packets (HPCC's snd_nxt)."""
        self.switches = switches
        """Number of switches that the acknowledgement passed, from its TTL. The data passed as many, because both take
        a shortest path."""
        self.path = path
        """The name of the path that the data packet took, with telemetry and `int_path`; otherwise 0."""
        self.increments = increments
        """Number of data packets since the last answer whose request for a larger window no switch refused (Bolt)."""


@dataclass(frozen=True, slots=True)
class PathContext:
    """Properties of the network that algorithms know in advance, in wall units."""

    line_rate_bps: int
    base_rtt_ns: int
    """Round-trip time of the network's longest path with empty queues."""
    payload_bytes: int
    bdp_bytes: int
    """Bandwidth-delay product of the longest path, at the rate of this NIC or of a slower link on the path."""
    full_queue_ns: int = 0
    """Time to drain the deepest queue that a switch allows."""
    shortest_rtt_ns: int = 0
    telemetry: TelemetryLayout = GROWING
    """Layout of INT headers, with the values at which times and byte counts wrap."""


@dataclass(frozen=True, slots=True)
class NoParameters:
    """Parameters of an algorithm that has none."""


@mypyc_attr(allow_interpreted_subclasses=True)
class CongestionControl:
    """Base class of all congestion controls, and the control "none", which limits nothing: flows send at line rate.

    Override the hooks that you need; the queue pair does not call the others. A new algorithm needs one file and one
    entry in CONGESTION_CONTROLS. `Parameters` is a frozen dataclass in model units, but `__init__` gets its `_ns` and
    `_bps` fields in wall units. `resolve` fills in unset parameters that depend on the network.
    """

    __slots__ = ("path", "rate_bps", "window_bytes")

    Parameters: ClassVar[type[Any]] = NoParameters
    ecn_capable: ClassVar[bool] = False
    """Whether data packets are sent as ECN-capable (ECT(0)), so that switches mark them."""
    wants_telemetry: ClassVar[bool] = False
    """Whether data packets request INT records from switches, so that samples have `hops`."""
    needs_one_path: ClassVar[bool] = False
    """Whether the control compares telemetry of packets of one path, so that packets of a flow with changing paths must
    name their path (`TransportSettings.int_path`)."""
    wants_delay: ClassVar[bool] = False
    """Whether data packets carry a time stamp, so that samples have `one_way_delay_ns`."""
    times_resent: ClassVar[bool] = False
    """Whether samples of resent packets have an RTT since the latest departure, as if ACKs echoed a time stamp."""
    obeyed_cause: ClassVar[BtsCause | None] = None
    """The cause of the BTS that this control obeys: FEEDBACK calls `on_feedback`, SUB_RTT calls `on_sub_rtt`."""
    repaces: ClassVar[bool] = True
    """Whether a new rate also moves the departure of the packet that waits; otherwise it applies after that packet."""
    window_bytes: int
    """Congestion window: the flow may send while fewer bytes are in flight. One packet may always be in flight."""
    rate_bps: int
    """Pacing rate (wall), at least 1; at the line rate, packets are not paced."""

    @classmethod
    def resolve(cls, parameters: Any, path: PathContext) -> Any:
        """Return the parameters with unset values derived from the path. Both must be in the same units."""
        return parameters

    def __init__(self, parameters: Any, path: PathContext) -> None:
        """Start without limits; `parameters` must be resolved."""
        self.path = path
        self.window_bytes = UNLIMITED_WINDOW
        self.rate_bps = path.line_rate_bps

    def on_sent(self, size_bytes: int, now_ns: int) -> None:
        """Handle the start of a data packet with `size_bytes` payload bytes on the wire."""

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """Handle an acknowledgement."""

    def on_congestion_notice(self, now_ns: int) -> None:
        """Handle a CNP or a marked ACK, depending on `TransportSettings.congestion_notice`."""

    def on_feedback(self, feedback: int, now_ns: int) -> None:
        """Handle a congestion point's feedback |Fb|, 1 to 63, for a packet of this flow (docs/sources.md#qcn)."""

    def on_sub_rtt(self, drain_ns: int, elapsed_ns: int | None, now_ns: int) -> None:
        """Handle a switch's request for a smaller window (docs/sources.md#bolt).

        A packet of this flow found a queue that drains in `drain_ns`. The packet started on the wire `elapsed_ns` ago;
        None if it was resent.
        """

    def data_flags(self, remaining_bytes: int) -> int:
        """Return the six flags of a data packet. `remaining_bytes` counts from it to the end of all messages."""
        return 0

    def on_loss(self, size_bytes: int, now_ns: int) -> None:
        """Handle the loss of `size_bytes` bytes."""

    def on_timer(self, now_ns: int) -> None:
        """Handle the timer at the time that `next_timer_ns` returned."""

    def next_timer_ns(self) -> int | None:
        """Return the time at which to call `on_timer`; None for never."""
        return None


def rounded(number: float) -> int:
    """Return `round` of a positive number. Compiled code calls the built-in function through the interpreter."""
    whole = int(number)
    rest = number - whole
    return whole + 1 if rest > 0.5 or (rest == 0.5 and whole & 1) else whole


def overrides(plugin: object, base: type, hook: str) -> bool:
    """Return whether an algorithm overrides a hook of its base class, which does nothing."""
    return getattr(type(plugin), hook) is not getattr(base, hook)
