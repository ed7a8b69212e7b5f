# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The receiving half of a queue pair, which turns data packets into verified messages and answers them.

The answers are ACKs, NAKs, CNPs and pulls. The PacketOrder of the loss recovery decides how to handle a gap.
"""

from collections import deque
from typing import Final

from isal.isal_zlib import crc32
from mypy_extensions import i64

from sfc_testbed.hosts.transport.counters import NicCounters
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER, Arrival, PacketOrder
from sfc_testbed.hosts.transport.messages import Goodput, IncomingMessage, MessageReceived, NicAddress
from sfc_testbed.hosts.transport.model_clock import ModelClock
from sfc_testbed.hosts.transport.reports import Event
from sfc_testbed.hosts.transport.scheduling.ended_flows import EndedFlows
from sfc_testbed.hosts.transport.scheduling.pull_pacer import PullPacer, PullQueue
from sfc_testbed.hosts.transport.scheduling.wire_schedule import WireSchedule
from sfc_testbed.telemetry.figures import ReceiverFigures
from sfc_testbed.wire import int_header
from sfc_testbed.wire.constants import BOLT_INC, BTH_FLAGS_MASK, DSCP_CONTROL, PSN_MASK
from sfc_testbed.wire.crc import CrcShift
from sfc_testbed.wire.queue_pause import with_queue
from sfc_testbed.wire.roce.decoder import RoceHeader
from sfc_testbed.wire.roce.framer import RoceFramer
from sfc_testbed.wire.roce.packets import (
    ACK_REQUEST,
    ACKNOWLEDGE,
    CNP,
    CNP_RESERVED,
    IMMEDIATE_BYTES,
    PULL,
    SENT_AGAIN,
    Syndrome,
    data_frame_bytes,
    ends_message,
    has_immediate,
    nearest_index,
    pack_aeth,
    pack_selective,
)
from sfc_testbed.wire.units import NS_PER_US

_ZERO_PSN: Final = bytes(4)
_ACK_AETH: Final = Syndrome.ACK << 24
_MSN_MASK: Final = 0xFFFFFF
_IN_ORDER: Final = Arrival.IN_ORDER
_DUPLICATE: Final = Arrival.DUPLICATE
_NEGATIVE: Final = Arrival.NEGATIVE
_EARLY: Final = Arrival.EARLY


class FramerMaker:
    """A factory of the framers of one NIC's queue pairs."""

    __slots__ = ("_address", "ack_dscp")

    def __init__(self, address: NicAddress, ack_dscp: int) -> None:
        self._address = address
        self.ack_dscp = ack_dscp
        """DSCP of ACKs, NAKs and pulls."""

    def make(self, source_qpn: int, destination_ip: int, destination_qpn: int, tos: int, queue: int = 0) -> RoceFramer:
        """Return a framer for packets between two queue pairs, with this TOS byte, from this queue of the NIC."""
        return RoceFramer(
            destination_mac=self._address.gateway_mac,
            source_mac=with_queue(self._address.mac, queue),
            source_ip=self._address.ip,
            destination_ip=destination_ip,
            source_qpn=source_qpn,
            destination_qpn=destination_qpn,
            tos=tos,
        )


