# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Traffic of ordinary programs through the NIC, with one queue per 5-tuple that shares the wire with queue pairs.

A BTS pauses one 5-tuple, an 802.1Qbb frame pauses a class. Queues are bounded; frames that find a queue full are
dropped, as by a network interface, and the program's own transport handles the loss.
"""

from collections import OrderedDict, deque
from typing import ClassVar, NamedTuple

from sfc_testbed.hosts.transport.counters import NicCounters
from sfc_testbed.hosts.transport.messages import ProgramFlowState
from sfc_testbed.hosts.transport.scheduling.wire_schedule import FrameSource, WireSchedule
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.wire import ethernet, ipv4
from sfc_testbed.wire.bts import BackToSender
from sfc_testbed.wire.constants import (
    CLASS_BY_DSCP,
    CLASS_COUNT,
    CLASS_DEFAULT,
    ETHERTYPE_IPV4,
    IP_PROTOCOL_TCP,
    IP_PROTOCOL_UDP,
)

_MOST_FLOWS = 4096
_IP = ethernet.HEADER_BYTES
_FRAGMENT_OFFSET_MASK = 0x1FFF


class FlowKey(NamedTuple):
    """The fields by which a BTS names a program's flow. Ports are 0 if the protocol has none."""

    destination_ip: int
    protocol: int
    source_port: int
    destination_port: int


class ProgramFlow(FrameSource):
    """The queue of one 5-tuple, a frame source in the NIC's round."""

    __slots__ = (
        "_class_pause_ends_ns", "_counters", "_frames", "_max_pause_ns", "_pause_end_ns", "_traffic_class", "_wire",
        "held_bytes",
    )  # fmt: skip

    flow_id: ClassVar[None] = None
    """Always None, because a program's flow is not a flow of the scenario."""

    def __init__(
        self, wire: WireSchedule, counters: NicCounters, class_pause_ends_ns: list[int], max_pause_ns: int
    ) -> None:
        """Create an empty queue.

        `class_pause_ends_ns` is shared by the host's flows and has one entry per class. `max_pause_ns` is the longest
        pause that one BTS can cause.
        """
        super().__init__()
        self._wire = wire
        self._max_pause_ns = max_pause_ns
        self._counters = counters
        self._class_pause_ends_ns = class_pause_ends_ns
        self._frames: deque[bytes] = deque()
        self._traffic_class = CLASS_DEFAULT
        self.held_bytes = 0
        self._pause_end_ns = 0

    def add(self, frame: bytes, traffic_class: int, now_ns: int) -> None:
        """Queue a frame; the flow takes the traffic class of its newest frame."""
        self._traffic_class = traffic_class
        self._frames.append(frame)
        self.held_bytes += len(frame)
        self.refresh(now_ns)

    def build_frame(self, now_ns: int) -> bytes | None:
        """Return the frame that starts on the wire now; None if the queue is empty or the flow is paused."""
        if not self._frames or self.blocked_until_ns() > now_ns:
            return None
        frame = self._frames.popleft()
        self.held_bytes -= len(frame)
        self._counters.programs_sent += 1
        return frame

    def on_signal(self, signal: BackToSender, request_ns: int, arrival_ns: int, now_ns: int) -> int:
        """Handle a BTS for this flow and return the new pause end, which replaces the old one (paper §3.2)."""
        self._pause_end_ns = arrival_ns + min(request_ns, self._max_pause_ns)
        self.refresh(now_ns)
        return self._pause_end_ns

    def on_wake(self, now_ns: int) -> None:
        """Check again whether the flow can send, because a pause may have ended."""
        self.refresh(now_ns)

    def refresh(self, now_ns: int) -> None:
        """Join the scheduler's round if a frame can be sent, and set the timer. Called after every change."""
        if not self.queued and self._frames and self.blocked_until_ns() <= now_ns:
            self._wire.enqueue(self)
        self.arm(now_ns)

    def arm(self, now_ns: int) -> None:
        """Set the timer to the end of the pause."""
        end_ns = self.blocked_until_ns()
        if self._frames and now_ns < end_ns < self.wake_ns:
            self.wake_ns = end_ns
            self._wire.wake_at(end_ns, self)

    def blocked_until_ns(self) -> int:
        """Return the end of the flow's pause or of its class's pause, whichever is later."""
        return max(self._pause_end_ns, self._class_pause_ends_ns[self._traffic_class])


