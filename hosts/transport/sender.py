# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The sending half of a queue pair: messages into data packets, acknowledgements into progress.

Owns what every algorithm shares: packet numbering, in-flight accounting, RTT samples, pacing, the flow's pause. It
builds a frame when the NIC's scheduler asks for one; it does not know the wire's rate, other queue pairs or a clock.
"""

from collections import deque
from collections.abc import Callable
from zlib import crc32

from hosts.transport.congestion.base import AckSample, CongestionControl, HopTelemetry
from hosts.transport.counters import NicStatistics
from hosts.transport.flow_control.base import FlowControl
from hosts.transport.loss_recovery.base import NEVER, LossRecovery
from hosts.transport.messages import Event, MessageCompleted, OutgoingMessage, SendingReport, SendingState
from hosts.transport.payload import message_bytes
from hosts.transport.transmission import Transmission
from hosts.transport.wire_schedule import WireSchedule
from wire import int_header
from wire.bts import BackToSender
from wire.constants import PSN_MASK
from wire.roce import ACK_REQUEST, Opcode, RoceFramer, pack_immediate
from wire.units import NS_PER_S, NS_PER_US

_PSN_HALF = 1 << 23
_OPCODES = (
    (Opcode.SEND_FIRST, Opcode.SEND_MIDDLE),
    (Opcode.SEND_ONLY_WITH_IMMEDIATE, Opcode.SEND_LAST_WITH_IMMEDIATE),
)
"""[is the last packet][has packets before it]"""


def _overrides(plugin: object, base: type, hook: str) -> bool:
    return getattr(type(plugin), hook) is not getattr(base, hook)


class SenderQueuePair:
    """The messages of one flow, one packet after the other, as its three algorithms allow."""

    __slots__ = (
        "_ack_every", "_acked_bytes", "_blocked_until_ns", "_class_pause_end_ns", "_congestion", "_counters",
        "_current", "_end", "_events", "_flow_control", "_framer", "_fruitless_timeouts", "_give_up", "_pace",
        "_pause_start_ns", "_paused_before_ns", "_payload_bytes", "_recovery", "_retry_limit", "_samples_wanted",
        "_scheduler", "_sent_bytes", "_sent_ns", "_shim", "_stamped", "_tell_flow_control", "_tell_sent", "_timed",
        "_transmissions", "deficit", "destination_ip", "destination_qpn", "flow_id", "line_rate_bps", "pause_end_ns",
        "queued", "source_qpn", "wake_ns",
    )  # fmt: skip

    def __init__(
        self,
        first: OutgoingMessage,
        *,
        framer: RoceFramer,
        recovery: LossRecovery,
        congestion: CongestionControl,
        flow_control: FlowControl,
        ack_every: int,
        retry_limit: int,
        scheduler: WireSchedule,
        counters: NicStatistics,
        events: deque[Event],
        give_up: "Callable[[SenderQueuePair, int], None]",
    ) -> None:
        """Ready for `add_message`; `first` only names the peer. `give_up`: told, with the time, once nothing new was
        acknowledged in more than `retry_limit` timeouts in a row."""
        self.source_qpn, self.flow_id = first.source_qpn, first.flow_id
        self.destination_ip, self.destination_qpn = first.destination_ip, first.destination_qpn
        self._framer = framer
        self._recovery = recovery
        self._congestion = congestion
        self._flow_control = flow_control
        self._ack_every = ack_every
        self._retry_limit, self._fruitless_timeouts = retry_limit, 0
        self._give_up = give_up
        self._scheduler = scheduler
        self._counters = counters
        self._events = events
        self._payload_bytes = congestion.path.payload_bytes
        self.line_rate_bps = congestion.path.line_rate_bps
        self._tell_sent = _overrides(congestion, CongestionControl, "on_sent")
        self._tell_flow_control = _overrides(flow_control, FlowControl, "on_sent")
        self._timed = _overrides(congestion, CongestionControl, "next_timer_ns")
        self._samples_wanted = _overrides(congestion, CongestionControl, "on_ack") or _overrides(
            flow_control, FlowControl, "on_ack"
        )
        self._shim = int_header.request(telemetry=congestion.wants_telemetry, stamp_us=None)
        self._stamped = congestion.wants_delay or flow_control.wants_delay
        self._transmissions: deque[Transmission] = deque()
        self._current: Transmission | None = None
        self._sent_ns: dict[int, int] = {}
        self._end, self._sent_bytes, self._acked_bytes, self._pace = recovery.next_new, 0, 0, (0, 0)
        self.pause_end_ns = self._pause_start_ns = self._paused_before_ns = self._class_pause_end_ns = 0
        self.queued, self.deficit, self.wake_ns, self._blocked_until_ns = False, 0, NEVER, NEVER

    # what there is to send

    @property
    def is_active(self) -> bool:
        """Whether a message is unfinished."""
        return bool(self._transmissions)

    @property
    def next_index(self) -> int:
        """Index of the first packet of the next message; the queue pair's numbering goes on after idle times."""
        return self._end

    def add_message(self, message: OutgoingMessage, now_ns: int) -> None:
        """The message is ready to be pushed."""
        packets = -(-message.size_bytes // self._payload_bytes)
        if not self._transmissions:
            self.flow_id = message.flow_id
        self._transmissions.append(Transmission(message, self._end, packets, self.paused_ns(now_ns)))
        self._end += packets
        self.refresh(now_ns)

    def _sendable(self, now_ns: int) -> int:
        """Index of the packet that may be sent now, or -1; then `_blocked_until_ns` says when to look again."""
        self._blocked_until_ns = NEVER
        recovery = self._recovery
        index = recovery.next_packet()
        if index < 0 or index >= self._end:
            return -1
        if self.pause_end_ns > now_ns:
            self._blocked_until_ns = self.pause_end_ns
            return -1
        congestion = self._congestion
        if congestion.rate_bps != self.line_rate_bps:
            last_start_ns, last_bytes = self._pace
            next_ns = last_start_ns + last_bytes * 8 * NS_PER_S // congestion.rate_bps
            if next_ns > now_ns:
                self._blocked_until_ns = next_ns
                return -1
        in_flight = recovery.in_flight_before(index)
        if in_flight and in_flight * self._payload_bytes >= congestion.window_bytes:
            return -1
        return index

    def build_frame(self, now_ns: int) -> bytes | None:
        """The data frame that starts on the wire now; None if the flow may not send."""
        index = self._sendable(now_ns)
        if index < 0:
            return None
        current = self._current
        if current is None or not current.first <= index < current.end:
            current = self._current = next(item for item in self._transmissions if index < item.end)
        message = current.message
        counts = current.counts
        offset = (index - current.first) * self._payload_bytes
        is_last = index + 1 == current.end
        size = message.size_bytes - offset if is_last else self._payload_bytes
        body = message_bytes(message.flow_id, offset, size)
        recovery = self._recovery
        if index == recovery.next_new:
            current.crc = crc32(body, current.crc)
            self._sent_ns[index] = now_ns
            self._sent_bytes += size
        else:
            counts.packets_resent += 1
            counts.bytes_resent += size
            self._counters.retransmissions += 1
            self._sent_ns.pop(index, None)
        counts.packets_sent += 1
        self._counters.data_sent += 1
        recovery.held_ns = self.paused_ns(now_ns)
        recovery.on_sent(index, now_ns - recovery.held_ns)
        word = index & PSN_MASK
        if is_last or (index + 1) % self._ack_every == 0 or self._window_is_full():
            word |= ACK_REQUEST
        if is_last:
            body = pack_immediate(current.crc) + body
        shim = self._stamp(now_ns) if self._stamped else self._shim
        frame = self._framer.frame(_OPCODES[is_last][offset > 0], word.to_bytes(4, "big"), body, shim=shim)
        self._pace = (now_ns, len(frame))
        if self._tell_sent or self._tell_flow_control:
            self._tell_of_sending(size, now_ns)
        if self.wake_ns == NEVER:
            self.arm(now_ns)
        return frame

    def _tell_of_sending(self, size_bytes: int, now_ns: int) -> None:
        self._congestion.on_sent(size_bytes, now_ns)
        if self._tell_flow_control:
            self._flow_control.on_sent(size_bytes, now_ns)
            self.refresh_pause(now_ns)

    def _stamp(self, now_ns: int) -> bytes:
        return int_header.request(telemetry=self._congestion.wants_telemetry, stamp_us=now_ns // NS_PER_US)

    def _window_is_full(self) -> bool:
        return self._recovery.in_flight() * self._payload_bytes >= self._congestion.window_bytes

    # what the network says

    def on_acknowledge(
        self,
        psn: int,
        selective_psn: int,
        negative: bool,
        *,
        marked: bool,
        shim: bytes,
        arrival_ns: int,
        now_ns: int,
    ) -> bool:
        """An ACK or NAK arrived: every packet before `psn` is there. False if no receiver of what was sent can say so:
        it acknowledges what was never sent, or misses what it has.

        `shim`: the telemetry it echoes; `arrival_ns` dates RTT and completion, `now_ns` is the scheduler's time.
        """
        recovery = self._recovery
        before = recovery.cumulative
        cumulative = self._index_of(psn)
        selective = self._index_of(selective_psn) if selective_psn >= 0 else -1
        if not _is_possible(cumulative, selective, selective_psn >= 0, negative, recovery.next_new):
            return False
        if negative and self._transmissions:
            self._transmissions[0].counts.naks += 1
        if cumulative < before:
            if selective < before:
                return True
            cumulative, negative = before, False
        recovery.held_ns = self.paused_ns(now_ns)
        lost = recovery.on_ack(cumulative, selective, negative, now_ns - recovery.held_ns)
        cumulative = recovery.cumulative
        if cumulative > before:
            self._fruitless_timeouts = 0
        if self._samples_wanted:
            self._tell_sample(before, cumulative, selective, marked, shim, arrival_ns)
            self.refresh_pause(now_ns)
        for index in range(before, cumulative):
            self._sent_ns.pop(index, None)
        if lost:
            self._congestion.on_loss(lost * self._payload_bytes, now_ns)
        while self._transmissions and self._transmissions[0].end <= cumulative:
            self._complete(self._transmissions.popleft(), arrival_ns)
        self.refresh(now_ns)
        return True

    def on_congestion_notice(self, now_ns: int) -> None:
        """A CNP arrived."""
        self._congestion.on_congestion_notice(now_ns)
        self.refresh(now_ns)

    def on_class_pause(self, end_ns: int, now_ns: int) -> None:
        """An 802.1Qbb frame set the end of the data class's pause (in the past: resumed)."""
        self._class_pause_end_ns = end_ns
        self.refresh_pause(now_ns)
        self.refresh(now_ns)

    def on_signal(self, signal: BackToSender, arrival_ns: int, now_ns: int) -> int:
        """A BTS for this flow arrived; returns the pause end it led to."""
        self._flow_control.on_signal(signal, arrival_ns)
        self.refresh_pause(now_ns)
        self.refresh(now_ns)
        return self._flow_control.earliest_send_ns(arrival_ns)

    def on_wake(self, now_ns: int) -> None:
        """A time asked for by `wake_at` has come; only while a message is unfinished."""
        recovery = self._recovery
        flow_now_ns = now_ns - self.paused_ns(now_ns)
        if recovery.deadline_ns <= flow_now_ns and self.pause_end_ns <= now_ns:
            self._transmissions[0].counts.timeouts += 1
            self._counters.timeouts += 1
            self._fruitless_timeouts += 1
            if self._fruitless_timeouts > self._retry_limit:
                self._give_up(self, now_ns)
                return
            lost = recovery.on_timer(flow_now_ns)
            if lost:
                self._congestion.on_loss(lost * self._payload_bytes, now_ns)
        if self._timed:
            timer_ns = self._congestion.next_timer_ns()
            if timer_ns is not None and timer_ns <= now_ns:
                self._congestion.on_timer(now_ns)
        self.refresh(now_ns)

    def _index_of(self, psn: int) -> int:
        """The index a 24-bit PSN stands for: the one nearest to the first unacknowledged packet."""
        base = self._recovery.cumulative
        distance = (psn - base) & PSN_MASK
        return base + (distance if distance < _PSN_HALF else distance - PSN_MASK - 1)

    def _tell_sample(
        self, before: int, cumulative: int, selective: int, marked: bool, shim: bytes, now_ns: int
    ) -> None:
        sent_ns = self._sent_ns.pop(selective if selective >= 0 else cumulative - 1, None)
        acked_bytes = self._bytes_until(before, cumulative)
        self._acked_bytes += acked_bytes
        delay_ns, hops = _decode(shim) if shim else (None, ())
        sample = AckSample(
            acked_bytes=acked_bytes,
            in_flight_bytes=self._recovery.in_flight() * self._payload_bytes,
            rtt_ns=None if sent_ns is None else now_ns - sent_ns,
            ecn_marked=marked,
            one_way_delay_ns=delay_ns,
            hops=hops,
            cumulative_bytes=self._acked_bytes,
            sent_bytes=self._sent_bytes,
        )
        self._congestion.on_ack(sample, now_ns)
        self._flow_control.on_ack(sample, now_ns)

    def _bytes_until(self, first: int, end: int) -> int:
        """Payload bytes of packets first..end-1, all of unfinished messages."""
        total = (end - first) * self._payload_bytes
        for item in self._transmissions:
            if item.end > end:
                break
            total -= (item.end - item.first) * self._payload_bytes - item.message.size_bytes
        return total

    def _complete(self, done: Transmission, now_ns: int) -> None:
        self._counters.messages_completed += 1
        if self._transmissions:
            self.flow_id = self._transmissions[0].message.flow_id
        self._events.append(MessageCompleted(done.report(self.paused_ns(now_ns)), now_ns))

    def unfinished(self, now_ns: int) -> list[SendingReport]:
        """The life so far of every message that is not done."""
        paused_ns = self.paused_ns(now_ns)
        return [item.report(paused_ns) for item in self._transmissions]

    def abandon(self) -> None:
        """Forget every message; nothing more will be sent."""
        self._transmissions.clear()
        self._end, self.wake_ns = 0, NEVER

    def states(self, now_ns: int) -> list[SendingState]:
        """Where every message that is not done stands."""
        paused_ns = self.paused_ns(now_ns)
        acknowledged = self._recovery.cumulative
        return [
            SendingState(
                report=item.report(paused_ns),
                acknowledged_bytes=max(0, acknowledged - item.first) * self._payload_bytes,
                in_flight_bytes=self._recovery.in_flight() * self._payload_bytes,
                paused_until_ns=self.pause_end_ns,
                window_bytes=self._congestion.window_bytes,
                rate_bps=self._congestion.rate_bps,
            )
            for item in self._transmissions
        ]

    # pause and timers

    def paused_ns(self, now_ns: int) -> int:
        """Time this queue pair has been paused so far, in total."""
        return self._paused_before_ns + min(now_ns, self.pause_end_ns) - self._pause_start_ns

    def refresh_pause(self, now_ns: int) -> None:
        """Ask flow control anew until when the flow must wait; the new end replaces the old one."""
        end_ns = max(self._flow_control.earliest_send_ns(now_ns), self._class_pause_end_ns)
        if end_ns == self.pause_end_ns or max(end_ns, self.pause_end_ns) <= now_ns:
            return
        self._paused_before_ns = self.paused_ns(now_ns)
        self._pause_start_ns = now_ns
        self.pause_end_ns = max(now_ns, end_ns)

    def refresh(self, now_ns: int) -> None:
        """After any change: join the round if there is something to send, and set the timer."""
        if not self.queued and self._transmissions and self._sendable(now_ns) >= 0:
            self._scheduler.enqueue(self)
        self.arm(now_ns)

    def arm(self, now_ns: int) -> None:
        """Ask to be woken at the earliest of: end of the pause or pace, retransmission timeout, algorithm's timer."""
        if not self._transmissions:
            return
        earliest = NEVER if self.queued else self._blocked_until_ns
        deadline_ns = self._recovery.deadline_ns
        if deadline_ns != NEVER:
            remaining_ns = max(0, deadline_ns - (now_ns - self.paused_ns(now_ns)))
            earliest = min(earliest, max(now_ns, self.pause_end_ns) + remaining_ns)
        if self._timed:
            timer_ns = self._congestion.next_timer_ns()
            if timer_ns is not None and timer_ns < earliest:
                earliest = timer_ns
        if earliest < self.wake_ns:
            self.wake_ns = earliest
            self._scheduler.wake_at(earliest, self)


def _is_possible(cumulative: int, selective: int, is_selective: bool, negative: bool, next_new: int) -> bool:
    """Whether a receiver can say so that was sent packets 0..next_new-1: a NAK misses one of them, and tells of a later
    one if it is selective."""
    if cumulative < 0 or cumulative > next_new - negative:
        return False
    return not is_selective or (negative and cumulative < selective < next_new)


def _decode(shim: bytes) -> tuple[int | None, tuple[HopTelemetry, ...]]:
    """What an echo tells: the one-way delay (ns) if the packet was stamped, and the hops in the order of the path."""
    telemetry = int_header.unpack(shim)
    stamp = telemetry.stamp
    return None if stamp is None else stamp.tx_bytes * NS_PER_US, tuple(
        HopTelemetry(hop.rate_kbps * 1000, hop.time_us * NS_PER_US, hop.tx_bytes, hop.queue_bytes)
        for hop in reversed(telemetry.hops)
    )
