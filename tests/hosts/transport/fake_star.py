# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Several NICs around one fake switch in virtual time, with per-port queues, ECN, telemetry and 802.1Qbb pauses.

The switch is a simple model for tests of hosts: FIFO queues and no shared buffer. The real switch is the P4 program.
"""

import heapq
import itertools
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from sfc_testbed.contract.frames import with_record, with_slot, with_tos
from sfc_testbed.hosts.transport.algorithms import Algorithms
from sfc_testbed.hosts.transport.messages import IncomingMessage, NicAddress, OutgoingMessage
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.reports import Event
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.wire import int_header, int_slots, pfc
from sfc_testbed.wire.constants import CLASS_DATA, ECN_CONGESTION_EXPERIENCED, INT_FLAG_COMPACT, INT_FLAG_ECHO
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.int_header import HopRecord, has_telemetry
from sfc_testbed.wire.int_slots import Slot
from sfc_testbed.wire.roce.packets import ACK_FRAME_BYTES
from sfc_testbed.wire.units import serialization_ns

_SWITCH_MAC = 0x0200_0000_FF00
_FIRST_IP = 0x0A00_0001
_SHIM = 42


def slot_at(time_us: int, sent_bytes: int, queue_bytes: int, code: int, dilation: Dilation) -> Slot:
    """Return the slot that a switch fills."""
    time = (time_us >> int_slots.time_shift(dilation)) % (1 << int_slots.TIME_BITS)
    sent = sent_bytes // int_slots.SENT_UNIT_BYTES % (1 << int_slots.SENT_BITS)
    return Slot(code, time, sent, min(queue_bytes // int_slots.QUEUE_UNIT_BYTES, (1 << int_slots.QUEUE_BITS) - 1))


@dataclass
class Port:
    """The switch's output port towards one host."""

    queue: deque[bytes] = field(default_factory=deque)
    queued_bytes: int = 0
    sent_bytes: int = 0
    most_bytes: int = 0
    is_busy: bool = False
    pause_end_ns: int = 0
    depths: list[tuple[int, int]] = field(default_factory=list)
    """Departure time of every frame and the bytes that it left in the queue."""
    by_source: Counter[int] = field(default_factory=Counter)
    """Bytes sent, by source address."""


