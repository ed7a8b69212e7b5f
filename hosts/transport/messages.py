# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Data exchanged between a NIC and its caller: addresses, messages and parts of `reports`. Times are wall ns.

The classes of events that are frequent define `__init__`, because compiled code calls the one of `dataclass` through
the interpreter.
"""

from dataclasses import dataclass

from sfc_testbed.telemetry.figures import ReceiverFigures
from sfc_testbed.wire.bts import BackToSender


@dataclass(frozen=True, slots=True)
class NicAddress:
    """The addresses of a NIC."""

    name: str
    """Host name, as in the topology."""
    mac: int
    ip: int
    gateway_mac: int
    """MAC address of the switch port at the other end of the wire, the destination of every packet sent."""


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message that this NIC will send."""

    flow_id: int
    """Number of the flow in events, which also selects the message's bytes."""
    source_qpn: int
    """QP number at this NIC, 1..2^24-1. Messages of the same QP are sent one after the other."""
    destination_qpn: int
    destination_ip: int
    size_bytes: int
    """Length of the message, at least 1."""
    ready_ns: int
    """Time at which the message is ready and its flow completion time starts; the earliest such time if it waits."""
    after: tuple[int, ...] = ()
    """Flows that the message waits for; this NIC must have received, or sent and had acknowledged, all of them."""
    delays_ns: tuple[int, ...] = ()
    """Delay from the end of each of these flows until the message is ready."""

    def __post_init__(self) -> None:
        if self.size_bytes < 1:
            raise ValueError(f"flow {self.flow_id}: a message has at least 1 byte, not {self.size_bytes}")
        if not (0 < self.source_qpn < 1 << 24 and 0 < self.destination_qpn < 1 << 24):
            raise ValueError(f"flow {self.flow_id}: QP numbers must be 1..2^24-1")


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A message this NIC is to receive. Both ends know their QPs beforehand, as with rdma_cm."""

    flow_id: int
    source_qpn: int
    """QP number at the sender, the destination of acknowledgements."""
    destination_qpn: int
    source_ip: int
    """IPv4 address of the sender; packets from other addresses are rejected."""
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ProgramFlowState:
    """The state of a 5-tuple of the host's ordinary programs."""

    destination_ip: int
    protocol: int
    source_port: int
    """Source port; 0 if the protocol has no ports."""
    destination_port: int
    """Destination port; 0 if the protocol has no ports."""
    held_bytes: int
    """Bytes of the frames in the flow's queue."""
    paused_until_ns: int
    """End of the flow's pause; may be in the past."""


@dataclass(init=False, slots=True)
class Goodput:
    """The goodput of a flow at its receiver in one interval. All flows of a NIC have the same intervals."""

    flow_id: int
    from_ns: int
    until_ns: int
    size_bytes: int
    """Message bytes delivered in order in the interval."""

    def __init__(self, flow_id: int, from_ns: int, until_ns: int, size_bytes: int) -> None:
        self.flow_id = flow_id
        self.from_ns = from_ns
        self.until_ns = until_ns
        self.size_bytes = size_bytes


@dataclass(init=False, slots=True)
class MessageReceived:
    """The event at the receiver when every byte of a message has been delivered in order."""

    flow_id: int
    size_bytes: int
    received_ns: int
    """Time at which the last byte arrived."""
    figures: ReceiverFigures
    """The message is corrupted if its bytes do not match the sender's CRC-32 or its length differs from the expected
    one."""
    last: Goodput
    """The goodput of the last interval, for which there is no separate event."""

    def __init__(
        self, flow_id: int, size_bytes: int, received_ns: int, figures: ReceiverFigures, last: Goodput
    ) -> None:
        self.flow_id = flow_id
        self.size_bytes = size_bytes
        self.received_ns = received_ns
        self.figures = figures
        self.last = last


@dataclass(init=False, slots=True)
class BtsReceived:
    """The event when a well-formed BTS arrives at this host."""

    signal: BackToSender
    congested_ip: int
    """Outer source address, which is the destination behind the congested queue."""
    flow_id: int | None
    """The flow that the BTS names; None if this host has no such flow. There is an event for every flow of a BTS."""
    sent_ns: int | None
    """Time at which the data packet reached the switch, on the switch's clock and modulo the period of time stamps
    (`wire.bts.tick_ns` x STAMPS). None: the BTS has no time stamp."""
    received_ns: int
    obeyed: bool
    """Whether the end of the flow's pause was replaced, or its congestion control got the request."""
    reason: str
    """A value of `SignalVerdict`: "obeyed", or the reason why the BTS was not obeyed."""
    paused_until_ns: int | None
    """New end of the pause; `received_ns` if the queue pair had nothing left to send; None if the BTS was not obeyed or
    requested no pause."""

    def __init__(
        self,
        signal: BackToSender,
        congested_ip: int,
        flow_id: int | None,
        sent_ns: int | None,
        received_ns: int,
        obeyed: bool,
        reason: str,
        paused_until_ns: int | None,
    ) -> None:
        self.signal = signal
        self.congested_ip = congested_ip
        self.flow_id = flow_id
        self.sent_ns = sent_ns
        self.received_ns = received_ns
        self.obeyed = obeyed
        self.reason = reason
        self.paused_until_ns = paused_until_ns
