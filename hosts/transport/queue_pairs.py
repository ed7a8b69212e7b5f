# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The queue pairs of a NIC, which are created on first use, found by number or peer, and retired when they are done.

This module handles no frames; the NIC and the queue pairs do.
"""

from collections import deque
from dataclasses import replace
from typing import Final, TypeVar

from mypy_extensions import i64

from sfc_testbed.hosts.transport.algorithms import Algorithms
from sfc_testbed.hosts.transport.congestion.trace import CongestionTrace
from sfc_testbed.hosts.transport.counters import NicCounters
from sfc_testbed.hosts.transport.messages import IncomingMessage, NicAddress, OutgoingMessage
from sfc_testbed.hosts.transport.model_clock import ModelClock
from sfc_testbed.hosts.transport.number_rows import NumberRows
from sfc_testbed.hosts.transport.receiver import FramerMaker, ReceiverQueuePair
from sfc_testbed.hosts.transport.reports import Event, SendingState
from sfc_testbed.hosts.transport.scheduling.ended_flows import EndedFlows, Waiter
from sfc_testbed.hosts.transport.scheduling.pull_pacer import PullPacer
from sfc_testbed.hosts.transport.scheduling.timers import Wakeable
from sfc_testbed.hosts.transport.scheduling.wire_schedule import WireSchedule
from sfc_testbed.hosts.transport.sender import SenderQueuePair
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission, prepare_crcs
from sfc_testbed.wire.constants import (
    DSCP_CONTROL,
    DSCP_DATA,
    ECN_CAPABLE,
    ECN_NOT_CAPABLE,
    MAX_PAYLOAD_BYTES,
    QPN_MASK,
    QUEUE_NUMBERS,
    ROCE_SOURCE_PORT_QPN_MASK,
)
from sfc_testbed.wire.crc import shift_of
from sfc_testbed.wire.queue_pause import queue_of_pair
from sfc_testbed.wire.roce.packets import BODY_OFFSET, source_port
from sfc_testbed.wire.words import WORD_BYTES

_Pair = TypeVar("_Pair", SenderQueuePair, ReceiverQueuePair)
_SPARE_SHARE: Final = 8
"""A list of queue pairs grows by this fraction of its length, so that most new numbers need no copy."""
_QPN_BITS: Final = 24
_SEED_BITS: Final = 8
"""Distance of the QP number from the lowest bits, which the address determines, in the seed of a load balancing."""
_PEER: Final = 0
"""The column with a queue pair's peer, as IP address << 24 | QP number; 0: the queue pair is unknown."""

_NEXT_INDEX: Final = 1
"""The column with the index, plus 1, of a sender's next packet; 0: no message is done, or `_FAILED`."""
_FLOW_ID: Final = 2
_SENDER_COLUMNS: Final = 3
_FAILED: Final = -1

_FIRST_OF_RECEIVER: Final = 1
"""The first of the columns for `ReceiverQueuePair.numbers`; 0 in it: no message is done."""
_RECEIVER_COLUMNS: Final = 4


