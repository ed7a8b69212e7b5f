# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The NIC of one host, which exchanges frames with the network and messages and events with its caller.

The NIC does no I/O: `receive` takes a frame and its arrival time, and `frames_to_send` returns frames with their ideal
departure times. Before each input the NIC advances its schedule to the input's time, so a late caller delays only its
own calls. This module only dispatches; queue pairs, the wire schedule, program traffic and the algorithms have their
own files.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from isal.isal_zlib import crc32
from mypy_extensions import i64, mypyc_attr

from sfc_testbed.hosts.transport.algorithms import Algorithms
from sfc_testbed.hosts.transport.counters import NicCounters, SignalVerdict
from sfc_testbed.hosts.transport.messages import BtsReceived, IncomingMessage, NicAddress, OutgoingMessage
from sfc_testbed.hosts.transport.programs import FlowKey, ProgramFlow, ProgramTraffic
from sfc_testbed.hosts.transport.queue_pairs import IdleSender, QueuePairs
from sfc_testbed.hosts.transport.receive_buffer import DataPacket, ReceiveBuffer
from sfc_testbed.hosts.transport.reports import Event, NicState
from sfc_testbed.hosts.transport.scheduling.timers import Wakeable
from sfc_testbed.hosts.transport.scheduling.wire_schedule import WireSchedule
from sfc_testbed.hosts.transport.sender import SenderQueuePair
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import PAYLOAD_BLOCK, Transmission, payload_crc
from sfc_testbed.hosts.transport.trimmed_headers import TrimmedHeaders
from sfc_testbed.wire import bts, ethernet, ipv4, pfc, queue_pause, tcp_signal, udp
from sfc_testbed.wire.addresses import pack_mac
from sfc_testbed.wire.constants import (
    BTS_UDP_PORT,
    CLASS_CONTROL,
    CLASS_DATA,
    ETHERTYPE_IPV4,
    ETHERTYPE_MAC_CONTROL,
    INT_UDP_PORT,
    IP_PROTOCOL_TCP,
    IP_PROTOCOL_UDP,
    IPV4_TTL,
    PSN_MASK,
    QUEUE_PAUSE_QUANTA,
    ROCE_UDP_PORT,
    BtsCause,
)
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.int_header import has_telemetry, strip
from sfc_testbed.wire.roce.decoder import RoceDecoder, RoceHeader
from sfc_testbed.wire.roce.packets import (
    CNP,
    ICRC_BYTES,
    IP_OFFSET,
    PULL,
    TTL_OFFSET,
    UDP_OFFSET,
    data_frame_bytes,
)
from sfc_testbed.wire.tail import tail_bytes, whole_frame
from sfc_testbed.wire.words import half_word_at

_OWN_PORTS: Final = (ROCE_UDP_PORT, INT_UDP_PORT, BTS_UDP_PORT)

# Values of SignalVerdict as strings, which are faster to compare than members of an enumeration.
_OBEYED: Final = SignalVerdict.OBEYED.value
_FLOW_CONTROL_OFF: Final = SignalVerdict.FLOW_CONTROL_OFF.value
_UNKNOWN_FLOW: Final = SignalVerdict.UNKNOWN_FLOW.value
_FLOW_IDLE: Final = SignalVerdict.FLOW_IDLE.value


class _RateChange(Wakeable):
    """The change of a NIC's line rate at a time."""

    __slots__ = ("_algorithms", "_nic")

    def __init__(self, nic: "Nic", algorithms: Algorithms, time_ns: int) -> None:
        super().__init__()
        self._nic = nic
        self._algorithms = algorithms
        self.wake_ns = time_ns

    def on_wake(self, now_ns: int) -> None:
        """Change the rate."""
        self._nic.change_rate(self._algorithms)


