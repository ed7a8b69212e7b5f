# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The counters of a NIC. The module is compiled, since every packet increments about ten counters."""

from dataclasses import dataclass, field, replace
from enum import Enum


class SignalVerdict(str, Enum):
    """The outcome of a received BTS."""

    OBEYED = "obeyed"
    """The end of the flow's pause was replaced, or its congestion control got the request."""
    FLOW_CONTROL_OFF = "flow_control_off"
    """The chosen flow control ignores BTS packets, or the congestion control ignores its cause."""
    UNKNOWN_FLOW = "unknown_flow"
    """The host has no flow with that destination, QP and port."""
    FLOW_IDLE = "flow_idle"
    """The flow belongs to this host but has finished."""


@dataclass(slots=True)
class NicCounters:
    """The counters of a NIC since its construction. Bytes are whole Ethernet frames without FCS."""

    frames_sent: int = 0
    """Frames whose last bit has left, as returned by `frames_to_send`."""
    bytes_sent: int = 0
    frames_received: int = 0
    """Frames given to the NIC."""
    bytes_received: int = 0
    data_sent: int = 0
    acks_sent: int = 0
    naks_sent: int = 0
    """Negative acknowledgements."""
    cnps_sent: int = 0
    pulls_sent: int = 0
    """Pulls of a receiver-driven transport."""
    data_received: int = 0
    """Data packets for known queue pairs with a correct ICRC."""
    duplicates_received: int = 0
    """Received data packets that had been delivered before."""
    out_of_order_received: int = 0
    """Received data packets that arrived before an earlier packet of the queue pair."""
    acks_received: int = 0
    naks_received: int = 0
    """Negative acknowledgements."""
    cnps_received: int = 0
    pulls_received: int = 0
    """Pulls of a receiver-driven transport."""
    trimmed_received: int = 0
    """Trimmed data packets (headers without payload) for known queue pairs."""
    returned_received: int = 0
    """Trimmed packets of this NIC that a switch has sent back."""
    bts_received: int = 0
    """Well-formed BTS packets."""
    bts_by_verdict: dict[str, int] = field(default_factory=lambda: {verdict.value: 0 for verdict in SignalVerdict})
    """BTS packets by their outcome (values of SignalVerdict)."""
    pfc_received: int = 0
    pfc_sent: int = 0
    """802.1Qbb frames sent because the receiver is slow: pauses, their refreshes and resumes."""
    control_overruns: int = 0
    """ACKs, NAKs, CNPs and pulls that were counted as sent but dropped because the control queue was full."""
    receiver_overruns: int = 0
    """Data packets dropped because the slow receiver's buffer was full."""
    ring_overruns: int = 0
    """Frames dropped because the receive ring was full during a stall; they do not count as received."""
    pauses: int = 0
    """802.1Qbb frames that paused the data class, and frames that paused one of its queues."""
    malformed: int = 0
    """Frames dropped because a header, length or field was wrong."""
    corrupted: int = 0
    """RoCEv2 packets dropped because their ICRC was wrong."""
    misdelivered: int = 0
    """RoCEv2 and BTS frames for another MAC or IPv4 address."""
    unknown_queue_pair: int = 0
    """RoCEv2 packets for a queue pair that this NIC does not have with that peer."""
    other: int = 0
    """Well-formed frames of other protocols, left to the host's kernel."""
    programs_sent: int = 0
    """Frames of ordinary programs that started on the wire."""
    programs_received: int = 0
    """Received frames for ordinary programs."""
    programs_dropped: int = 0
    """Frames of ordinary programs dropped because they were not IPv4 or their flow's queue was full."""
    late_acknowledgements: int = 0
    """Acknowledgements for messages that were already complete or given up."""
    acknowledgements_refused: int = 0
    """Acknowledgements that a correct receiver cannot have sent: contradictory, or for packets never sent."""
    retransmissions: int = 0
    """Data packets sent again."""
    resent_after_timeout: int = 0
    """Data packets sent again after a timeout of their queue pair before which they had been sent."""
    loss_reports: int = 0
    """Acknowledgements for which the loss recovery considered packets lost, because later packets had arrived."""
    timeouts: int = 0
    small_window_packets: int = 0
    """Data packets sent while the congestion window was below one packet and the rate was not lowered as well."""
    messages_completed: int = 0
    """Outgoing messages that were completely acknowledged."""
    messages_failed: int = 0
    """Outgoing messages that were given up (TransportSettings.retry_limit)."""
    messages_received: int = 0
    """Incoming messages that were completely delivered."""
    messages_corrupted: int = 0
    """Incoming messages that were completely delivered but whose bytes or length were wrong."""

    def snapshot(self) -> "NicCounters":
        """Return a copy with the current values."""
        return replace(self, bts_by_verdict=dict(self.bts_by_verdict))
