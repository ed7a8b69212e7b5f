# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Two NICs joined by a fake link in virtual time, with delay, loss, duplication, reordering and forged frames.

The link owns the clock and the seeded random generator; the NICs are real.
"""

import heapq
import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sfc_testbed.contract.broken import Broken, require
from sfc_testbed.hosts.transport.algorithms import Algorithms
from sfc_testbed.hosts.transport.messages import IncomingMessage, NicAddress, OutgoingMessage
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.reports import Event
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.wire.bts import BackToSender
from sfc_testbed.wire.bts import pack_frame as pack_bts
from sfc_testbed.wire.constants import IP_PROTOCOL_TCP, PSN_MASK, BtsCause
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.int_header import has_telemetry, strip
from sfc_testbed.wire.roce.decoder import parse_header
from sfc_testbed.wire.roce.packets import SEND_OPCODES, source_port
from sfc_testbed.wire.tcp_signal import pack_frame as pack_tcp_signal
from sfc_testbed.wire.units import NS_PER_S

MAC_A, MAC_B = 0x0200_0000_0001, 0x0200_0000_0002
IP_A, IP_B = 0x0A00_0001, 0x0A00_0002

EventKind = TypeVar("EventKind", bound=Event)
Mutation = Callable[[int, str, bytes], bytes | None]


def plain(frame: bytes) -> bytes:
    """Return the frame without telemetry, as its receiver sees it."""
    stripped = strip(frame) if has_telemetry(frame) else None
    return frame if stripped is None else stripped[0]


def bts(qpn: int, pause_us: int, **changes: Any) -> bytes:
    """Return a BTS for NIC a that names its flow with this source QP. For protocol 6 it is a TCP signal."""
    fields = {
        "cause": BtsCause.QUEUE,
        "cacheable": False,
        "pause_us": pause_us,
        "protocol": 17,
        "dscp": 26,
        "source_port": source_port(qpn),
        "destination_port": 4791,
        "destination_qpn": qpn + 100,
        "traffic_class": 3,
        "queue_depth_bytes": 300_000,
        "switch_id": 1,
        "stamp": 0,
    }
    signal = BackToSender(**{**fields, **changes})
    pack = pack_tcp_signal if signal.protocol == IP_PROTOCOL_TCP else pack_bts
    return pack(signal, destination_mac=MAC_A, source_mac=MAC_B, congested_ip=IP_B, paused_ip=IP_A)


class FakeLink:
    """A link between the NICs `a` and `b`; `run` moves frames until no event is due."""

    def __init__(
        self,
        settings: TransportSettings | None = None,
        *,
        dilation: int = 1,
        delay_ns: int = 5_000,
        loss: float = 0.0,
        duplicate: float = 0.0,
        reorder: float = 0.0,
        reorder_ns: int = 20_000,
        seed: int = 1,
        drop: Callable[[int, str, bytes], bool] | None = None,
        change: Mutation | None = None,
        epoch_ns: int = 0,
    ) -> None:
        """Connect two NICs; probabilities are per frame.

        `drop` and `change` are called with the frame's number, the sender's name and the frame.
        """
        settings = settings or TransportSettings()
        scale = Dilation(dilation)
        self.dilation = scale
        self.algorithms = Algorithms(settings, scale)
        self.a = Nic(NicAddress("a", MAC_A, IP_A, MAC_B), self.algorithms, epoch_ns=epoch_ns)
        self.b = Nic(NicAddress("b", MAC_B, IP_B, MAC_A), self.algorithms, epoch_ns=epoch_ns)
        self.rate_bps = scale.wall_bps(settings.line_rate_bps)
        self.now_ns = 0
        self.sent: list[tuple[int, str, bytes]] = []
        self.events: dict[str, list[Event]] = {"a": [], "b": []}
        self._delay_ns = scale.wall_ns(delay_ns)
        self._reorder_ns = scale.wall_ns(reorder_ns)
        self._probabilities = (loss, duplicate, reorder)
        self._random = random.Random(seed)
        self.delivered: list[tuple[int, str, bytes]] = []
        self._drop = drop
        self._change = change
        self._in_flight: list[tuple[int, int, Nic, bytes]] = []
        self._sequence = 0
        self._flows = 0

    def transfer(self, size_bytes: int, *, ready_ns: int = 0, backwards: bool = False, qpn: int | None = None) -> int:
        """Announce a message at both ends and return its flow id; the two ends have different QP numbers."""
        self._flows += 1
        source, sink = (self.b, self.a) if backwards else (self.a, self.b)
        source_qpn = qpn if qpn is not None else self._flows
        destination_qpn = source_qpn + 100
        flow = self._flows
        source.send_message(OutgoingMessage(flow, source_qpn, destination_qpn, sink.address.ip, size_bytes, ready_ns))
        sink.expect_message(IncomingMessage(flow, source_qpn, destination_qpn, source.address.ip, size_bytes))
        return flow

    def of(self, kind: type[EventKind], name: str) -> list[EventKind]:
        """Return the events of one kind at one NIC, in order."""
        return [event for event in self.events[name] if isinstance(event, kind)]

    def data_sent(self, name: str = "a") -> list[tuple[int, int, int]]:
        """Return the data packets that a NIC sent as (start, end, PSN)."""
        rows = []
        for end_ns, source, frame in self.sent:
            header = parse_header(plain(frame))
            if source == name and header is not None and header.opcode in SEND_OPCODES:
                start_ns = end_ns - len(frame) * 8 * NS_PER_S // self.rate_bps
                rows.append((start_ns, end_ns, header.psn_word(frame) & PSN_MASK))
        return rows

    def inject(self, time_ns: int, receiver: Nic, frame: bytes) -> None:
        self._sequence += 1
        heapq.heappush(self._in_flight, (time_ns, self._sequence, receiver, frame))

    def run(self, until_ns: int = 1 << 60, max_steps: int = 2_000_000) -> None:
        """Run until no event is due before `until_ns`; fail after more than `max_steps` steps."""
        for _ in range(max_steps):
            times = [time for time in (self.a.next_timer_ns(), self.b.next_timer_ns()) if time is not None]
            if self._in_flight:
                times.append(self._in_flight[0][0])
            if not times or min(times) > until_ns:
                return
            self.now_ns = max(self.now_ns, min(times))
            self._step()
        raise Broken(f"events are still due after {max_steps} steps")

    def _step(self) -> None:
        while self._in_flight and self._in_flight[0][0] <= self.now_ns:
            time_ns, _, receiver, frame = heapq.heappop(self._in_flight)
            receiver.receive(frame, time_ns)
            self.delivered.append((time_ns, receiver.address.name, frame))
        for nic in (self.a, self.b):
            for end_ns, frame in nic.frames_to_send(self.now_ns):
                require(end_ns <= self.now_ns, "a frame left before it was due")
                self._carry(nic, end_ns, frame)
            due_ns = nic.next_timer_ns()
            require(due_ns is None or due_ns > self.now_ns, "next_timer_ns() is not in the future after on_timer()")
            while (event := nic.next_event()) is not None:
                self.events[nic.address.name].append(event)

    def _carry(self, source: Nic, end_ns: int, frame: bytes) -> None:
        name = source.address.name
        number = len(self.sent)
        self.sent.append((end_ns, name, frame))
        changed = self._change(number, name, frame) if self._change else frame
        if changed is None or (self._drop and self._drop(number, name, frame)):
            return
        loss, duplicate, reorder = self._probabilities
        if self._random.random() < loss:
            return
        copies = 2 if self._random.random() < duplicate else 1
        for _ in range(copies):
            extra_ns = self._random.randrange(self._reorder_ns) if self._random.random() < reorder else 0
            self.inject(end_ns + self._delay_ns + extra_ns, self.b if source is self.a else self.a, changed)


def transferred(
    size_bytes: int, *settings: TransportSettings, arrivals: Sequence[tuple[int, bytes]] = (), **conditions: Any
) -> FakeLink:
    """Return a link after the transfer of one message from a to b.

    `arrivals` are further frames that arrive at NIC a; other arguments are passed to FakeLink.
    """
    link = FakeLink(*settings, **conditions)
    link.transfer(size_bytes)
    for time_ns, frame in arrivals:
        link.inject(time_ns, link.a, frame)
    link.run()
    return link