def _fill(places: "list[_Pair | None]", qpn: int) -> None:
    """Extend a list of queue pairs so that it has a place for this number."""
    missing = qpn + 1 - len(places)
    if missing > 0:
        places += [None] * (missing + len(places) // _SPARE_SHARE)


def _peer(ip: int, qpn: int) -> int:
    return ip << _QPN_BITS | qpn


class IdleSender:
    """A sending queue pair whose messages are all complete or given up."""

    __slots__ = ("flow_id",)

    def __init__(self, flow_id: int) -> None:
        self.flow_id = flow_id
        """The last flow of the queue pair."""


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
    """A message that waits for other flows to end, and then possibly for its `ready_ns` or `delays_ns`."""

    __slots__ = ("_message", "_pairs")

    def __init__(self, pairs: "QueuePairs", message: OutgoingMessage) -> None:
        super().__init__()
        self._pairs = pairs
        self._message = message

    def on_ended(self) -> None:
        """Schedule the message, because its `ready_ns` is now known."""
        message = self._message
        self._pairs.send_when_ready(replace(message, ready_ns=max(message.ready_ns, self.ready_ns)))


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
        self._clock = ModelClock(algorithms.dilation, epoch_ns)
        self._pacer = PullPacer(wire)
        self._stored_bytes = BODY_OFFSET + MAX_PAYLOAD_BYTES
        self._sender_rows = NumberRows(_SENDER_COLUMNS)
        self._qpn_of_peer: dict[int, int] | None = None
        """The sending QP of each peer; None if the UDP source port of a packet names it."""
        self.adopt(wall, algorithms)
        self.flow_ends = EndedFlows()
        """The ended flows that messages may wait for."""
        self._senders: dict[int, SenderQueuePair] = {}
        self._sender_places: list[SenderQueuePair | None] = []
        self._receivers: dict[int, ReceiverQueuePair] = {}
        self._receiver_places: list[ReceiverQueuePair | None] = []
        """The same queue pairs by number: for each packet, a list is faster than a dict."""
        self._receiver_rows = NumberRows(_RECEIVER_COLUMNS)
        self.class_pause_end_ns = 0
        """End of the 802.1Qbb pause of the data class; may be in the past."""
        self._queue_pause_ends_ns = [0] * QUEUE_NUMBERS
        """Ends of the pauses of the NIC's queues; may be in the past."""

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
        ecn = ECN_CAPABLE if algorithms.is_ecn_capable else ECN_NOT_CAPABLE
        self._data_tos = DSCP_DATA << 2 | ecn
        if algorithms.changes_entropy and self._qpn_of_peer is None:
            rows = self._sender_rows
            self._qpn_of_peer = {rows.get(qpn, _PEER): qpn for qpn in range(1, rows.end) if rows.get(qpn, _PEER)}

    # messages

    def send(self, message: OutgoingMessage) -> None:
        """Implement `Nic.send_message`."""
        peer = _peer(message.destination_ip, message.destination_qpn)
        if self._sender_rows.get(message.source_qpn, _PEER) not in (0, peer):
            raise ValueError(f"flow {message.flow_id}: QP {message.source_qpn} is connected elsewhere")
        self._sender_rows.set(message.source_qpn, _PEER, peer)
        if self._qpn_of_peer is not None:
            self._qpn_of_peer[peer] = message.source_qpn
        if message.after:
            self.flow_ends.wait(message.after, message.delays_ns, _WaitingMessage(self, message))
        else:
            self._wire.start_at(message.ready_ns, _PendingMessage(self, message))

    def send_when_ready(self, message: OutgoingMessage) -> None:
        """Send a message, which no longer waits for other flows, at its `ready_ns`."""
        self._wire.wake_at(message.ready_ns, _PendingMessage(self, message))

    def expect(self, message: IncomingMessage) -> None:
        """Implement `Nic.expect_message`."""
        qpn, peer = message.destination_qpn, _peer(message.source_ip, message.source_qpn)
        if self._receiver_rows.get(qpn, _PEER) not in (0, peer):
            raise ValueError(f"flow {message.flow_id}: QP {qpn} belongs to another sender")
        self._receiver_rows.set(qpn, _PEER, peer)
        receiver = self._receivers.get(qpn)
        if receiver is None:
            receiver = self._add_receiver(qpn)
        receiver.expect(message)

    def start_message(self, message: OutgoingMessage, now_ns: int) -> None:
        """Start a message that is ready. An idle QP becomes active again, with new algorithm state."""
        sender = self._senders.get(message.source_qpn)
        if sender is None:
            next_index = self._sender_rows.get(message.source_qpn, _NEXT_INDEX)
            if next_index == _FAILED:
                self._fail([Transmission(message, 0, 0, 0)])
                return
            sender = self._senders[message.source_qpn] = self._new_sender(message, max(0, next_index - 1))
            _fill(self._sender_places, message.source_qpn)
            self._sender_places[message.source_qpn] = sender
            sender.on_class_pause(self.class_pause_end_ns, now_ns)
            if self._algorithms.flow_control.obeys_queue_pause:
                sender.on_queue_pause(self._queue_pause_ends_ns[queue_of_pair(message.source_qpn)], now_ns)
        sender.add_message(message, now_ns)

    def unfinished(self, now_ns: int) -> list[Transmission]:
        """Return the messages that have begun but are not completely acknowledged."""
        return [item for sender in self._senders.values() for item in sender.unfinished(now_ns)]

    def start(self, start_ns: int) -> None:
        """Implement `Nic.start`."""
        self._clock.start_ns = start_ns
        for receiver in self._receivers.values():
            receiver.restart_intervals()

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
        for qpn in sorted(self._receivers):
            self._receivers[qpn].end_interval()

    # lookup

    def sender(self, qpn: i64, peer_ip: int) -> SenderQueuePair | None:
        """Return the sender of a QP connected with that peer, or None if it has no unfinished messages."""
        places = self._sender_places
        sender = places[qpn] if qpn < len(places) else None
        return sender if sender is not None and sender.destination_ip == peer_ip else None

    def is_idle(self, qpn: int, peer_ip: int) -> bool:
        """Return whether this QP has sent to that peer and all its messages are done."""
        rows = self._sender_rows
        return rows.get(qpn, _NEXT_INDEX) != 0 and rows.get(qpn, _PEER) >> _QPN_BITS == peer_ip

    def receiver(self, qpn: i64, peer_ip: int) -> ReceiverQueuePair | None:
        """Return the receiver of a QP connected with that peer, or None. Pass it to `rest` when it has its packet."""
        places = self._receiver_places
        receiver = places[qpn] if qpn < len(places) else None
        if receiver is not None:
            return receiver if receiver.source_ip == peer_ip else None
        peer = self._receiver_rows.get(qpn, _PEER)
        if not peer or peer >> _QPN_BITS != peer_ip:
            return None
        return self._add_receiver(qpn)

    def towards(self, peer_ip: int, peer_qpn: int, port: int) -> SenderQueuePair | IdleSender | None:
        """Return the sender, active or idle, that sends to that QP of that peer from that UDP port, or None.

        With a load balancing that changes the port, the port is not compared.
        """
        peer, rows = _peer(peer_ip, peer_qpn), self._sender_rows
        if self._qpn_of_peer is not None:
            qpn = self._qpn_of_peer.get(peer)
            return None if qpn is None else self._known(qpn)
        for qpn in range(port & ROCE_SOURCE_PORT_QPN_MASK, rows.end, ROCE_SOURCE_PORT_QPN_MASK + 1):
            if rows.get(qpn, _PEER) == peer and port == source_port(qpn):
                return self._known(qpn)
        return None

    def _known(self, qpn: int) -> SenderQueuePair | IdleSender | None:
        """Return the sender with this number, active or idle; None if it has not sent yet."""
        sender, rows = self._senders.get(qpn), self._sender_rows
        if sender is not None:
            return sender
        return IdleSender(rows.get(qpn, _FLOW_ID)) if rows.get(qpn, _NEXT_INDEX) else None

    def from_port(self, peer_ip: int, port: int) -> list[SenderQueuePair | IdleSender]:
        """Return the senders, active and idle, that send to that peer from that UDP port.

        With a load balancing that changes the port, any of the peer's senders may have used it.
        """
        rows, is_any = self._sender_rows, self._qpn_of_peer is not None
        first, step = (1, 1) if is_any else (port & ROCE_SOURCE_PORT_QPN_MASK, ROCE_SOURCE_PORT_QPN_MASK + 1)
        senders: list[SenderQueuePair | IdleSender] = []
        for qpn in range(first, rows.end, step):
            if rows.get(qpn, _PEER) >> _QPN_BITS == peer_ip and (is_any or port == source_port(qpn)):
                sender = self._known(qpn)
                if sender is not None:
                    senders.append(sender)
        return senders

    # pauses and retirement

    def pause_class(self, end_ns: int, now_ns: int) -> None:
        """Set the end of the data class's 802.1Qbb pause; an end in the past means that the class is resumed."""
        self.class_pause_end_ns = end_ns
        if self._acks_are_data:
            self._wire.control_pause_end_ns = end_ns
        for sender in self._senders.values():
            sender.on_class_pause(end_ns, now_ns)

    def pause_queue(self, queue: int, end_ns: int, now_ns: int) -> None:
        """Set the end of the pause of one of the NIC's queues; an end in the past means that the queue is resumed."""
        self._queue_pause_ends_ns[queue] = end_ns
        if queue == 0:
            if self._acks_are_data:
                self._wire.control_pause_end_ns = end_ns
            return
        for qpn in range(queue, self._sender_rows.end, QUEUE_NUMBERS - 1):
            sender = self._senders.get(qpn)
            if sender is not None:
                sender.on_queue_pause(end_ns, now_ns)

    def retire(self, sender: SenderQueuePair, *, has_failed: bool = False) -> None:
        """Retire a sender whose messages are all done; only its packet numbering and last flow are kept.

        A sender that `has_failed` gave up (TransportSettings.retry_limit) and accepts no further message. This
        corresponds to a QP in IBTA's error state.
        """
        self._wire.forget(sender)
        qpn = sender.source_qpn
        del self._senders[qpn]
        self._sender_places[qpn] = None
        self._sender_rows.set(qpn, _NEXT_INDEX, _FAILED if has_failed else sender.next_index + 1)
        self._sender_rows.set(qpn, _FLOW_ID, sender.flow_id)

    def rest(self, receiver: ReceiverQueuePair) -> None:
        """Retire a receiver whose messages are all complete; what it needs to answer duplicates is kept."""
        qpn, rows = receiver.destination_qpn, self._receiver_rows
        del self._receivers[qpn]
        self._receiver_places[qpn] = None
        for column, number in enumerate(receiver.numbers(), start=_FIRST_OF_RECEIVER):
            rows.set(qpn, column, number)

    def _give_up(self, sender: SenderQueuePair, now_ns: int) -> None:
        """Fail all messages of a sender whose peer does not answer, or only with impossible acknowledgements."""
        self._fail(sender.unfinished(now_ns))
        self.retire(sender, has_failed=True)
        sender.abandon()

    def _fail(self, given_up: list[Transmission]) -> None:
        self._counters.messages_failed += len(given_up)
        for item in given_up:
            item.gave_up = True
        self._events.extend(given_up)

    # creation

    def _new_sender(self, message: OutgoingMessage, first_index: int) -> SenderQueuePair:
        algorithms, interval_ns = self._algorithms, self._settings.cc_trace_ns
        congestion = algorithms.new_congestion()
        return SenderQueuePair(
            message,
            framer=self._maker.make(
                message.source_qpn,
                message.destination_ip,
                message.destination_qpn,
                self._data_tos,
                queue_of_pair(message.source_qpn) if algorithms.flow_control.obeys_queue_pause else 0,
            ),
            shift=self.shift,
            recovery=algorithms.new_recovery(first_index),
            congestion=congestion,
            flow_control=algorithms.new_flow_control(),
            load_balancing=algorithms.new_load_balancing(
                message.source_qpn & ROCE_SOURCE_PORT_QPN_MASK,
                self._address.ip + (message.source_qpn << _SEED_BITS),
            ),
            trace=CongestionTrace(congestion, interval_ns, self._events.append) if interval_ns else None,
            obeys_marks=self._settings.congestion_notice == "acknowledgement",
            ack_every=self._settings.ack_every,
            stored_payload_bytes=self._stored_payload_bytes,
            retry_limit=self._settings.retry_limit,
            scheduler=self._wire,
            counters=self._counters,
            events=self._events,
            flow_ends=self.flow_ends,
            clock=self._clock,
            give_up=self._give_up,
        )

    def _add_receiver(self, qpn: int) -> ReceiverQueuePair:
        receiver = self._receivers[qpn] = self._new_receiver(qpn)
        _fill(self._receiver_places, qpn)
        self._receiver_places[qpn] = receiver
        return receiver

    def _new_receiver(self, qpn: int) -> ReceiverQueuePair:
        """Return the receiver of a QP whose peer is known, with the numbers that it had when it was retired."""
        rows = self._receiver_rows
        peer = rows.get(qpn, _PEER)
        receiver = ReceiverQueuePair(
            peer >> _QPN_BITS,
            peer & QPN_MASK,
            qpn,
            order=self._algorithms.new_order(),
            pacer=self._pacer if self._algorithms.loss_recovery.is_pulled else None,
            maker=self._maker,
            shift=self.shift,
            sends_cnps=self._settings.congestion_notice == "cnp",
            cnp_interval_ns=self._settings.cnp_interval_ns,
            goodput_interval_ns=self._settings.goodput_interval_ns,
            clock=self._clock,
            verify=self._settings.verify,
            wire=self._wire,
            counters=self._counters,
            events=self._events,
            flow_ends=self.flow_ends,
        )
        if rows.get(qpn, _FIRST_OF_RECEIVER):
            receiver.resume(*(rows.get(qpn, column) for column in range(_FIRST_OF_RECEIVER, _RECEIVER_COLUMNS)))
        return receiver
