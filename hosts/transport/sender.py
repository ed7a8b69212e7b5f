# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The sending half of a queue pair, which turns messages into data packets and handles acknowledgements.

It owns the functions that all algorithms share: packet numbering, in-flight accounting, RTT samples, pacing and the
flow's pause. It builds a frame when the NIC's scheduler asks for one. It does not know other queue pairs or a clock.
"""

from collections import deque
from collections.abc import Callable

from isal.isal_zlib import crc32
from mypy_extensions import i64

from sfc_testbed.hosts.transport.congestion.base import AckSample, CongestionControl, overrides
from sfc_testbed.hosts.transport.congestion.samples import samples_for
from sfc_testbed.hosts.transport.congestion.trace import CongestionTrace
from sfc_testbed.hosts.transport.counters import NicCounters
from sfc_testbed.hosts.transport.flow_control.base import FlowControl
from sfc_testbed.hosts.transport.load_balancing.base import LoadBalancing
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER, LossRecovery, is_possible
from sfc_testbed.hosts.transport.messages import OutgoingMessage
from sfc_testbed.hosts.transport.model_clock import ModelClock
from sfc_testbed.hosts.transport.pacing import Pacing
from sfc_testbed.hosts.transport.reports import Event, SendingState
from sfc_testbed.hosts.transport.scheduling.ended_flows import EndedFlows
from sfc_testbed.hosts.transport.scheduling.wire_schedule import FrameSource, WireSchedule
from sfc_testbed.hosts.transport.transmission import (
    Transmission,
    bytes_between,
    message_bytes,
    message_crc,
    payload_tail,
)
from sfc_testbed.wire import int_header
from sfc_testbed.wire.bts import BackToSender
from sfc_testbed.wire.constants import PSN_MASK, ROCE_SOURCE_PORT_BASE, ROCE_SOURCE_PORT_QPN_MASK, BtsCause
from sfc_testbed.wire.crc import CrcShift
from sfc_testbed.wire.roce.framer import RoceFramer
from sfc_testbed.wire.roce.packets import ACK_REQUEST, SENT_AGAIN, data_opcode, nearest_index, pack_immediate
from sfc_testbed.wire.tail import tail_bytes
from sfc_testbed.wire.units import NS_PER_US


class FlowPause:
    """The pauses of one queue pair. A new end replaces the old one, even if the old one is later."""

    __slots__ = ("_before_ns", "_start_ns", "class_end_ns", "end_ns")

    def __init__(self) -> None:
        self.end_ns: i64 = 0
        self._start_ns: i64 = 0
        self._before_ns: i64 = 0
        self.class_end_ns: i64 = 0
        """End of the pause of the flow's traffic class, which the flow control does not know."""

    def total_ns(self, now_ns: i64) -> i64:
        """Return the total time for which the flow has been paused so far."""
        return self._before_ns - self._start_ns + (now_ns if now_ns < self.end_ns else self.end_ns)

    def set_end(self, flow_end_ns: i64, now_ns: i64) -> None:
        """Set the pause end to the one of the flow control or of the class, whichever is later."""
        end_ns = flow_end_ns if flow_end_ns > self.class_end_ns else self.class_end_ns
        if end_ns == self.end_ns or (end_ns <= now_ns and self.end_ns <= now_ns):
            return
        self._before_ns = self.total_ns(now_ns)
        self._start_ns = now_ns
        self.end_ns = now_ns if now_ns > end_ns else end_ns


