# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The queue pairs of a NIC, which are created on first use, found by number or peer, and retired when they are done.

This module handles no frames; the NIC and the queue pairs do.
"""

from collections import deque

from hosts.transport.algorithms import Algorithms
from hosts.transport.congestion.trace import CongestionTrace
from hosts.transport.counting import NicCounters
from hosts.transport.loss_recovery.base import NEVER
from hosts.transport.messages import (
    Event,
    IncomingMessage,
    MessageFailed,
    NicAddress,
    OutgoingMessage,
    SendingCounts,
    SendingReport,
    SendingState,
)
from hosts.transport.receiver import FramerMaker, ReceiverQueuePair
from hosts.transport.scheduling.ended_flows import EndedFlows, Waiter
from hosts.transport.scheduling.pull_pacer import PullPacer
from hosts.transport.scheduling.timers import Wakeable
from hosts.transport.scheduling.wire_schedule import WireSchedule
from hosts.transport.sender import SenderQueuePair
from hosts.transport.settings import TransportSettings
from hosts.transport.transmission import prepare_crcs
from wire.constants import DSCP_CONTROL, DSCP_DATA, ECN_CAPABLE, ECN_NOT_CAPABLE, MAX_PAYLOAD_BYTES
from wire.crc import shift_of
from wire.roce.packets import BODY_OFFSET, data_frame_bytes
from wire.words import WORD_BYTES


class IdleSender:
    """The remaining state of a sending queue pair whose messages are all complete or given up."""

    __slots__ = ("destination_ip", "destination_qpn", "flow_id", "has_failed", "next_index", "source_qpn")

    def __init__(self, sender: SenderQueuePair, has_failed: bool) -> None:
        self.destination_ip = sender.destination_ip
        self.destination_qpn = sender.destination_qpn
        self.source_qpn = sender.source_qpn
        self.next_index = sender.next_index
        self.flow_id = sender.flow_id
        self.has_failed = has_failed
        """Whether the queue pair gave up (TransportSettings.retry_limit) and accepts no further message.

        This corresponds to a QP in IBTA's error state.
        """


class _PendingMessage(Wakeable):
    """A message that waits for its `ready_ns`."""

    __slots__ = ("_message", "_pairs")

    def __init__(self, pairs: "QueuePairs", message: OutgoingMessage) -> None:
        super().__init__()
        self._pairs = pairs
        self._message = message
        self.wake_ns = message.ready_ns

    def on_wake(self, now_ns: int) -> None:
        """Start the message."""
        self._pairs.start_message(self._message, now_ns)


class _WaitingMessage(Waiter):
    """A message that waits for other flows to end, and then possibly for its `ready_ns` or `delay_ns`."""

    __slots__ = ("_message", "_pairs")

    def __init__(self, pairs: "QueuePairs", message: OutgoingMessage) -> None:
        super().__init__()
        self._pairs = pairs
        self._message = message

    def on_ended(self) -> None:
        """Schedule the message, because its `ready_ns` is now known."""
        message = self._message
        self._pairs.send_when_ready(
            OutgoingMessage(
                flow_id=message.flow_id,
                source_qpn=message.source_qpn,
                destination_qpn=message.destination_qpn,
                destination_ip=message.destination_ip,
                size_bytes=message.size_bytes,
                ready_ns=max(message.ready_ns, self.last_end_ns + message.delay_ns),
                after=message.after,
                delay_ns=message.delay_ns,
            )
        )


class QueuePairs:
    """The queue pairs of one NIC, active and idle."""

    def __init__(
        self,
        address: NicAddress,
        wall: TransportSettings,
        algorithms: Algorithms,
        wire: WireSchedule,
        counters: NicCounters,
        events: deque[Event],
        epoch_ns: int,
    ) -> None:
        """Create the container without queue pairs; `wall` is the NIC's settings in wall units."""
        self._address = address
        self._wire = wire
        self._counters = counters
        self._events = events
        self._intervals_from_ns = epoch_ns
        self._pacer = PullPacer(wire, data_frame_bytes(wall.payload_bytes, is_last=False), wall.line_rate_bps)
        self._stored_bytes = BODY_OFFSET + MAX_PAYLOAD_BYTES
        self.adopt(wall, algorithms)
        self.flow_ends = EndedFlows()
        """The ended flows that messages may wait for."""
        self._senders: dict[int, SenderQueuePair] = {}
        self._senders_by_peer: dict[tuple[int, int], SenderQueuePair] = {}
        self._idle: dict[int, IdleSender] = {}
        self._idle_by_peer: dict[tuple[int, int], IdleSender] = {}
        self._peers: dict[int, tuple[int, int]] = {}
        self._receivers: dict[int, ReceiverQueuePair] = {}
        self.class_pause_end_ns = 0
        """End of the 802.1Qbb pause of the data class; may be in the past."""

    def adopt(self, wall: TransportSettings, algorithms: Algorithms) -> None:
        """Use these settings and algorithms for new queue pairs; active ones keep theirs."""
        self._settings = wall
        self._algorithms = algorithms
        self._acks_are_data = wall.ack_priority == "data"
        prepare_crcs()
        self._maker = FramerMaker(self._address, DSCP_DATA if self._acks_are_data else DSCP_CONTROL)
        self.shift = shift_of(wall.payload_bytes)
        """CRC shift by the payload of a full packet."""
        self.fold_payloads(self._stored_bytes)
        ecn = ECN_CAPABLE if algorithms.congestion.ecn_capable else ECN_NOT_CAPABLE
        self._data_tos = DSCP_DATA << 2 | ecn

    # messages

    def send(self, message: OutgoingMessage) -> None:
        """Implement `Nic.send_message`."""
        peer = (message.destination_ip, message.destination_qpn)
        if self._peers.setdefault(message.source_qpn, peer) != peer:
            raise ValueError(f"flow {message.flow_id}: QP {message.source_qpn} is connected elsewhere")
        if message.after:
            self.flow_ends.wait(message.after, _WaitingMessage(self, message))
        else:
            self.send_when_ready(message)

    def send_when_ready(self, message: OutgoingMessage) -> None:
        """Send a message at its `ready_ns`, without waiting for other flows."""
        self._wire.wake_at(message.ready_ns, _PendingMessage(self, message))

    def expect(self, message: IncomingMessage) -> None:
        """Implement `Nic.expect_message`."""
        receiver = self._receivers.get(message.destination_qpn)
        if receiver is None:
            receiver = self._receivers[message.destination_qpn] = self._new_receiver(message)
        elif (receiver.source_ip, receiver.source_qpn) != (message.source_ip, message.source_qpn):
            raise ValueError(f"flow {message.flow_id}: QP {message.destination_qpn} belongs to another sender")
        receiver.expect(message)

    def start_message(self, message: OutgoingMessage, now_ns: int) -> None:
        """Start a message that is ready. An idle QP becomes active again, with new algorithm state."""
        sender = self._senders.get(message.source_qpn)
        if sender is None:
            idle = self._idle.get(message.source_qpn)
            if idle is not None and idle.has_failed:
                self._report_failures([SendingReport(message, SendingCounts(), 0)])
                return
            if idle is not None:
                del self._idle[message.source_qpn]
                del self._idle_by_peer[idle.destination_ip, idle.destination_qpn]
            sender = self._new_sender(message, idle.next_index if idle else 0)
            self._senders[message.source_qpn] = sender
            self._senders_by_peer[message.destination_ip, message.destination_qpn] = sender
            sender.on_class_pause(self.class_pause_end_ns, now_ns)
        sender.add_message(message, now_ns)

    def unfinished(self, now_ns: int) -> list[SendingReport]:
        """Return reports on messages that have begun but are not completely acknowledged."""
        return [report for sender in self._senders.values() for report in sender.unfinished(now_ns)]

    def count_intervals_from(self, start_ns: int) -> None:
        """Implement `Nic.count_intervals_from`."""
        self._intervals_from_ns = start_ns
        for receiver in self._receivers.values():
            receiver.count_intervals_from(start_ns)

    def states(self, now_ns: int) -> list[SendingState]:
        """Return the states of messages that have begun but are not completely acknowledged."""
        return [state for sender in self._senders.values() for state in sender.states(now_ns)]

    def fold_payloads(self, stored_bytes: int) -> None:
        """Implement `Nic.fold_payloads`. A payload that is not whole words is never folded, because of its padding."""
        self._stored_bytes = stored_bytes
        payload_bytes: int = self.shift.size_bytes
        stored = max(0, stored_bytes - BODY_OFFSET)
        self._stored_payload_bytes = payload_bytes if payload_bytes % WORD_BYTES else min(stored, payload_bytes)
        self.tail_shift = shift_of(payload_bytes - self._stored_payload_bytes)
        """CRC shift by the part of a full payload that a tail describes."""

    def end_intervals(self) -> None:
        """Implement `Nic.end_intervals`."""
        for receiver in self._receivers.values():
            receiver.end_interval()

    # lookup

    def sender(self, qpn: int, peer_ip: int) -> SenderQueuePair | None:
        """Return the sender of a QP connected with that peer, or None if it has no unfinished messages."""
        sender = self._senders.get(qpn)
        return sender if sender is not None and sender.destination_ip == peer_ip else None

    def is_idle(self, qpn: int, peer_ip: int) -> bool:
        """Return whether this QP has sent to that peer and all its messages are done."""
        idle = self._idle.get(qpn)
        return idle is not None and idle.destination_ip == peer_ip

    def receiver(self, qpn: int, peer_ip: int) -> ReceiverQueuePair | None:
        """Return the receiver of a QP connected with that peer, or None."""
        receiver = self._receivers.get(qpn)
        return receiver if receiver is not None and receiver.source_ip == peer_ip else None

    def towards(self, peer_ip: int, peer_qpn: int) -> SenderQueuePair | IdleSender | None:
        """Return the sender, active or idle, that is connected with that QP of that peer, or None."""
        peer = (peer_ip, peer_qpn)
        return self._senders_by_peer.get(peer) or self._idle_by_peer.get(peer)

    # pauses and retirement

    def pause_class(self, end_ns: int, now_ns: int) -> None:
        """Set the end of the data class's 802.1Qbb pause; an end in the past means that the class is resumed."""
        self.class_pause_end_ns = end_ns
        if self._acks_are_data:
            self._wire.control_pause_end_ns = end_ns
        for sender in self._senders.values():
            sender.on_class_pause(end_ns, now_ns)

    def retire(self, sender: SenderQueuePair, *, has_failed: bool = False) -> None:
        """Retire a sender whose messages are all done; only its packet numbering is kept."""
        sender.wake_ns = NEVER
        peer = sender.destination_ip, sender.destination_qpn
        del self._senders[sender.source_qpn]
        del self._senders_by_peer[peer]
        idle = IdleSender(sender, has_failed)
        self._idle[idle.source_qpn] = self._idle_by_peer[peer] = idle

    def _give_up(self, sender: SenderQueuePair, now_ns: int) -> None:
        """Fail all messages of a sender whose peer does not answer, or only with impossible acknowledgements."""
        self._report_failures(sender.unfinished(now_ns))
        self.retire(sender, has_failed=True)
        sender.abandon()

    def _report_failures(self, reports: list[SendingReport]) -> None:
        self._counters.messages_failed += len(reports)
        self._events.extend(map(MessageFailed, reports))

    # creation

    def _new_sender(self, message: OutgoingMessage, first_index: int) -> SenderQueuePair:
        algorithms, interval_ns = self._algorithms, self._settings.cc_trace_ns
        congestion = algorithms.new_congestion()
        return SenderQueuePair(
            message,
            framer=self._maker.make(
                message.source_qpn, message.destination_ip, message.destination_qpn, self._data_tos
            ),
            shift=self.shift,
            recovery=algorithms.new_recovery(first_index),
            congestion=congestion,
            flow_control=algorithms.new_flow_control(),
            trace=CongestionTrace(congestion, interval_ns, self._events.append) if interval_ns else None,
            obeys_marks=self._settings.congestion_notice == "acknowledgement",
            ack_every=self._settings.ack_every,
            stored_payload_bytes=self._stored_payload_bytes,
            retry_limit=self._settings.retry_limit,
            scheduler=self._wire,
            counters=self._counters,
            events=self._events,
            flow_ends=self.flow_ends,
            give_up=self._give_up,
        )

    def _new_receiver(self, message: IncomingMessage) -> ReceiverQueuePair:
        return ReceiverQueuePair(
            message.source_ip,
            message.source_qpn,
            message.destination_qpn,
            order=self._algorithms.new_order(),
            pacer=self._pacer if self._algorithms.loss_recovery.is_pulled else None,
            maker=self._maker,
            shift=self.shift,
            sends_cnps=self._settings.congestion_notice == "cnp",
            cnp_interval_ns=self._settings.cnp_interval_ns,
            goodput_interval_ns=self._settings.goodput_interval_ns,
            intervals_from_ns=self._intervals_from_ns,
            verify=self._settings.verify,
            wire=self._wire,
            counters=self._counters,
            events=self._events,
            flow_ends=self.flow_ends,
        )