@mypyc_attr(allow_interpreted_subclasses=True)
class Nic:
    """A host's NIC. All times are wall ns of one clock.

    Inputs of one kind (frames, messages, timers) must come in order of time. An input may be older than an input of
    another kind; the schedule is then already ahead of it and is not reverted.
    """

    def __init__(self, address: NicAddress, algorithms: Algorithms, *, epoch_ns: int = 0) -> None:
        """Create the NIC; NICs may share `algorithms`, and `epoch_ns` is the instant at which switch clocks start."""
        self.address = address
        self.programs: ProgramTraffic | None = None
        """Traffic of ordinary programs; None until `attach_programs` is called."""
        self._mac = pack_mac(address.mac)
        self._own_mac: int = address.mac
        self._ip: int = address.ip
        self._epoch_ns = epoch_ns
        self._tick_ns = bts.tick_ns(algorithms.dilation)
        self._algorithms = algorithms
        self._settings = wall = algorithms.wall
        self._verify: bool = wall.verify
        self._data_ports = {algorithms.data_port}
        self._line_rate_bps = algorithms.line_rate_bps
        self._wire = WireSchedule(wall.line_rate_bps, data_frame_bytes(wall.payload_bytes, is_last=False))
        self._decoder = RoceDecoder()
        self._counters = NicCounters()
        self._events: deque[Event] = deque()
        self._pairs = QueuePairs(address, wall, algorithms, self._wire, self._counters, self._events, epoch_ns)
        self._trimmed = TrimmedHeaders(self._pairs, self._wire, self._counters)
        self._receive_buffer: ReceiveBuffer | None = None
        if wall.receiver_rate_bps:
            self._receive_buffer = ReceiveBuffer(
                wall,
                mac=address.mac,
                sends_pauses=algorithms.flow_control.obeys_class_pause or algorithms.flow_control.obeys_queue_pause,
                wire=self._wire,
                counters=self._counters,
                deliver=self._deliver_late,
            )

    @property
    def wire_rate_bps(self) -> int:
        """Present line rate of the NIC, in wall units."""
        return self._wire.rate_bps

    def plan_rate(self, time_ns: int, algorithms: Algorithms) -> None:
        """Change the line rate at `time_ns` to that of `algorithms`, as after a negotiation with the switch's port.

        Plan the changes before messages and in order of time.
        """
        self._wire.start_at(time_ns, _RateChange(self, algorithms, time_ns))

    def change_rate(self, algorithms: Algorithms) -> None:
        """Send frames and pulls at the rate of `algorithms` from now on, and use its window for new queue pairs.

        Active queue pairs keep the state of their congestion control, and the wire limits them. A frame that is on the
        wire ends as it began.
        """
        self._line_rate_bps = algorithms.line_rate_bps
        self._wire.rate_bps = algorithms.wall.line_rate_bps
        self._algorithms = algorithms
        self._pairs.adopt(algorithms.wall, algorithms)

    # messages and programs

    def send_message(self, message: OutgoingMessage) -> None:
        """Send a message as soon as `ready_ns` has passed and all flows that it waits for have ended.

        Raises ValueError if the QP already has another peer.
        """
        self._pairs.send(message)

    def expect_message(self, message: IncomingMessage) -> None:
        """Accept an incoming message on a queue pair. Raises ValueError if the QP belongs to another sender."""
        self._pairs.expect(message)

    def expect_ends(self, flow_ids: Iterable[int]) -> None:
        """Remember when these flows end, because later messages will wait for them."""
        self._pairs.flow_ends.expect(flow_ids)

    def attach_programs(self) -> ProgramTraffic:
        """Start to carry traffic of the host's ordinary programs, and return that traffic.

        From now on, received frames that are not for the NIC itself go to the programs.
        """
        if self.programs is None:
            self.programs = ProgramTraffic(self._mac, self._wire, self._counters, self._settings)
        return self.programs

    def adopt(self, settings: TransportSettings, dilation: Dilation) -> None:
        """Use these settings (model units) for new queue pairs; active queue pairs keep their settings.

        The settings of the wire, a slow receiver and program traffic do not change. Raises ValueError for an unknown
        algorithm or parameter and then changes nothing.
        """
        nic_settings = settings.of_nic(self._line_rate_bps)
        self._algorithms = Algorithms(nic_settings, dilation)
        self._data_ports.add(self._algorithms.data_port)
        self._pairs.adopt(self._algorithms.wall, self._algorithms)

    # frames, timers and events

    def receive(self, frame: bytes, now_ns: i64, tail: i64 = 0) -> None:
        """Handle a frame that arrived at `now_ns`, with its tail (wire.tail). Never raises because of its contents."""
        self._wire.catch_up(now_ns)
        counters = self._counters
        counters.frames_received += 1
        missing_bytes = tail_bytes(tail)
        counters.bytes_received += i64(len(frame)) + missing_bytes
        header = self._decoder.header(frame, missing_bytes)
        if header is None:
            frame = whole_frame(frame, tail, PAYLOAD_BLOCK)
            stripped = strip(frame) if has_telemetry(frame) else None
            self._receive_other(frame if stripped is None else stripped[0], now_ns)
        elif header.destination_ip != self._ip or header.destination_mac != self._own_mac:
            counters.misdelivered += 1
        elif header.is_data:
            self._check_data(header, frame, tail, now_ns)
        elif self._verify and not header.icrc_is_right(frame):
            counters.corrupted += 1
        else:
            self._receive_control(header, frame, now_ns)

    def receive_batch(self, frames: list[bytes], times_ns: list[int]) -> None:
        """Handle frames in order, each at its arrival time."""
        for number in range(len(frames)):
            self.receive(frames[number], times_ns[number])

    def send_program_frame(self, frame: bytes, now_ns: int) -> None:
        """Queue a frame that a program sent at `now_ns`; `attach_programs` must have been called."""
        self._wire.catch_up(now_ns)
        self.attach_programs().send(frame, self._wire.clock_ns)

    def advance(self, now_ns: int) -> WireSchedule:
        """Run everything due by `now_ns`, and return the wire, which has the frames that have left."""
        self._wire.advance(now_ns)
        return self._wire

    def frames_to_send(self, now_ns: int) -> list[tuple[int, bytes]]:
        """Return the frames whose last bit has left by `now_ns`, oldest first, with their ideal departure times."""
        return self.advance(now_ns).finished(now_ns)

    def next_timer_ns(self) -> int | None:
        """Return when to call `frames_to_send` next if nothing arrives before; None for never.

        Right after `frames_to_send(now)` the time is later than `now`; after another input it may equal `now`.
        """
        return self._wire.next_event_ns()

    def next_event(self) -> Event | None:
        """Remove and return the oldest pending event, or None."""
        return self._events.popleft() if self._events else None

    def fold_payloads(self, stored_bytes: int) -> None:
        """Describe the end of full payloads by tails from now on, so that frames store at least their first
        `stored_bytes`. Use this in virtual time only, where every NIC knows the bytes of payloads.
        """
        self._pairs.fold_payloads(stored_bytes)

    def quiesce(self) -> None:
        """Stop sending, even frames already on the wire; arriving frames are still received and counted."""
        self._wire.is_quiet = True

    def start(self, start_ns: int) -> None:
        """Set model time 0, the start of the goodput intervals, which is otherwise the epoch.

        Must be called before any data arrives.
        """
        self._pairs.start(start_ns)

    def end_intervals(self) -> None:
        """End the current goodput intervals and queue the events of unfinished messages; for the end of a run."""
        self._pairs.end_intervals()

    def unfinished_messages(self) -> list[Transmission]:
        """Return the messages that have begun but are not completely acknowledged."""
        return self._pairs.unfinished(self._wire.clock_ns)

    def state(self) -> NicState:
        """Return the current state: unfinished messages, program flows and pauses."""
        now_ns = self._wire.clock_ns
        programs = [] if self.programs is None else self.programs.states(now_ns)
        return NicState(self._pairs.states(now_ns), programs, self._pairs.class_pause_end_ns)

    @property
    def delivered_packets(self) -> int:
        """Number of received data packets, without duplicates."""
        return self._counters.data_received - self._counters.duplicates_received

    def statistics(self) -> NicCounters:
        """Return the counters so far."""
        counters = self._counters
        counters.frames_sent = self._wire.frames_sent
        counters.bytes_sent = self._wire.bytes_sent
        counters.control_overruns = self._wire.control_overruns
        return counters.snapshot()

    # received frames

    def _check_data(self, header: RoceHeader, frame: bytes, tail: i64, now_ns: i64) -> None:
        """Check the ICRC of a data packet and pass the packet on.

        The CRC of the body is computed once and used for both the ICRC and the CRC of the message.
        """
        shift = self._pairs.shift
        if tail:
            if self._is_full_payload(header, tail):
                self._check_folded(header, frame, tail, now_ns)
                return
            frame = whole_frame(frame, tail, PAYLOAD_BLOCK)
        body = header.body(frame)
        body_crc = -1
        if self._verify and header.is_whole_words and len(body) == shift.size_bytes:
            body_crc = crc32(body)
            is_right = header.icrc_fits(frame, body_crc, shift)
        else:
            is_right = not self._verify or header.icrc_is_right(frame)
        if not is_right:
            self._counters.corrupted += 1
        elif self._receive_buffer is not None:
            self._receive_buffer.offer(DataPacket(header, frame, body_crc), now_ns)
        else:
            self._receive_data(header, frame, body, body_crc, now_ns)

    def _is_full_payload(self, header: RoceHeader, tail: i64) -> bool:
        """Whether a data packet can be checked without its whole body: its tail ends a full payload."""
        pairs = self._pairs
        return (
            self._verify
            and self._receive_buffer is None
            and header.is_whole_words
            and header.body_end - header.body_offset == pairs.shift.size_bytes
            and tail_bytes(tail) == pairs.tail_shift.size_bytes
        )

    def _check_folded(self, header: RoceHeader, frame: bytes, tail: i64, now_ns: i64) -> None:
        """Do the work of `_check_data` for a packet whose tail ends a full payload."""
        pairs = self._pairs
        end = i64(len(frame)) - ICRC_BYTES
        body_crc = payload_crc(frame, header.body_offset, end, tail, pairs.shift, pairs.tail_shift)
        if header.icrc_fits(frame, body_crc, pairs.shift, tail_bytes(tail)):
            self._receive_data(header, frame, b"", body_crc, now_ns)
        else:
            self._counters.corrupted += 1

    def _deliver_late(self, packet: DataPacket, now_ns: int) -> None:
        header, frame = packet.header, packet.frame
        self._receive_data(header, frame, header.body(frame), packet.body_crc, now_ns)

    def _receive_data(self, header: RoceHeader, frame: bytes, body: bytes, body_crc: int, now_ns: int) -> None:
        receiver = self._pairs.receiver(header.destination_qpn, header.source_ip)
        if receiver is None:
            self._counters.unknown_queue_pair += 1
            return
        self._counters.data_received += 1
        if self._algorithms.changes_entropy:
            receiver.echoed_port = half_word_at(frame, UDP_OFFSET)
        receiver.on_data(header, header.psn_word(frame), body, body_crc, header.shim(frame), now_ns)
        if receiver.is_done:
            self._pairs.rest(receiver)

    def _receive_control(self, header: RoceHeader, frame: bytes, now_ns: int) -> None:
        counters = self._counters
        sender = self._pairs.sender(header.destination_qpn, header.source_ip)
        if sender is None:
            if self._pairs.is_idle(header.destination_qpn, header.source_ip):
                counters.late_acknowledgements += 1
            else:
                counters.unknown_queue_pair += 1
        elif header.opcode == CNP:
            counters.cnps_received += 1
            sender.on_congestion_notice(self._wire.clock_ns)
        elif header.opcode == PULL:
            counters.pulls_received += 1
            sender.on_pull(header.body_word(frame) & PSN_MASK, self._wire.clock_ns)
        else:
            self._receive_acknowledge(sender, header, frame, now_ns)

    def _receive_acknowledge(self, sender: SenderQueuePair, header: RoceHeader, frame: bytes, now_ns: int) -> None:
        counters = self._counters
        kind = header.acknowledge_kind(frame)
        selective_psn = header.selective_psn(frame)
        if kind not in (0, 2, 3) or selective_psn > PSN_MASK:
            counters.malformed += 1
            return
        negative, clock_ns = kind != 0, self._wire.clock_ns
        psn = header.psn_word(frame)
        if not negative:
            psn += 1
        if kind == 2:
            is_possible = sender.on_trimmed(psn & PSN_MASK, is_returned=False, now_ns=clock_ns)
        else:
            is_possible = sender.on_acknowledge(
                psn,
                selective_psn,
                negative,
                marked=header.becn,
                increments=header.flags,
                shim=header.shim(frame),
                switches=max(0, IPV4_TTL - frame[TTL_OFFSET]),
                arrival_ns=now_ns,
                now_ns=clock_ns,
            )
        if not is_possible:
            counters.acknowledgements_refused += 1
            return
        if sender.changes_entropy and kind != 2:
            sender.on_entropy(header.source_port, marked=header.becn, now_ns=now_ns)
        if negative:
            counters.naks_received += 1
        else:
            counters.acks_received += 1
        if header.becn and sender.obeys_marks and sender.is_active:
            sender.on_congestion_notice(self._wire.clock_ns)
        if not sender.is_active:
            self._pairs.retire(sender)

    def _receive_other(self, frame: bytes, now_ns: int) -> None:
        """Handle a frame that is not a well-formed RoCEv2 packet."""
        ethertype = ethernet.ethertype_of(frame)
        if ethertype == ETHERTYPE_MAC_CONTROL:
            self._receive_pause(frame, now_ns)
            return
        ip = ipv4.unpack_header(frame, IP_OFFSET) if ethertype == ETHERTYPE_IPV4 else None
        is_udp = ip is not None and ip.protocol == IP_PROTOCOL_UDP
        ports = udp.unpack_header(frame, UDP_OFFSET, ip.total_length - ipv4.HEADER_BYTES) if ip and is_udp else None
        if ip is not None and ip.protocol == IP_PROTOCOL_TCP and tcp_signal.is_signal(frame):
            if ip.destination != self._ip or frame[:6] != self._mac:
                self._counters.misdelivered += 1
            else:
                self._receive_signal(tcp_signal.unpack_frame(frame), ip.source, now_ns)
        elif ip is None or ports is None or ports.destination_port not in _OWN_PORTS:
            is_odd = is_udp if ip is not None else ethertype in (ETHERTYPE_IPV4, -1)
            self._receive_foreign(frame, is_odd=is_odd and ports is None)
        elif ip.destination != self._ip or frame[:6] != self._mac:
            self._counters.misdelivered += 1
        elif ports.destination_port != BTS_UDP_PORT:
            self._trimmed.receive(frame, ip)
        else:
            self._receive_signal(bts.unpack_frame(frame), ip.source, now_ns)

    def _receive_foreign(self, frame: bytes, *, is_odd: bool) -> None:
        """Pass a frame to the host's programs, or else count it, as malformed if `is_odd`."""
        if self.programs is not None and self.programs.receive(frame):
            return
        if is_odd:
            self._counters.malformed += 1
        else:
            self._counters.other += 1

    # signals

    def _receive_signal(self, signal: bts.BackToSender | None, congested_ip: int, now_ns: int) -> None:
        """Handle a BTS; it is obeyed only for a flow of this host (docs/wire-format.md#effect)."""
        if signal is None:
            self._counters.malformed += 1
            return
        verdicts = [self._signal_flow(signal, congested_ip, flow, now_ns) for flow in self._named(signal, congested_ip)]
        if not verdicts:
            verdicts = [self._signal_flow(signal, congested_ip, None, now_ns)]
        self._counters.bts_received += 1
        self._counters.bts_by_verdict[_OBEYED if _OBEYED in verdicts else verdicts[0]] += 1

    def _signal_flow(
        self,
        signal: bts.BackToSender,
        congested_ip: int,
        flow: SenderQueuePair | IdleSender | ProgramFlow | None,
        now_ns: int,
    ) -> str:
        """Pass a BTS to one flow that it names, or to none, and return the verdict."""
        end_ns: int | None = None
        if flow is None:
            verdict = _UNKNOWN_FLOW
        elif not self._algorithms.obeyed[signal.cause]:
            verdict = _FLOW_CONTROL_OFF
        elif isinstance(flow, IdleSender):
            verdict = _FLOW_IDLE
        else:
            verdict = _OBEYED
            request_ns = signal.request_ns * self._algorithms.dilation.factor
            end_ns = flow.on_signal(signal, request_ns, now_ns, self._wire.clock_ns)
        self._events.append(
            BtsReceived(
                signal=signal,
                congested_ip=congested_ip,
                flow_id=None if flow is None else flow.flow_id,
                sent_ns=None if signal.cause == BtsCause.UNKNOWN else self._epoch_ns + signal.stamp * self._tick_ns,
                received_ns=now_ns,
                obeyed=verdict == _OBEYED,
                reason=verdict,
                paused_until_ns=end_ns,
            )
        )
        return verdict

    def _named(
        self, signal: bts.BackToSender, congested_ip: int
    ) -> Sequence[SenderQueuePair | IdleSender | ProgramFlow]:
        """Return the flows of this host that a BTS names, of queue pairs or programs.

        A BTS without a cause names all flows that have its addresses and its UDP source port, or one TCP flow.
        """
        if signal.cause == BtsCause.UNKNOWN and signal.protocol != IP_PROTOCOL_TCP:
            pairs = self._pairs.from_port(congested_ip, signal.source_port)
            programs = [] if self.programs is None else self.programs.from_port(congested_ip, signal.source_port)
            return [*pairs, *programs]
        flow = self._signalled_flow(signal, congested_ip)
        return [] if flow is None else [flow]

    def _signalled_flow(
        self, signal: bts.BackToSender, congested_ip: int
    ) -> SenderQueuePair | IdleSender | ProgramFlow | None:
        """Return the flow of this host that a BTS names, which has a cause or is for TCP."""
        pair = self._pairs.towards(congested_ip, signal.destination_qpn, signal.source_port)
        if pair is not None:
            is_ours = signal.protocol == IP_PROTOCOL_UDP and signal.destination_port in self._data_ports
            return pair if is_ours else None
        if self.programs is None or signal.destination_qpn or not signal.cause.requests_pause:
            return None
        return self.programs.find(FlowKey(congested_ip, signal.protocol, signal.source_port, signal.destination_port))

    def _receive_pause(self, frame: bytes, now_ns: int) -> None:
        request = pfc.unpack_frame(frame)
        if request is None:
            self._receive_queue_pause(frame, now_ns)
            return
        self._counters.pfc_received += 1
        if not self._algorithms.flow_control.obeys_class_pause:
            return
        self._counters.pauses += request.pause_quanta.get(CLASS_DATA, 0) > 0
        wire = self._wire
        for traffic_class, quanta in request.pause_quanta.items():
            end_ns = now_ns + pfc.quanta_ns(quanta, wire.rate_bps)
            if traffic_class == CLASS_CONTROL:
                wire.control_pause_end_ns = end_ns
            elif traffic_class == CLASS_DATA:
                self._pairs.pause_class(end_ns, wire.clock_ns)
            if self.programs is not None:
                self.programs.pause_class(traffic_class, end_ns, wire.clock_ns)

    def _receive_queue_pause(self, frame: bytes, now_ns: int) -> None:
        request = queue_pause.unpack_frame(frame)
        if request is None:
            self._counters.malformed += 1
            return
        self._counters.pfc_received += 1
        if not self._algorithms.flow_control.obeys_queue_pause or request.traffic_class != CLASS_DATA:
            return
        self._counters.pauses += request.units > 0
        end_ns = now_ns + pfc.quanta_ns(QUEUE_PAUSE_QUANTA * request.units, self._wire.rate_bps)
        self._pairs.pause_queue(request.queue, end_ns, self._wire.clock_ns)
        if request.queue == 0 and self.programs is not None:
            self.programs.pause_class(CLASS_DATA, end_ns, self._wire.clock_ns)
