# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reception of data packets that a switch trimmed to their headers and sent on to the receiver or back to the sender.

A trimmed packet has no ICRC. It is therefore accepted only for a queue pair that this NIC has with that peer, and only
for a packet that is in flight.
"""

from sfc_testbed.hosts.transport.counters import NicCounters
from sfc_testbed.hosts.transport.queue_pairs import IdleSender, QueuePairs
from sfc_testbed.hosts.transport.scheduling.wire_schedule import WireSchedule
from sfc_testbed.wire.constants import DSCP_RETURNED, DSCP_TRIMMED, PSN_MASK, QPN_MASK, TRIMMED_IPV4_BYTES
from sfc_testbed.wire.ipv4 import Ipv4Header
from sfc_testbed.wire.roce.packets import BTH_OFFSET, PSN_OFFSET, SEND_OPCODES, UDP_OFFSET
from sfc_testbed.wire.words import half_word_at, word_at

_QPN_OFFSET = BTH_OFFSET + 4


class TrimmedHeaders:
    """The dispatcher of trimmed packets to the queue pairs of one NIC."""

    __slots__ = ("_counters", "_pairs", "_wire")

    def __init__(self, pairs: QueuePairs, wire: WireSchedule, counters: NicCounters) -> None:
        self._pairs = pairs
        self._wire = wire
        self._counters = counters

    def receive(self, frame: bytes, ip: Ipv4Header) -> None:
        """Handle a frame for this host and a RoCEv2 port that is not a complete RoCEv2 packet."""
        dscp = ip.tos >> 2
        is_trimmed = ip.total_length == TRIMMED_IPV4_BYTES and frame[BTH_OFFSET] in SEND_OPCODES
        if not is_trimmed or dscp not in (DSCP_TRIMMED, DSCP_RETURNED):
            self._counters.malformed += 1
            return
        qpn = word_at(frame, _QPN_OFFSET) & QPN_MASK
        psn = word_at(frame, PSN_OFFSET) & PSN_MASK
        if dscp == DSCP_TRIMMED:
            self._arrived(ip.source, qpn, psn)
        else:
            self._came_back(ip.source, qpn, half_word_at(frame, UDP_OFFSET), psn)

    def _arrived(self, peer_ip: int, qpn: int, psn: int) -> None:
        receiver = self._pairs.receiver(qpn, peer_ip)
        if receiver is None:
            self._counters.unknown_queue_pair += 1
            return
        self._counters.trimmed_received += 1
        receiver.on_trimmed(psn)
        if receiver.is_done:
            self._pairs.rest(receiver)

    def _came_back(self, peer_ip: int, qpn: int, port: int, psn: int) -> None:
        """Handle a returned packet; it is this NIC's own packet, so its destination QP is the peer's."""
        sender = self._pairs.towards(peer_ip, qpn, port)
        if sender is None:
            self._counters.unknown_queue_pair += 1
            return
        self._counters.returned_received += 1
        if not isinstance(sender, IdleSender):
            sender.on_trimmed(psn, is_returned=True, now_ns=self._wire.clock_ns)