class FakeStar:
    """A star of hosts 1..n; `run` moves frames until the given time or until no event is due."""

    def __init__(
        self,
        settings: TransportSettings,
        hosts: int,
        *,
        delay_ns: int = 2_500,
        ecn_threshold_bytes: int | None = None,
        with_telemetry: bool = False,
        buffer_bytes: int = 1 << 60,
        receiver: TransportSettings | None = None,
    ) -> None:
        """Connect the hosts by links with a delay of `delay_ns` each.

        A data packet that leaves more than `ecn_threshold_bytes` in the queue is marked. `buffer_bytes` is the capacity
        of each port's queue. `receiver` is the settings of the last host, if they differ from the others'.
        """
        self.dilation = scale = Dilation(1000)
        self.nics = [
            Nic(
                NicAddress(f"h{number}", 0x0200_0000_0000 + number, _FIRST_IP + number - 1, _SWITCH_MAC),
                Algorithms(receiver if receiver is not None and number == hosts else settings, scale),
            )
            for number in range(1, hosts + 1)
        ]
        self.ports = [Port() for _ in self.nics]
        self.rate_bps = scale.wall_bps(settings.line_rate_bps)
        self.now_ns = 0
        self.events: list[list[Event]] = [[] for _ in self.nics]
        self.on_wire: list[tuple[int, bytes]] = []
        """802.1Qbb frames that hosts sent, with their arrival times."""
        self._delay_ns = scale.wall_ns(delay_ns)
        self._threshold_bytes = ecn_threshold_bytes
        self._with_telemetry = with_telemetry
        self._buffer_bytes = buffer_bytes
        self.drops = 0
        self._due: list[tuple[int, int, str, int, bytes]] = []
        self._sequence = 0
        self._timers_ns: list[int | None] = [None] * hosts
        self._flows = 0

    def transfer(self, source: int, sink: int, size_bytes: int, *, ready_ns: int = 0) -> None:
        """Announce a message between two hosts (numbers from 0) at both ends. `ready_ns` is model time."""
        self._flows += 1
        flow, ready_ns = self._flows, self.dilation.wall_ns(ready_ns)
        ends = (_FIRST_IP + source, _FIRST_IP + sink)
        self.nics[source].send_message(OutgoingMessage(flow, flow, flow, ends[1], size_bytes, ready_ns))
        self.nics[sink].expect_message(IncomingMessage(flow, flow, flow, ends[0], size_bytes))
        self._arm(source)

    def of(self, kind: type[Any], host: int) -> list[Any]:
        return [event for event in self.events[host] if isinstance(event, kind)]

    def two_long_flows(self, since_ns: int, until_ns: int) -> tuple[float, float]:
        """Run two flows to host 2, the second 100 us later.

        Return Jain's index of their rates and the utilization of the link between the two model times.
        """
        self.transfer(0, 2, 100_000_000)
        self.transfer(1, 2, 100_000_000, ready_ns=100_000)
        self.run(since_ns)
        before = self.ports[2].by_source.copy()
        self.run(until_ns)
        shares = list((self.ports[2].by_source - before).values())
        jain = sum(shares) ** 2 / (2 * sum(share**2 for share in shares))
        return jain, sum(shares) * 8 / (until_ns - since_ns) / 100

    def mean_depth_bytes(self, since_ns: int) -> float:
        """Return the time average of the queue to host 2 from model time `since_ns` on."""
        rows = [row for row in self.ports[2].depths if row[0] >= self.dilation.wall_ns(since_ns)]
        area = sum(depth * (after - time) for (time, depth), (after, _) in itertools.pairwise(rows))
        return area / (rows[-1][0] - rows[0][0])

    def run(self, until_ns: int = 1 << 50) -> None:
        """Run until model time `until_ns` or until no event is due."""
        limit_ns = self.dilation.wall_ns(until_ns)
        while self._due and self._due[0][0] <= limit_ns:
            self.now_ns, _, kind, host, frame = heapq.heappop(self._due)
            if kind == "timer":
                if self._timers_ns[host] == self.now_ns:
                    self._timers_ns[host] = None
                    self._serve(host)
            elif kind == "host":
                self.nics[host].receive(frame, self.now_ns)
                self._serve(host)
            elif kind == "switch":
                self._arrive(host, frame)
            else:
                self.ports[host].is_busy = False
                self._start(host)

    def _at(self, time_ns: int, kind: str, host: int, frame: bytes = b"") -> None:
        self._sequence += 1
        heapq.heappush(self._due, (time_ns, self._sequence, kind, host, frame))

    def _serve(self, host: int) -> None:
        nic = self.nics[host]
        for departure_ns, frame in nic.frames_to_send(self.now_ns):
            self._at(departure_ns + self._delay_ns, "switch", host, frame)
        while (event := nic.next_event()) is not None:
            self.events[host].append(event)
        self._arm(host)

    def _arm(self, host: int) -> None:
        due_ns = self.nics[host].next_timer_ns()
        if due_ns is not None and due_ns != self._timers_ns[host]:
            self._at(due_ns, "timer", host)
        self._timers_ns[host] = due_ns

    def _arrive(self, source: int, frame: bytes) -> None:
        request = pfc.unpack_frame(frame)
        if request is not None:
            self.on_wire.append((self.now_ns, frame))
            self.ports[source].pause_end_ns = self.now_ns + pfc.quanta_ns(
                request.pause_quanta.get(CLASS_DATA, 0), self.rate_bps
            )
            self._start(source)
            return
        target = int.from_bytes(frame[30:34], "big") - _FIRST_IP
        port = self.ports[target]
        if port.queued_bytes + len(frame) > self._buffer_bytes:
            self.drops += 1
            return
        port.queue.append(self.nics[target].address.mac.to_bytes(6, "big") + frame[6:])
        port.queued_bytes += len(frame)
        port.most_bytes = max(port.most_bytes, port.queued_bytes)
        self._start(target)

    def _start(self, target: int) -> None:
        port = self.ports[target]
        if port.is_busy or not port.queue:
            return
        if port.pause_end_ns > self.now_ns and len(port.queue[0]) > ACK_FRAME_BYTES:
            self._at(port.pause_end_ns, "port", target)
            return
        frame = port.queue.popleft()
        port.queued_bytes -= len(frame)
        port.depths.append((self.now_ns, port.queued_bytes))
        port.is_busy = True
        frame = self._stamp(port, frame)
        port.by_source[int.from_bytes(frame[26:30], "big")] += len(frame)
        port.sent_bytes += len(frame)
        end_ns = self.now_ns + serialization_ns(len(frame), self.rate_bps)
        self._at(end_ns, "port", target)
        self._at(end_ns + self._delay_ns, "host", target, frame)

    def _stamp(self, port: Port, frame: bytes) -> bytes:
        """Return the frame with the ECN mark and the telemetry record that the switch adds."""
        if self._threshold_bytes is not None and port.queued_bytes > self._threshold_bytes and frame[15] & 0x3:
            frame = with_tos(frame, frame[15] | ECN_CONGESTION_EXPERIENCED)
        if self._with_telemetry and has_telemetry(frame) and not frame[_SHIM + 1] & INT_FLAG_ECHO:
            frame = self._with_telemetry_of(port, frame)
        return frame

    def _with_telemetry_of(self, port: Port, frame: bytes) -> bytes:
        time_us = self.now_ns // 1000
        if frame[_SHIM + 1] & INT_FLAG_COMPACT:
            return with_slot(frame, slot_at(time_us, port.sent_bytes, port.queued_bytes, 1, self.dilation))
        time_us %= int_header.COUNTER_MODULUS
        return with_record(
            frame, HopRecord(self.rate_bps // 1000, time_us, port.sent_bytes % (1 << 32), port.queued_bytes)
        )