class ProgramTraffic:
    """The 5-tuples of a host's programs; beyond 4096 the least recently used one is removed."""

    def __init__(self, mac: bytes, wire: WireSchedule, counters: NicCounters, wall: TransportSettings) -> None:
        """Start without flows; `mac` is the host's address and `wall` the NIC's settings in wall units."""
        self._mac = mac
        self._wire = wire
        self._counters = counters
        self._queue_bytes = wall.program_queue_bytes
        self._dscp = wall.program_dscp
        self._max_pause_ns = wall.max_pause_ns
        self._flows: OrderedDict[FlowKey, ProgramFlow] = OrderedDict()
        self._class_pause_ends_ns = [0] * CLASS_COUNT
        self._arrived: deque[bytes] = deque()

    def send(self, frame: bytes, now_ns: int) -> None:
        """Queue a program's frame, which must have correct checksums; it is dropped if its flow's queue is full."""
        key = flow_key(frame)
        if key is None:
            self._counters.programs_dropped += 1
            return
        flow = self._flow(key)
        if flow.held_bytes + len(frame) > self._queue_bytes:
            self._counters.programs_dropped += 1
            return
        if self._dscp is not None:
            frame = ipv4.with_dscp(frame, self._dscp, _IP)
        flow.add(frame, CLASS_BY_DSCP.get(frame[_IP + 1] >> 2, CLASS_DEFAULT), now_ns)

    def receive(self, frame: bytes) -> bool:
        """Take a frame that is not for the NIC itself. Returns False if it is not for this host's programs."""
        if frame[:6] != self._mac or ethernet.ethertype_of(frame) != ETHERTYPE_IPV4:
            return False
        self._counters.programs_received += 1
        self._arrived.append(frame)
        return True

    def next_arrived(self) -> bytes | None:
        """Remove and return the oldest received frame for the programs, or None."""
        return self._arrived.popleft() if self._arrived else None

    def find(self, key: FlowKey) -> ProgramFlow | None:
        """Return the queue of a 5-tuple, or None if the host has not used it recently."""
        return self._flows.get(key)

    def from_port(self, destination_ip: int, source_port: int) -> list[ProgramFlow]:
        """Return the queues of all UDP flows to that host from that port."""
        wanted = (destination_ip, IP_PROTOCOL_UDP, source_port)
        return [flow for key, flow in self._flows.items() if key[:3] == wanted]

    def pause_class(self, traffic_class: int, end_ns: int, now_ns: int) -> None:
        """Set the end of a class's 802.1Qbb pause; an end in the past means that the class is resumed."""
        self._class_pause_ends_ns[traffic_class] = end_ns
        for flow in self._flows.values():
            flow.refresh(now_ns)

    def states(self, now_ns: int) -> list[ProgramFlowState]:
        """Return the states of the 5-tuples that have queued frames or are paused."""
        return [
            ProgramFlowState(*key, held_bytes=flow.held_bytes, paused_until_ns=flow.blocked_until_ns())
            for key, flow in self._flows.items()
            if flow.held_bytes or flow.blocked_until_ns() > now_ns
        ]

    def _flow(self, key: FlowKey) -> ProgramFlow:
        flow = self._flows.get(key)
        if flow is None:
            flow = self._flows[key] = ProgramFlow(
                self._wire, self._counters, self._class_pause_ends_ns, self._max_pause_ns
            )
            if len(self._flows) > _MOST_FLOWS:
                self._flows.popitem(last=False)
        else:
            self._flows.move_to_end(key)
        return flow


def flow_key(frame: bytes) -> FlowKey | None:
    """Return the 5-tuple of an IPv4 frame without the source address, or None for other frames."""
    if ethernet.ethertype_of(frame) != ETHERTYPE_IPV4 or len(frame) < _IP + ipv4.HEADER_BYTES:
        return None
    protocol = frame[_IP + 9]
    destination = int.from_bytes(frame[_IP + 16 : _IP + 20], "big")
    ports = _IP + (frame[_IP] & 0xF) * 4
    is_later_fragment = int.from_bytes(frame[_IP + 6 : _IP + 8], "big") & _FRAGMENT_OFFSET_MASK
    if protocol not in (IP_PROTOCOL_TCP, IP_PROTOCOL_UDP) or is_later_fragment or len(frame) < ports + 4:
        return FlowKey(destination, protocol, 0, 0)
    return FlowKey(
        destination,
        protocol,
        int.from_bytes(frame[ports : ports + 2], "big"),
        int.from_bytes(frame[ports + 2 : ports + 4], "big"),
    )
