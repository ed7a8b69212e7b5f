# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a NIC counts."""

from dataclasses import dataclass, field
from enum import Enum


class SignalVerdict(str, Enum):
    """What became of a BTS."""

    OBEYED = "obeyed"
    """The flow's pause end was replaced, or its congestion control got the feedback."""
    FLOW_CONTROL_OFF = "flow_control_off"
    """The chosen flow control does not listen to BTS, or the congestion control to feedback."""
    UNKNOWN_FLOW = "unknown_flow"
    """This host has no such flow: another destination, QP or port."""
    FLOW_IDLE = "flow_idle"
    """The host had the flow, but it is finished."""


@dataclass(slots=True)
class NicStatistics:
    """Counts since construction. Bytes are whole Ethernet frames without FCS."""

    frames_sent: int = 0
    """Frames whose last bit has left, as `frames_to_send` gave them out."""
    bytes_sent: int = 0
    """Bytes of these frames."""
    frames_received: int = 0
    """Frames given to the NIC."""
    bytes_received: int = 0
    """Bytes of these frames."""
    data_sent: int = 0
    """Data packets."""
    acks_sent: int = 0
    """Positive acknowledgements."""
    naks_sent: int = 0
    """Negative acknowledgements."""
    cnps_sent: int = 0
    """Congestion notification packets."""
    pulls_sent: int = 0
    """Pulls of a receiver-driven transport."""
    data_received: int = 0
    """Data packets of known queue pairs, with a right ICRC."""
    duplicates_received: int = 0
    """Of these, packets that had been delivered before."""
    out_of_order_received: int = 0
    """Of these, packets that came before an earlier one."""
    acks_received: int = 0
    """Positive acknowledgements."""
    naks_received: int = 0
    """Negative acknowledgements."""
    cnps_received: int = 0
    """Congestion notification packets."""
    pulls_received: int = 0
    """Pulls of a receiver-driven transport."""
    trimmed_received: int = 0
    """Headers of data packets that a switch has cut off, for known queue pairs."""
    returned_received: int = 0
    """Headers of this NIC's own packets that a switch has sent back."""
    bts_received: int = 0
    """Well-formed BTS packets."""
    bts_by_verdict: dict[str, int] = field(default_factory=lambda: {verdict.value: 0 for verdict in SignalVerdict})
    """BTS packets by what became of them (values of SignalVerdict)."""
    pfc_received: int = 0
    """802.1Qbb frames."""
    pfc_sent: int = 0
    """802.1Qbb frames asked for because the receiver is slow: pauses, their refreshments and resumptions."""
    control_overruns: int = 0
    """ACKs, NAKs, CNPs and pulls of those counted as sent that found too many waiting before them."""
    receiver_overruns: int = 0
    """Data packets that found the slow receiver's buffer full."""
    ring_overruns: int = 0
    """Frames that found the receive ring full while the host stood still; they are not among those received."""
    pauses: int = 0
    """Times the data class was stopped by an 802.1Qbb frame."""
    malformed: int = 0
    """Frames dropped because a header, length or field was wrong."""
    corrupted: int = 0
    """RoCEv2 packets dropped because their ICRC was wrong."""
    misdelivered: int = 0
    """RoCEv2 or BTS frames for another MAC or IPv4 address."""
    unknown_queue_pair: int = 0
    """RoCEv2 packets for a queue pair this NIC does not have with that peer."""
    other: int = 0
    """Well-formed frames of other protocols, left to the host's kernel."""
    programs_sent: int = 0
    """Frames of programs that started on the wire."""
    programs_received: int = 0
    """Frames for programs."""
    programs_dropped: int = 0
    """Frames of programs that were not IPv4 or found their flow's queue full."""
    late_acknowledgements: int = 0
    """Acknowledgements for messages that were already complete or given up."""
    acknowledgements_refused: int = 0
    """Acknowledgements that no receiver of what was sent can have made: of packets never sent, or contradictory."""
    retransmissions: int = 0
    """Data packets sent again."""
    timeouts: int = 0
    """Retransmission timeouts."""
    small_window_packets: int = 0
    """Data packets sent while the congestion control's window was below one packet, and no rate explained why."""
    messages_completed: int = 0
    """Outgoing messages acknowledged to the end."""
    messages_failed: int = 0
    """Outgoing messages given up: see TransportSettings.retry_limit."""
    messages_received: int = 0
    """Incoming messages delivered to the end."""
    messages_corrupted: int = 0
    """Of these, messages whose bytes or length were wrong."""
