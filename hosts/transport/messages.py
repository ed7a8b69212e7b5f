# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What the caller of a NIC gives to it and gets from it: addresses, messages, events. Times are wall ns."""

from dataclasses import dataclass

from hosts.transport.congestion.trace import CongestionState
from wire.addresses import parse_ip, parse_mac
from wire.bts import BackToSender


@dataclass(frozen=True, slots=True)
class NicAddress:
    """Where a NIC sits."""

    name: str
    """Host name, as in the topology."""

    mac: int
    """Own MAC address."""

    ip: int
    """Own IPv4 address."""

    gateway_mac: int
    """Destination MAC of every packet sent: the switch port at the other end of the wire."""

    @classmethod
    def parse(cls, name: str, mac: str, ip: str, gateway_mac: str) -> "NicAddress":
        """From text, as people write addresses. Raises ValueError."""
        return cls(name, parse_mac(mac), parse_ip(ip), parse_mac(gateway_mac))


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message this NIC is to send."""

    flow_id: int
    """Names the flow in events and selects the message's bytes."""

    source_qpn: int
    """QP here, 1..2^24-1. Messages of one QP are sent one after the other."""

    destination_qpn: int
    """QP at the receiver."""

    destination_ip: int
    """IPv4 address of the receiver."""

    size_bytes: int
    """Length, at least 1."""

    ready_ns: int
    """When the message is ready to be pushed: flow completion time runs from here. Of one that waits: not before."""

    after: tuple[int, ...] = ()
    """Flows that it waits for: all of them must have been received, or sent and acknowledged to the end, here."""

    delay_ns: int = 0
    """From the end of the last of these until it is ready."""

    def __post_init__(self) -> None:
        if self.size_bytes < 1:
            raise ValueError(f"flow {self.flow_id}: a message has at least 1 byte, not {self.size_bytes}")
        if not (0 < self.source_qpn < 1 << 24 and 0 < self.destination_qpn < 1 << 24):
            raise ValueError(f"flow {self.flow_id}: QP numbers must be 1..2^24-1")


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A message this NIC is to receive. Both ends know their QPs beforehand, as with rdma_cm."""

    flow_id: int
    """Names the flow in the received event."""

    source_qpn: int
    """QP at the sender: acknowledgements go there."""

    destination_qpn: int
    """QP here."""

    source_ip: int
    """IPv4 address of the sender; packets from elsewhere are refused."""

    size_bytes: int
    """Length the message must have."""


@dataclass(slots=True)
class SendingCounts:
    """What it has cost to send a message so far."""

    packets_sent: int = 0
    """Data packets put on the wire, resent ones included."""

    packets_resent: int = 0
    """Of these, packets that had been sent before."""

    bytes_resent: int = 0
    """Payload bytes of the resent packets."""

    timeouts: int = 0
    """Retransmission timeouts."""

    naks: int = 0
    """Negative acknowledgements received."""


@dataclass(frozen=True, slots=True)
class SendingReport:
    """What the sender knows of a message."""

    message: OutgoingMessage
    """As it was given to the NIC."""

    counts: SendingCounts
    """What it has cost."""

    paused_ns: int
    """Time since the message was ready during which flow control forbade this flow to send."""


@dataclass(frozen=True, slots=True)
class SendingState:
    """Where an unfinished message stands at its sender, and what holds it up."""

    report: SendingReport
    """Its life so far."""

    acknowledged_bytes: int
    """Of the message, from its start."""

    in_flight_bytes: int
    """Of the queue pair: sent and neither acknowledged nor believed lost."""

    paused_until_ns: int
    """End of the queue pair's pause; it may lie in the past."""

    window_bytes: int
    """What the queue pair may have in flight."""

    rate_bps: int
    """Its pacing rate."""


@dataclass(frozen=True, slots=True)
class ProgramFlowState:
    """Where a 5-tuple of the host's programs stands."""

    destination_ip: int
    """Its destination."""

    protocol: int
    """IP protocol number."""

    source_port: int
    """0 where the protocol has no ports."""

    destination_port: int
    """0 where the protocol has no ports."""

    held_bytes: int
    """What waits in its queue."""

    paused_until_ns: int
    """End of its pause; it may lie in the past."""


@dataclass(frozen=True, slots=True)
class NicState:
    """What a NIC has in hand."""

    messages: list[SendingState]
    """Messages that have begun and are not acknowledged to the end."""

    programs: list[ProgramFlowState]
    """5-tuples of programs that hold packets or are paused."""

    class_paused_until_ns: int
    """End of the 802.1Qbb pause of the data class; it may lie in the past."""


@dataclass(frozen=True, slots=True)
class MessageCompleted:
    """At the sender: the last packet of a message has been acknowledged."""

    report: SendingReport
    """Its life until then."""

    finish_ns: int
    """When its last acknowledgement arrived."""


@dataclass(frozen=True, slots=True)
class MessageFailed:
    """At the sender: its queue pair has given up, for nothing new was acknowledged in too many timeouts in a row."""

    report: SendingReport
    """Its life until then."""


@dataclass(slots=True)
class Goodput:
    """At the receiver: what a flow got in one interval. Intervals of all flows of a NIC begin and end together."""

    flow_id: int
    """Of the incoming message."""

    from_ns: int
    """Begin of the interval."""

    until_ns: int
    """Its end."""

    size_bytes: int
    """Message bytes handed over in it, in order."""


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """At the receiver: every byte of a message has arrived, in order."""

    flow_id: int
    """Of the incoming message."""

    size_bytes: int
    """Bytes received."""

    received_ns: int
    """When the last of them arrived."""

    corrupted: bool
    """The bytes do not match the sender's CRC-32, or the length is not the expected one."""

    last: Goodput
    """Its last interval, which no event of its own tells."""


@dataclass(slots=True)  # frozen, it would take three times as long to make
class BtsReceived:
    """A well-formed BTS reached this host."""

    signal: BackToSender
    """Every field of the packet."""

    congested_ip: int
    """Outer source address: the destination behind the congested queue."""

    flow_id: int | None
    """The flow it names; None if this host has no such flow."""

    sent_ns: int
    """When the switch built it."""

    received_ns: int
    """When it arrived here."""

    obeyed: bool
    """Whether the flow's pause end was replaced, or its congestion control got the feedback."""

    reason: str
    """"obeyed", or why not: see `SignalVerdict`."""

    paused_until_ns: int | None
    """New end of the pause; None if not obeyed, or feedback."""


Event = MessageCompleted | MessageFailed | MessageReceived | Goodput | BtsReceived | CongestionState