class SenderQueuePair(FrameSource):
    """A sender of the messages of one queue pair, controlled by its algorithms."""

    __slots__ = (
        "_ack_every", "_balancing", "_blocked_until_ns", "_clock", "_congestion", "_consecutive_timeouts", "_counters",
        "_current", "_end", "_events", "_first_end", "_flow_control", "_flow_ends", "_framer", "_give_up",
        "_has_flags", "_has_stamps", "_has_timer", "_is_pulled", "_notifies_congestion", "_notifies_flow_control",
        "_pacing", "_pause", "_payload_bytes", "_recovery", "_resend_waits", "_retry_limit", "_samples", "_scheduler",
        "_shift", "_shim", "_smallest_window", "_stored_bytes", "_timeout_end", "_trace", "_transmissions",
        "destination_ip", "flow_id", "line_rate_bps", "obeys_marks", "source_qpn",
    )  # fmt: skip

    def __init__(
        self,
        first: OutgoingMessage,
        *,
        framer: RoceFramer,
        shift: CrcShift,
        recovery: LossRecovery,
        congestion: CongestionControl,
        flow_control: FlowControl,
        load_balancing: LoadBalancing | None,
        obeys_marks: bool,
        ack_every: int,
        stored_payload_bytes: int,
        retry_limit: int,
        scheduler: WireSchedule,
        counters: NicCounters,
        events: deque[Event],
        flow_ends: EndedFlows,
        clock: ModelClock,
        trace: CongestionTrace | None,
        give_up: "Callable[[SenderQueuePair, int], None]",
    ) -> None:
        """Create a queue pair without messages; `first` only names the peer.

        With `obeys_marks`, a marked ACK counts as a congestion notice, as a CNP does. Frames store the first
        `stored_payload_bytes` of a full payload. Without a `load_balancing`, all packets have one entropy. `give_up` is
        called with the time after more than `retry_limit` timeouts in a row without new acknowledgements.
        """
        super().__init__()
        self.source_qpn: int = first.source_qpn
        self.flow_id: int = first.flow_id
        self.destination_ip: int = first.destination_ip
        self._shift = shift
        self._framer = framer
        self._recovery = recovery
        self._is_pulled: bool = recovery.is_pulled
        self._congestion = congestion
        self._flow_control, self._balancing = flow_control, load_balancing
        self._ack_every = ack_every
        self._retry_limit, self._give_up = retry_limit, give_up
        self._consecutive_timeouts = self._timeout_end = 0
        self._resend_waits = False  # whether nothing has been sent since the latest timeout
        self._scheduler = scheduler
        self._counters = counters
        self._events = events
        self._flow_ends, self._clock = flow_ends, clock
        self._payload_bytes = congestion.path.payload_bytes
        self.line_rate_bps = congestion.path.line_rate_bps
        self._stored_bytes: i64 = stored_payload_bytes
        self._smallest_window: int = min(congestion.path.payload_bytes, congestion.path.bdp_bytes)
        self._notifies_congestion = overrides(congestion, CongestionControl, "on_sent")
        self._notifies_flow_control = overrides(flow_control, FlowControl, "on_sent")
        self._has_flags = overrides(congestion, CongestionControl, "data_flags")
        self._has_timer = overrides(congestion, CongestionControl, "next_timer_ns")
        self.obeys_marks: bool = obeys_marks and overrides(congestion, CongestionControl, "on_congestion_notice")
        self._trace = trace
        uses_acks = overrides(congestion, CongestionControl, "on_ack") or overrides(flow_control, FlowControl, "on_ack")
        self._samples = samples_for(congestion) if uses_acks or trace is not None else None
        self._shim = self._request(None)
        self._has_stamps = congestion.wants_delay or flow_control.wants_delay
        self._transmissions: deque[Transmission] = deque()
        self._current: Transmission | None = None
        self._first_end: int = NEVER  # without an unfinished message; otherwise the end of the first one
        self._end = recovery.next_new
        self._pacing, self._pause = Pacing(congestion), FlowPause()
        self._blocked_until_ns: i64 = NEVER

    # messages and packets to send

    @property
    def is_active(self) -> bool:
        """Whether a message is unfinished."""
        return self._first_end != NEVER

    @property
    def changes_entropy(self) -> bool:
        """Whether packets have different UDP source ports, which answers echo."""
        return self._balancing is not None

    @property
    def next_index(self) -> int:
        """Index of the first packet of the next message; numbering continues after idle times."""
        return self._end

    def add_message(self, message: OutgoingMessage, now_ns: int) -> None:
        """Add a message that is ready to be sent."""
        packets = -(-message.size_bytes // self._payload_bytes)
        if not self._transmissions:
            self.flow_id = message.flow_id
        self._transmissions.append(Transmission(message, self._end, packets, self._pause.total_ns(now_ns)))
        self._end += packets
        self._first_end = self._transmissions[0].end
        self.refresh(now_ns)

    def _sendable(self, now_ns: i64) -> int:
        """Return the index of the packet that may be sent now, or -1.

        For -1, `_blocked_until_ns` is set to the time at which to check again.
        """
        self._blocked_until_ns = NEVER
        recovery = self._recovery
        index = recovery.next_packet()
        if index < 0 or index >= self._end:
            return -1
        if self._pause.end_ns > now_ns:
            self._blocked_until_ns = self._pause.end_ns
            return -1
        next_ns = i64(self._pacing.next_start_ns())
        if next_ns > now_ns:
            self._blocked_until_ns = next_ns
            return -1
        in_flight = recovery.in_flight_before(index)
        if in_flight and in_flight * self._payload_bytes >= self._congestion.window_bytes:
            return -1
        return index

    def build_frame(self, now_ns: int) -> bytes | None:
        """Build the data frame that starts on the wire now; None if the flow may not send."""
        index = self._sendable(now_ns)
        if index < 0:
            return None
        current = self._transmission_of(index)
        offset = (index - current.first) * self._payload_bytes
        is_last = index + 1 == current.end
        size = current.size_bytes - offset if is_last else self._payload_bytes
        is_whole = is_last or self._stored_bytes == self._payload_bytes
        body = message_bytes(current.flow_id, offset, i64(size) if is_whole else self._stored_bytes)
        self.tail = i64(0) if is_whole else payload_tail(current.flow_id, offset, self._stored_bytes, self._shift)
        body_crc = i64(0) if is_last else message_crc(current.flow_id, offset, self._shift)
        recovery = self._recovery
        samples = self._samples
        word = index & PSN_MASK | (0 if index == recovery.next_new else SENT_AGAIN)
        if index == recovery.next_new:
            current.crc = crc32(body, current.crc) if is_last else int(self._shift.past(current.crc) ^ body_crc)
            if samples is not None:
                samples.sent(index, size, now_ns)
        else:
            self._count_resent(current, size, index, now_ns)
        self._count_sent(current)
        held_ns = int(self._pause.total_ns(now_ns))
        recovery.held_ns = current.paused_when_sent_ns = held_ns
        if self._balancing is not None:
            self._choose_path(self._balancing, index, now_ns)
        recovery.on_sent(index, now_ns - held_ns)
        word |= ACK_REQUEST if is_last or (index + 1) % self._ack_every == 0 or self._window_is_full() else 0
        opcode = data_opcode(is_first=offset == 0, is_last=is_last)
        shim = self._request(now_ns // NS_PER_US) if self._has_stamps else self._shim
        flags = self._congestion.data_flags((self._end - index) * self._payload_bytes) if self._has_flags else 0
        if is_last:
            psn_word = word.to_bytes(4, "big")
            frame = self._framer.frame(opcode, psn_word, pack_immediate(current.crc) + body, flags=flags, shim=shim)
        else:
            frame = self._framer.full_frame(opcode, word, body, body_crc, self._shift, shim, flags)
        self._pacing.on_sent(len(frame) + tail_bytes(self.tail), now_ns)
        if self._notifies_congestion or self._notifies_flow_control:
            self._notify_sent(size, now_ns)
        if self.wake_ns == NEVER:
            self.arm(now_ns)
        return frame

    def _transmission_of(self, index: int) -> Transmission:
        current = self._current
        if current is None or not current.first <= index < current.end:
            for current in self._transmissions:
                if index < current.end:
                    break
            self._current = current
        assert current is not None  # an index to send lies before the end of the last message
        return current

    def _choose_path(self, balancing: LoadBalancing, index: int, now_ns: int) -> None:
        entropy = balancing.entropy(index, self._recovery.in_flight(), now_ns)
        self._framer.set_source_port(ROCE_SOURCE_PORT_BASE | entropy & ROCE_SOURCE_PORT_QPN_MASK)

    def _count_sent(self, current: Transmission) -> None:
        """Count a sent packet, and count a small window unless the congestion control lowers the rate as well."""
        self._resend_waits = False
        current.figures.packets_sent += 1
        self._counters.data_sent += 1
        congestion = self._congestion
        if congestion.window_bytes < self._smallest_window and (
            congestion.window_bytes < 1 or congestion.rate_bps == self.line_rate_bps
        ):
            self._counters.small_window_packets += 1

    def _count_resent(self, current: Transmission, size_bytes: int, index: int, now_ns: int) -> None:
        figures = current.figures
        if self._samples is not None:
            self._samples.sent_again(index, now_ns)
        figures.packets_resent += 1
        figures.bytes_resent += size_bytes
        self._counters.retransmissions += 1
        if index < self._timeout_end:
            self._counters.resent_after_timeout += 1

    def _notify_sent(self, size_bytes: int, now_ns: int) -> None:
        self._congestion.on_sent(size_bytes, now_ns)
        if self._notifies_flow_control:
            self._flow_control.on_sent(size_bytes, now_ns)
            self._refresh_pause(now_ns)

    def _request(self, stamp_us: int | None) -> bytes:
        congestion = self._congestion
        layout = congestion.path.telemetry
        return int_header.request(
            telemetry=congestion.wants_telemetry,
            stamp_us=stamp_us,
            is_compact=layout.is_compact,
            names_path=layout.names_path,
        )

    def _window_is_full(self) -> bool:
        return self._recovery.in_flight() * self._payload_bytes >= self._congestion.window_bytes

    # signals from the network

    def on_acknowledge(
        self,
        psn: int,
        selective_psn: int,
        negative: bool,
        *,
        marked: bool,
        increments: int,
        shim: bytes,
        switches: int,
        arrival_ns: int,
        now_ns: int,
    ) -> bool:
        """Handle an ACK or NAK: every packet before `psn` has arrived.

        AckSample describes `marked`, `increments` and `switches`. `shim` is the echoed telemetry. `arrival_ns` is used
        for RTT and completion, `now_ns` is the scheduler's time. Returns False if a correct receiver cannot have
        sent it, for instance for a packet that was never sent.
        """
        recovery = self._recovery
        before = recovery.cumulative
        cumulative: int = nearest_index(psn, before)
        is_selective, next_new = selective_psn >= 0, recovery.next_new
        selective = int(nearest_index(selective_psn, before)) if is_selective else -1
        if not is_possible(cumulative, selective, is_selective, negative, next_new, is_pulled=self._is_pulled):
            return False
        if negative and self._first_end != NEVER:
            self._transmissions[0].figures.naks += 1
        if cumulative < before:
            if selective < before:
                return True
            cumulative, negative = before, False
        held_ns = int(self._pause.total_ns(now_ns))
        recovery.held_ns = held_ns
        lost = recovery.on_ack(cumulative, selective, negative, now_ns - held_ns)
        if lost:
            self._counters.loss_reports += 1
        cumulative = recovery.cumulative
        if cumulative > before:
            self._consecutive_timeouts = 0
            self._resend_waits = False
        if self._samples is not None:
            acked_bytes = self._bytes_between(before, cumulative)
            in_flight_bytes = recovery.in_flight() * self._payload_bytes
            sample = self._samples.take(
                cumulative, selective, acked_bytes, in_flight_bytes, marked, shim, arrival_ns, switches, increments
            )
            self._pass_sample(sample, arrival_ns)
            self._refresh_pause(now_ns)
        self._note_lost(lost, now_ns)
        if self._first_end <= cumulative:
            self._complete(cumulative, arrival_ns)
        self.refresh(now_ns)
        return True

    def _bytes_between(self, first: int, end: int) -> int:
        if end < self._first_end:
            return (end - first) * self._payload_bytes
        return bytes_between(self._transmissions, first, end, self._payload_bytes)

    def on_entropy(self, source_port: int, *, marked: bool, now_ns: int) -> None:
        """Handle the UDP source port that an ACK or NAK of this flow echoes, after `on_acknowledge`."""
        if self._balancing is not None:
            entropy = source_port & ROCE_SOURCE_PORT_QPN_MASK
            self._balancing.on_ack(entropy, marked, self._recovery.cumulative, now_ns)

    def on_trimmed(self, psn: int, *, is_returned: bool, now_ns: int) -> bool:
        """Handle a notice that a packet was trimmed, or the trimmed packet itself if it `is_returned`.

        Returns False if a correct receiver or switch cannot have sent it.
        """
        recovery = self._recovery
        index: int = nearest_index(psn, recovery.cumulative)
        if not 0 <= index < recovery.next_new or not (is_returned or self._is_pulled):
            return False
        if not is_returned:
            self._transmissions[0].figures.naks += 1
        recovery.held_ns = self._pause.total_ns(now_ns)
        flow_now_ns = now_ns - recovery.held_ns
        lost = recovery.on_returned(index, flow_now_ns) if is_returned else recovery.on_trimmed(index, flow_now_ns)
        self._note_lost(lost, now_ns)
        self.refresh(now_ns)
        return True

    def on_pull(self, number: int, now_ns: int) -> None:
        """Handle a pull, with which the receiver asks for a packet."""
        self._recovery.on_pull(number, now_ns - self._pause.total_ns(now_ns))
        self.refresh(now_ns)

    def on_congestion_notice(self, now_ns: int) -> None:
        """Handle a CNP, or an ACK that reports an ECN mark."""
        self._congestion.on_congestion_notice(now_ns)
        self.refresh(now_ns)

    def on_class_pause(self, end_ns: int, now_ns: int) -> None:
        """Set the end of the data class's 802.1Qbb pause; an end in the past means that the class is resumed."""
        self._pause.class_end_ns = end_ns
        self._refresh_pause(now_ns)
        self.refresh(now_ns)

    def on_queue_pause(self, end_ns: int, now_ns: int) -> None:
        """Handle a pause of the flow's queue of the NIC; an end in the past means that the queue is resumed."""
        self._flow_control.on_queue_pause(end_ns, now_ns)
        self._refresh_pause(now_ns)
        self.refresh(now_ns)

    def on_signal(self, signal: BackToSender, request_ns: int, arrival_ns: int, now_ns: int) -> int | None:
        """Handle a BTS for this flow. Returns the resulting pause end, or None if the BTS requested no pause.

        `request_ns` is the time that the BTS contains, in wall units.

        A pause that keeps nothing back, because all packets were sent, ends for the flow at its arrival.
        """
        if not signal.cause.requests_pause:
            self._pass_request(signal, request_ns, arrival_ns, now_ns)
            self.refresh(now_ns)
            return None
        self._flow_control.on_signal(signal, request_ns, arrival_ns)
        self._refresh_pause(now_ns)
        self.refresh(now_ns)
        return self._flow_control.earliest_send_ns(arrival_ns) if self._has_packets_before(self._end) else arrival_ns

    def _pass_request(self, signal: BackToSender, request_ns: int, arrival_ns: int, now_ns: int) -> None:
        """Pass a request that is no pause to the congestion control."""
        if signal.cause == BtsCause.FEEDBACK:
            self._congestion.on_feedback(signal.pause_us, now_ns)
        elif self._samples is not None:
            index: int = nearest_index(signal.psn, self._recovery.cumulative)
            elapsed_ns = self._samples.elapsed_ns(index, arrival_ns)
            self._congestion.on_sub_rtt(request_ns, elapsed_ns, now_ns)

    def on_wake(self, now_ns: int) -> None:
        """Handle the timers that are due; called only while a message is unfinished."""
        recovery = self._recovery
        flow_now_ns = now_ns - self._pause.total_ns(now_ns)
        is_due = recovery.deadline_ns <= flow_now_ns and self._pause.end_ns <= now_ns
        if is_due and not recovery.is_timeout(flow_now_ns):
            self._note_lost(recovery.on_check(flow_now_ns), now_ns)
        elif is_due and self._resend_waits:
            recovery.stop_timer()
        elif is_due:
            self._resend_waits = True
            self._transmissions[0].figures.timeouts += 1
            self._counters.timeouts += 1
            self._consecutive_timeouts += 1
            if self._consecutive_timeouts > self._retry_limit:
                self._give_up(self, now_ns)
                return
            self._timeout_end = recovery.next_new
            if self._balancing is not None:
                self._balancing.on_timeout(now_ns)
            self._note_lost(recovery.on_timer(flow_now_ns), now_ns)
        if self._has_timer:
            timer_ns = self._congestion.next_timer_ns()
            if timer_ns is not None and timer_ns <= now_ns:
                self._congestion.on_timer(now_ns)
        self.refresh(now_ns)

    def _note_lost(self, lost: int, now_ns: int) -> None:
        if lost:
            self._congestion.on_loss(lost * self._payload_bytes, now_ns)

    def _pass_sample(self, sample: AckSample, now_ns: int) -> None:
        self._congestion.on_ack(sample, now_ns)
        self._flow_control.on_ack(sample, now_ns)
        if self._trace is not None:
            self._trace.after_ack(self.flow_id, sample.rtt_ns, now_ns)

    def _complete(self, cumulative: int, now_ns: int) -> None:
        """Complete the messages whose packets all precede `cumulative`."""
        while self._first_end <= cumulative:
            completed = self._transmissions.popleft()
            self._first_end = self._transmissions[0].end if self._transmissions else NEVER
            self._counters.messages_completed += 1
            if self._transmissions:
                self.flow_id = self._transmissions[0].flow_id
            completed.set_pause(completed.paused_when_sent_ns, self._clock)
            completed.finish_ns = now_ns
            self._events.append(completed)
            self._flow_ends.record_end(completed.message.flow_id, now_ns)

    def unfinished(self, now_ns: int) -> list[Transmission]:
        """Return every unfinished message with its figures so far."""
        for item in self._transmissions:
            # a pause keeps nothing back once all packets of the message were sent
            is_kept_back = self._has_packets_before(item.end)
            item.set_pause(self._pause.total_ns(now_ns) if is_kept_back else item.paused_when_sent_ns, self._clock)
        return list(self._transmissions)

    def abandon(self) -> None:
        """Forget every message; nothing more will be sent."""
        self._transmissions.clear()
        self._end, self._first_end, self.wake_ns = 0, NEVER, NEVER

    def states(self, now_ns: int) -> list[SendingState]:
        """Return the state of every unfinished message."""
        acknowledged = self._recovery.cumulative
        return [
            SendingState(
                transmission=item,
                acknowledged_bytes=max(0, acknowledged - item.first) * self._payload_bytes,
                in_flight_bytes=self._recovery.in_flight() * self._payload_bytes,
                paused_until_ns=self._pause.end_ns if self._has_packets_before(item.end) else 0,
                window_bytes=self._congestion.window_bytes,
                rate_bps=self._congestion.rate_bps,
            )
            for item in self.unfinished(now_ns)
        ]

    def _has_packets_before(self, end: int) -> bool:
        """Whether a packet before index `end` is left to send, or to send again."""
        recovery = self._recovery
        return recovery.next_new < end or 0 <= recovery.next_packet() < end

    # pause and timers

    def _refresh_pause(self, now_ns: int) -> None:
        """Update the pause end from the flow control."""
        self._pause.set_end(self._flow_control.earliest_send_ns(now_ns), now_ns)

    def refresh(self, now_ns: int) -> None:
        """Join the scheduler's round if a packet can be sent, and set the timer. Called after every change."""
        if not self.queued and self._first_end != NEVER and self._sendable(now_ns) >= 0:
            self._scheduler.enqueue(self)
        self.arm(now_ns)

    def arm(self, now_ns: int) -> None:
        """Set the timer to the earliest of pause end, next paced packet, timeout and the algorithm's timer."""
        if self._first_end == NEVER:
            return
        earliest = i64(NEVER) if self.queued else self._blocked_until_ns
        deadline_ns = i64(self._recovery.deadline_ns)
        if deadline_ns != NEVER:
            timeout_ns = self._timeout_ns(deadline_ns, now_ns)
            if timeout_ns < earliest:
                earliest = timeout_ns
        if self._has_timer:
            timer_ns = self._congestion.next_timer_ns()
            if timer_ns is not None and timer_ns < earliest:
                earliest = timer_ns
        if earliest < self.wake_ns:
            self.wake_ns = earliest
            self._scheduler.wake_at(earliest, self)

    def _timeout_ns(self, deadline_ns: i64, now_ns: i64) -> i64:
        """Return the time of a deadline on the flow's clock, which stands still during a pause."""
        pause = self._pause
        remaining_ns = deadline_ns - (now_ns - pause.total_ns(now_ns))
        begin_ns = now_ns if now_ns > pause.end_ns else pause.end_ns
        return begin_ns + remaining_ns if remaining_ns > 0 else begin_ns