class ReceiverQueuePair(PullQueue):
    """A receiver of the packets of one sender, which orders them, assembles the messages and sends the answers."""

    __slots__ = (
        "_bytes", "_clock", "_cnp_interval_ns", "_counters", "_crc", "_distance_max", "_distance_sum", "_end",
        "_events", "_expected", "_flow_ends", "_framer", "_highest", "_increments", "_interval_bytes",
        "_interval_end_ns", "_interval_ns", "_maker", "_messages_done", "_next_cnp_ns", "_order", "_owes_mark",
        "_pacer", "_reordered_packets", "_shift", "_undelivered_bytes", "_verify", "_wire",
        "destination_qpn", "echoed_port", "is_done", "source_ip", "source_qpn",
    )  # fmt: skip

    def __init__(
        self,
        source_ip: int,
        source_qpn: int,
        destination_qpn: int,
        *,
        order: PacketOrder,
        pacer: PullPacer | None,
        maker: FramerMaker,
        shift: CrcShift,
        sends_cnps: bool,
        cnp_interval_ns: int,
        goodput_interval_ns: int,
        clock: ModelClock,
        verify: bool,
        wire: WireSchedule,
        counters: NicCounters,
        events: deque[Event],
        flow_ends: EndedFlows,
    ) -> None:
        """Create a receiver without expected messages.

        `pacer` sends the pulls and is None unless the loss recovery is pulled; `maker` makes the framers of answers;
        `shift` is that of a full packet. Goodput intervals count from the start of `clock`.
        """
        super().__init__()
        self.source_ip = source_ip
        self.source_qpn = source_qpn
        self._order = order
        self.echoed_port: i64 = -1
        """The UDP source port of the latest data packet, which answers echo; -1 if they do not."""
        self._pacer = pacer
        self._end = order.expected
        self.destination_qpn = destination_qpn
        self._maker = maker
        self._shift = shift
        self._framer: RoceFramer | None = None
        self._cnp_interval_ns = cnp_interval_ns
        self._verify = verify
        self._wire = wire
        self._counters = counters
        self._events = events
        self._flow_ends = flow_ends
        self._expected: deque[IncomingMessage] = deque()
        self._messages_done = 0
        self._crc = self._bytes = self._undelivered_bytes = 0
        self._highest: i64 = -1  # of the packets that arrived before an earlier one
        self._reordered_packets = self._distance_sum = 0
        self._distance_max: i64 = 0
        self._next_cnp_ns: int = 0 if sends_cnps else NEVER
        self._owes_mark = False
        self._increments = 0
        self._interval_ns = goodput_interval_ns
        self._clock = clock
        self._interval_end_ns = clock.start_ns
        self._interval_bytes = 0
        self.is_done = False
        """Whether all expected messages are complete, so that `numbers` is all that must be kept."""

    def numbers(self) -> tuple[int, int, int]:
        """Return what a receiver that `is_done` needs to continue, as integers of 63 bits; the first is not 0."""
        counts = (self._messages_done & _MSN_MASK) << 25 | (self.pulls_sent & _MSN_MASK) << 1 | self._owes_mark
        return self._end, counts, self._next_cnp_ns

    def resume(self, end: int, counts: int, next_cnp_ns: int) -> None:
        """Continue, as a new receiver, where the receiver with these `numbers` was."""
        self._end = self._order.expected = end
        self._messages_done, self.pulls_sent = counts >> 25, counts >> 1 & _MSN_MASK
        self._owes_mark = bool(counts & 1)
        self._next_cnp_ns = next_cnp_ns
        self.is_done = True

    def expect(self, message: IncomingMessage) -> None:
        """Expect another message on this queue pair."""
        self._expected.append(message)
        self.is_done = False
        self._end += -(-message.size_bytes // self._shift.size_bytes)
        self._undelivered_bytes += message.size_bytes

    def restart_intervals(self) -> None:
        """Start the goodput intervals at model time 0. Must be called before the first data packet arrives."""
        self._interval_end_ns = self._clock.start_ns

    def end_interval(self) -> None:
        """Queue the goodput event of an unfinished message for the current interval."""
        if self._interval_bytes and self._expected:
            self._events.append(self._goodput())

    def on_data(self, header: RoceHeader, word: i64, body: bytes, body_crc: int, shim: bytes, now_ns: int) -> None:
        """Handle a data packet with a correct ICRC.

        `word` is its AckReq bit and PSN. `shim` is its telemetry or empty. `body_crc` is the CRC-32 of a full payload,
        whose bytes are then not needed, or -1.
        """
        if len(shim):
            shim = int_header.echo(shim, now_ns // NS_PER_US)
        order = self._order
        index: int = nearest_index(word, order.expected)
        opcode = header.opcode
        marked = header.congestion_experienced
        if marked and now_ns >= self._next_cnp_ns:
            self._next_cnp_ns = now_ns + self._cnp_interval_ns
            self._send_cnp()
        marked = marked or self._owes_mark
        self._owes_mark = marked
        if header.flags & BOLT_INC:
            self._increments = min(self._increments + 1, BTH_FLAGS_MASK)
        arrival = order.on_packet(index, opcode, body, body_crc, now_ns)
        if arrival is _IN_ORDER:
            if index < self._highest:
                self._count_reordered(index, word)
            self._deliver(opcode, body, body_crc, now_ns)
            self._deliver_held(now_ns)
            if word & ACK_REQUEST:
                self._send_ack(marked, shim)
        elif arrival is _DUPLICATE:
            self._counters.duplicates_received += 1
            if order.expected:
                self._send_ack(marked, shim)
        else:
            self._answer_out_of_order(arrival, index, word, marked, shim)
        if self._pacer is not None:
            self._request_pull(self._pacer)

    def on_trimmed(self, psn: int) -> None:
        """Handle a trimmed data packet, which has headers but no payload."""
        order = self._order
        if self._pacer is None:
            return
        index: int = nearest_index(psn, order.expected)
        if order.has(index):
            self._send_ack(self._owes_mark, b"", pack_selective(index) if index > order.expected else b"")
        else:
            self._counters.naks_sent += 1
            body = pack_aeth(Syndrome.TRIMMED, self._messages_done)
            self._wire.send_control(self._answers().frame(ACKNOWLEDGE, psn.to_bytes(4, "big"), body))
        self._request_pull(self._pacer)

    def _request_pull(self, pacer: PullPacer) -> None:
        """Request a pull for a packet of the mean size of the packets that are not yet delivered."""
        packets = self._end - self._order.expected
        payload_bytes = self._undelivered_bytes // packets if packets > 0 else 0
        pacer.request(self, self._order.missing(self._end), data_frame_bytes(payload_bytes, is_last=False))

    def _count_reordered(self, index: i64, word: i64) -> None:
        """Count a packet that later ones have overtaken, unless it is a retransmission."""
        if word & SENT_AGAIN:
            return
        distance = self._highest - index
        self._reordered_packets += 1
        self._distance_sum += distance
        if distance > self._distance_max:
            self._distance_max = distance

    def _answer_out_of_order(self, arrival: Arrival, index: i64, word: i64, marked: bool, shim: bytes) -> None:
        self._counters.out_of_order_received += 1
        if index < self._highest:
            self._count_reordered(index, word)
        else:
            self._highest = index
        if arrival is _NEGATIVE:
            self._send_nak(index, marked, shim)
        elif arrival is _EARLY:
            self._send_ack(marked, shim, pack_selective(index))

    def _deliver_held(self, now_ns: int) -> None:
        """Deliver the packets behind a gap that has closed."""
        held = self._order.next_held()
        while held is not None:
            self._deliver(held[0], held[1], held[2], now_ns)
            held = self._order.next_held()

    def _deliver(self, opcode: i64, body: bytes, body_crc: int, now_ns: int) -> None:
        """Add a packet to the current message; `body_crc` is the CRC-32 of a full payload, or -1."""
        sent_crc = -1
        if has_immediate(opcode):
            sent_crc = int.from_bytes(body[:IMMEDIATE_BYTES], "big")
            body = body[IMMEDIATE_BYTES:]
            body_crc = -1
        size_bytes = len(body) if body_crc < 0 else int(self._shift.size_bytes)
        if self._verify:
            if body_crc >= 0:
                self._crc = self._shift.past(self._crc) ^ body_crc
            else:
                self._crc = crc32(body, self._crc)
        self._bytes += size_bytes
        self._undelivered_bytes -= size_bytes
        if now_ns > self._interval_end_ns:
            self._next_interval(now_ns)
        self._interval_bytes += size_bytes
        if ends_message(opcode):
            self._finish(sent_crc, now_ns)

    def _next_interval(self, now_ns: int) -> None:
        self.end_interval()
        self._interval_bytes = 0
        self._interval_end_ns -= (self._interval_end_ns - now_ns) // self._interval_ns * self._interval_ns

    def _goodput(self) -> Goodput:
        end_ns = self._interval_end_ns
        return Goodput(self._expected[0].flow_id, end_ns - self._interval_ns, end_ns, self._interval_bytes)

    def _finish(self, sent_crc: int, now_ns: int) -> None:
        counters = self._counters
        self._messages_done += 1
        counters.messages_received += 1
        if not self._expected:
            counters.messages_corrupted += 1
        else:
            last = self._goodput()
            message = self._expected.popleft()
            corrupted = self._bytes != message.size_bytes or (self._verify and sent_crc != self._crc)
            counters.messages_corrupted += corrupted
            received_us = self._clock.instant_us(now_ns)
            figures = self._with_reordering(ReceiverFigures(received_us=received_us, corrupted=corrupted))
            self._events.append(MessageReceived(message.flow_id, self._bytes, now_ns, figures, last))
            self._flow_ends.record_end(message.flow_id, now_ns)
        self._crc = 0
        self._bytes = 0
        self._interval_bytes = 0
        has_all = self._order.expected == self._end and self._order.missing(self._end + 1) == 1
        self.is_done = has_all and not self._expected

    def _with_reordering(self, figures: ReceiverFigures) -> ReceiverFigures:
        """Add the reordering of the message that has ended, and count anew for the next one."""
        packets = self._reordered_packets
        figures.packets_reordered = packets
        figures.reordering_max = int(self._distance_max)
        figures.reordering_mean = self._distance_sum / packets if packets else 0.0
        self._reordered_packets = self._distance_sum = 0
        self._distance_max = 0
        return figures

    def _answers(self) -> RoceFramer:
        """Return the framer of answers.

        It is not kept between messages, because a host may have thousands of finished queue pairs.
        """
        framer = self._framer
        if framer is None:
            tos = self._maker.ack_dscp << 2
            framer = self._maker.make(self.destination_qpn, self.source_ip, self.source_qpn, tos)
        self._framer = framer if self._expected else None
        if self.echoed_port >= 0:
            framer.set_source_port(self.echoed_port)
        return framer

    def _send_ack(self, marked: bool, shim: bytes, selective: bytes = b"") -> None:
        self._counters.acks_sent += 1
        self._owes_mark = False
        increments, self._increments = self._increments, 0
        psn = (self._order.expected - 1) & PSN_MASK
        aeth = _ACK_AETH | self._messages_done & _MSN_MASK
        answers = self._answers()
        if not len(selective):
            self._wire.send_control(answers.acknowledgement(psn, aeth, becn=marked, flags=increments, shim=shim))
            return
        words = psn.to_bytes(4, "big"), aeth.to_bytes(4, "big") + selective
        self._wire.send_control(answers.frame(ACKNOWLEDGE, *words, becn=marked, flags=increments, shim=shim))

    def _send_nak(self, index: int, marked: bool, shim: bytes) -> None:
        self._counters.naks_sent += 1
        self._owes_mark = False
        increments, self._increments = self._increments, 0
        psn_word = (self._order.expected & PSN_MASK).to_bytes(4, "big")
        body = pack_aeth(Syndrome.NAK_SEQUENCE_ERROR, self._messages_done)
        if self._order.selective:
            body += pack_selective(index)
        frame = self._answers().frame(ACKNOWLEDGE, psn_word, body, becn=marked, flags=increments, shim=shim)
        self._wire.send_control(frame)

    def pull_frame(self, number: int) -> bytes:
        self._counters.pulls_sent += 1
        return self._answers().frame(PULL, _ZERO_PSN, (number & _MSN_MASK).to_bytes(4, "big"))

    def _send_cnp(self) -> None:
        self._counters.cnps_sent += 1
        control_class = DSCP_CONTROL << 2  # CNPs are always in it
        framer = self._maker.make(self.destination_qpn, self.source_ip, self.source_qpn, control_class)
        self._wire.send_control(framer.frame(CNP, _ZERO_PSN, CNP_RESERVED, becn=True))
