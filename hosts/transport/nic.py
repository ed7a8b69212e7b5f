# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The NIC of one host: frames in, frames out, messages and events for the caller.

Sans-IO: `receive` takes bytes and the time they arrived, `frames_to_send` gives bytes and the ideal time they left. The
NIC catches its schedule up to each input's time first, so a caller that comes late changes nothing but its own delay.
This module dispatches; queue pairs, the wire's schedule and the algorithms stand in their own files.
"""

from collections import deque
from typing import NamedTuple

from hosts.transport.algorithms import Algorithms
from hosts.transport.counters import NicStatistics, SignalVerdict
from hosts.transport.loss_recovery.base import NEVER
from hosts.transport.messages import BtsReceived, Event, IncomingMessage, NicAddress, OutgoingMessage, SendingReport
from hosts.transport.receiver import ReceiverQueuePair, is_data
from hosts.transport.sender import SenderQueuePair
from hosts.transport.settings import TransportSettings
from hosts.transport.wire_schedule import WireSchedule
from wire import bts, ethernet, ipv4, pfc, udp
from wire.addresses import pack_mac
from wire.constants import (
    BTS_UDP_PORT,
    CLASS_CONTROL,
    CLASS_DATA,
    DSCP_CONTROL,
    DSCP_DATA,
    ECN_CAPABLE,
    ECN_NOT_CAPABLE,
    ETHERTYPE_IPV4,
    ETHERTYPE_MAC_CONTROL,
    IP_PROTOCOL_UDP,
    ROCE_UDP_PORT,
)
from wire.dilation import Dilation
from wire.roce import (
    BTH_OFFSET,
    IP_OFFSET,
    UDP_OFFSET,
    Opcode,
    RoceDecoder,
    RoceFramer,
    RoceHeader,
    data_frame_bytes,
    source_port,
    unpack_aeth,
)
from wire.units import NS_PER_US


class _PendingMessage:
    """A message waiting for the time it becomes ready."""

    __slots__ = ("_message", "_nic", "wake_ns")

    def __init__(self, nic: "Nic", message: OutgoingMessage) -> None:
        self._nic = nic
        self._message = message
        self.wake_ns = message.ready_ns

    def on_wake(self, now_ns: int) -> None:
        """Start it."""
        self._nic.start_message(self._message, now_ns)


class _IdleSender(NamedTuple):
    """What is kept of a queue pair whose messages are all done."""

    destination_ip: int
    destination_qpn: int
    source_qpn: int
    next_index: int
    flow_id: int


class Nic:
    """See the module. Times are wall ns of one clock; they may come late but not out of order by kind of input."""

    def __init__(
        self, address: NicAddress, settings: TransportSettings, dilation: Dilation, *, epoch_ns: int = 0
    ) -> None:
        """`settings` in model units; `epoch_ns` is where the switches' clocks start. Raises ValueError for an unknown
        algorithm or parameter."""
        self.address = address
        self._mac = pack_mac(address.mac)
        self._epoch_ns = epoch_ns
        self._settings = wall = settings.dilated(dilation)
        self._algorithms = Algorithms(settings, dilation)
        ecn = ECN_CAPABLE if self._algorithms.congestion.ecn_capable else ECN_NOT_CAPABLE
        self._data_tos = DSCP_DATA << 2 | ecn
        self._wire = WireSchedule(wall.line_rate_bps, data_frame_bytes(wall.payload_bytes, is_last=True))
        self._decoder = RoceDecoder()
        self._counters = NicStatistics()
        self._events: deque[Event] = deque()
        self._senders: dict[int, SenderQueuePair] = {}
        self._senders_by_peer: dict[tuple[int, int], SenderQueuePair] = {}
        self._idle_senders: dict[int, _IdleSender] = {}
        self._idle_by_peer: dict[tuple[int, int], _IdleSender] = {}
        self._peers: dict[int, tuple[int, int]] = {}
        self._receivers: dict[int, ReceiverQueuePair] = {}
        self._class_pause_end_ns = 0

    # messages

    def send_message(self, message: OutgoingMessage) -> None:
        """Send a message once `ready_ns` has come (at once if it has passed).

        Raises ValueError if the QP already has another peer.
        """
        peer = (message.destination_ip, message.destination_qpn)
        if self._peers.setdefault(message.source_qpn, peer) != peer:
            raise ValueError(f"flow {message.flow_id}: QP {message.source_qpn} is connected elsewhere")
        self._wire.wake_at(message.ready_ns, _PendingMessage(self, message))

    def expect_message(self, message: IncomingMessage) -> None:
        """Accept a message on a queue pair of this host. Raises ValueError if the QP belongs to another sender."""
        receiver = self._receivers.get(message.destination_qpn)
        if receiver is None:
            receiver = self._receivers[message.destination_qpn] = self._new_receiver(message)
        elif (receiver.source_ip, receiver.source_qpn) != (message.source_ip, message.source_qpn):
            raise ValueError(f"flow {message.flow_id}: QP {message.destination_qpn} belongs to another sender")
        receiver.expect(message)

    def start_message(self, message: OutgoingMessage, now_ns: int) -> None:
        """The message is ready; called by the schedule. A QP whose messages are all done begins afresh."""
        sender = self._senders.get(message.source_qpn)
        if sender is None:
            idle = self._idle_senders.pop(message.source_qpn, None)
            if idle is not None:
                del self._idle_by_peer[idle.destination_ip, idle.destination_qpn]
            sender = self._new_sender(message, idle.next_index if idle else 0)
            self._senders[message.source_qpn] = sender
            self._senders_by_peer[message.destination_ip, message.destination_qpn] = sender
            sender.on_class_pause(self._class_pause_end_ns, now_ns)
        sender.add_message(message, now_ns)

    # the surface of the engine

    def receive(self, frame: bytes, now_ns: int) -> None:
        """A frame arrived at `now_ns`. Never raises for what the frame contains."""
        wire = self._wire
        wire.advance(now_ns - 1)
        if now_ns > wire.clock_ns:
            wire.clock_ns = now_ns
        counters = self._counters
        counters.frames_received += 1
        counters.bytes_received += len(frame)
        header = self._decoder.header(frame)
        if header is None:
            self._receive_other(frame, now_ns)
        elif header.destination_ip != self.address.ip or header.destination_mac != self.address.mac:
            counters.misdelivered += 1
        elif self._settings.verify and not header.icrc_is_right(frame):
            counters.corrupted += 1
        elif is_data(header.opcode):
            self._receive_data(header, frame, now_ns)
        else:
            self._receive_control(header, frame, now_ns)

    def frames_to_send(self, now_ns: int) -> list[tuple[int, bytes]]:
        """Frames whose last bit has left by now, each with the ideal time it left, oldest first."""
        self._wire.advance(now_ns)
        return self._wire.finished(now_ns)

    def next_timer_ns(self) -> int | None:
        """When to call `frames_to_send` next if nothing arrives before; None for never.

        Right after `frames_to_send(now)` it lies after `now`; after another input it may be the present.
        """
        return self._wire.next_event_ns()

    def next_event(self) -> Event | None:
        """The oldest event not yet taken."""
        return self._events.popleft() if self._events else None

    def quiesce(self) -> None:
        """Send nothing any more, not even what is on the wire; frames that arrive are still taken and counted."""
        self._wire.is_quiet = True

    def unfinished_messages(self) -> list[SendingReport]:
        """Messages that have begun and are not acknowledged to the end, as they stand."""
        now_ns = self._wire.clock_ns
        return [report for sender in self._senders.values() for report in sender.unfinished(now_ns)]

    def statistics(self) -> NicStatistics:
        """Counts so far."""
        counters = self._counters
        counters.frames_sent = self._wire.frames_sent
        counters.bytes_sent = self._wire.bytes_sent
        return counters.snapshot()

    # what arrives

    def _receive_data(self, header: RoceHeader, frame: bytes, now_ns: int) -> None:
        receiver = self._receivers.get(header.destination_qpn)
        if receiver is None or receiver.source_ip != header.source_ip:
            self._counters.unknown_queue_pair += 1
            return
        self._counters.data_received += 1
        receiver.on_data(header, header.psn_word(frame), frame, now_ns)

    def _receive_control(self, header: RoceHeader, frame: bytes, now_ns: int) -> None:
        counters = self._counters
        sender = self._senders.get(header.destination_qpn)
        if sender is None or sender.destination_ip != header.source_ip:
            self._count_late(header)
            return
        if header.opcode == Opcode.CNP:
            counters.cnps_received += 1
            sender.on_congestion_notice(self._wire.clock_ns)
            return
        aeth = unpack_aeth(header.body(frame))
        kind = -1 if aeth is None else aeth.syndrome >> 5
        if aeth is None or kind not in (0, 3):
            counters.malformed += 1
            return
        negative = kind == 3
        psn = header.psn_word(frame) + (not negative)
        now = self._wire.clock_ns
        if not sender.on_acknowledge(psn, aeth.selective_psn, negative, header.becn, now_ns, now):
            counters.malformed += 1
            return
        if negative:
            counters.naks_received += 1
        else:
            counters.acks_received += 1
        if not sender.is_active:
            self._retire(sender)

    def _count_late(self, header: RoceHeader) -> None:
        idle = self._idle_senders.get(header.destination_qpn)
        if idle is not None and idle.destination_ip == header.source_ip:
            self._counters.late_acknowledgements += 1
        else:
            self._counters.unknown_queue_pair += 1

    def _receive_other(self, frame: bytes, now_ns: int) -> None:
        """Anything that is not a well-formed RoCEv2 packet."""
        ethertype = ethernet.ethertype_of(frame)
        if ethertype == ETHERTYPE_MAC_CONTROL:
            self._receive_pause(frame, now_ns)
            return
        ip = ipv4.unpack_header(frame, IP_OFFSET) if ethertype == ETHERTYPE_IPV4 else None
        if ip is None:
            if ethertype == ETHERTYPE_IPV4 or ethertype < 0:
                self._counters.malformed += 1
            else:
                self._counters.other += 1
            return
        ports = None
        if ip.protocol == IP_PROTOCOL_UDP:
            ports = udp.unpack_header(frame, UDP_OFFSET, ip.total_length - ipv4.HEADER_BYTES)
            if ports is None or ports.destination_port == ROCE_UDP_PORT:
                self._counters.malformed += 1
                return
        if ports is None or ports.destination_port != BTS_UDP_PORT:
            self._counters.other += 1
        elif ip.destination != self.address.ip or frame[:6] != self._mac:
            self._counters.misdelivered += 1
        else:
            self._receive_signal(frame[BTH_OFFSET : IP_OFFSET + ip.total_length], ports.source_port, ip.source, now_ns)

    def _receive_signal(self, payload: bytes, outer_port: int, congested_ip: int, now_ns: int) -> None:
        """A BTS: obey it only for a flow this host has (DESIGN §4, trust)."""
        signal = bts.unpack_payload(payload)
        if signal is None or signal.source_port != outer_port:
            self._counters.malformed += 1
            return
        verdict, flow_id, sender = self._find_flow(signal, congested_ip)
        end_ns = sender.on_signal(signal, now_ns, self._wire.clock_ns) if sender is not None else None
        self._counters.bts_received += 1
        self._counters.bts_by_verdict[verdict.value] += 1
        self._events.append(
            BtsReceived(
                signal=signal,
                congested_ip=congested_ip,
                flow_id=flow_id,
                sent_ns=self._epoch_ns + signal.sent_us * NS_PER_US,
                received_ns=now_ns,
                obeyed=sender is not None,
                reason=verdict.value,
                paused_until_ns=end_ns,
            )
        )

    def _find_flow(
        self, signal: bts.BackToSender, congested_ip: int
    ) -> tuple[SignalVerdict, int | None, SenderQueuePair | None]:
        """What to do with a BTS, the flow it names, and the queue pair that shall obey it."""
        peer = (congested_ip, signal.destination_qpn)
        flow = self._senders_by_peer.get(peer) or self._idle_by_peer.get(peer)
        ports = (signal.protocol, signal.destination_port, signal.source_port)
        if flow is None or ports != (IP_PROTOCOL_UDP, ROCE_UDP_PORT, source_port(flow.source_qpn)):
            return SignalVerdict.UNKNOWN_FLOW, None, None
        if not self._algorithms.flow_control.obeys_signals:
            return SignalVerdict.FLOW_CONTROL_OFF, flow.flow_id, None
        if isinstance(flow, _IdleSender):
            return SignalVerdict.FLOW_IDLE, flow.flow_id, None
        return SignalVerdict.OBEYED, flow.flow_id, flow

    def _receive_pause(self, frame: bytes, now_ns: int) -> None:
        request = pfc.unpack_frame(frame)
        if request is None:
            self._counters.malformed += 1
            return
        self._counters.pfc_received += 1
        if not self._algorithms.flow_control.obeys_class_pause:
            return
        rate_bps = self._settings.line_rate_bps
        ends_ns = {number: now_ns + pfc.quanta_ns(quanta, rate_bps) for number, quanta in request.pause_quanta.items()}
        self._wire.control_pause_end_ns = ends_ns.get(CLASS_CONTROL, self._wire.control_pause_end_ns)
        if CLASS_DATA in ends_ns:
            self._class_pause_end_ns = ends_ns[CLASS_DATA]
            self._counters.pauses += request.pause_quanta[CLASS_DATA] > 0
            for sender in self._senders.values():
                sender.on_class_pause(self._class_pause_end_ns, self._wire.clock_ns)

    # queue pairs

    def _new_sender(self, message: OutgoingMessage, first_index: int) -> SenderQueuePair:
        algorithms = self._algorithms
        return SenderQueuePair(
            message,
            framer=self._framer(message.source_qpn, message.destination_ip, message.destination_qpn, self._data_tos),
            recovery=algorithms.new_recovery(first_index),
            congestion=algorithms.new_congestion(),
            flow_control=algorithms.new_flow_control(),
            ack_every=self._settings.ack_every,
            scheduler=self._wire,
            counters=self._counters,
            events=self._events,
        )

    def _new_receiver(self, message: IncomingMessage) -> ReceiverQueuePair:
        def make_framer() -> RoceFramer:
            return self._framer(message.destination_qpn, message.source_ip, message.source_qpn, DSCP_CONTROL << 2)

        return ReceiverQueuePair(
            message.source_ip,
            message.source_qpn,
            order=self._algorithms.new_order(),
            make_framer=make_framer,
            cnp_interval_ns=self._settings.cnp_interval_ns,
            verify=self._settings.verify,
            send=self._wire.send_control,
            counters=self._counters,
            events=self._events,
        )

    def _framer(self, source_qpn: int, destination_ip: int, destination_qpn: int, tos: int) -> RoceFramer:
        return RoceFramer(
            destination_mac=self.address.gateway_mac,
            source_mac=self.address.mac,
            source_ip=self.address.ip,
            destination_ip=destination_ip,
            source_qpn=source_qpn,
            destination_qpn=destination_qpn,
            tos=tos,
        )

    def _retire(self, sender: SenderQueuePair) -> None:
        """All messages of a queue pair are done: keep its numbering, forget the rest."""
        sender.wake_ns = NEVER
        del self._senders[sender.source_qpn]
        del self._senders_by_peer[sender.destination_ip, sender.destination_qpn]
        idle = _IdleSender(
            sender.destination_ip, sender.destination_qpn, sender.source_qpn, sender.next_index, sender.flow_id
        )
        self._idle_senders[idle.source_qpn] = self._idle_by_peer[idle.destination_ip, idle.destination_qpn] = idle
