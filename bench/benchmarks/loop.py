# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""CPU time that a live agent's event loop needs for a data packet and its ACK between two NICs on a veth pair.

One process serves all hosts, so each packet costs two frames sent and two received, including the kernel's work. At the
fast pace the loop is late and handles many frames at a time. At the slow pace every frame wakes the loop.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from dataclasses import dataclass

from bench.instruments.benchmark import Benchmark, Figure
from bench.instruments.network import veth_pairs
from sfc_testbed.hosts.io.event_loop import EventLoop
from sfc_testbed.hosts.io.packet_socket import PacketSocket
from sfc_testbed.hosts.transport.algorithms import Algorithms
from sfc_testbed.hosts.transport.messages import IncomingMessage, NicAddress, OutgoingMessage
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.reports import Event
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire.dilation import Dilation

_LEAD_NS = 50_000_000
_MAC, _IP = 0x0200_0000_0000, 0x0A00_0000
_QPN = 1


@dataclass(frozen=True, slots=True)
class Pace:
    """A load: `pairs` pairs of hosts, each sending `packets` packets at the dilation."""

    name: str
    pairs: int
    dilation: int
    packets: int


@dataclass
class LoopBenchmark(Benchmark):
    """Data packets per second of CPU time through the live event loop, for each load. Needs root."""

    name = "loop"
    summary = "data packets/s per core of the live loop, sockets and kernel included"

    paces: tuple[Pace, ...] = (Pace("many at a time", 8, 1_000, 4_000), Pace("one at a time", 8, 20_000, 500))

    def run(self) -> list[Figure]:
        return [_measure(pace) for pace in self.paces]


def _measure(pace: Pace) -> Figure:
    wires = [(f"left{number}", f"right{number}") for number in range(pace.pairs)]
    with veth_pairs(wires), ExitStack() as resources:
        counter = _CompletionCounter(pace.pairs)
        loop = counter.loop
        resources.enter_context(closing(loop))
        settings, start_ns = TransportSettings(), time.monotonic_ns() + _LEAD_NS
        algorithms = Algorithms(settings, Dilation(pace.dilation))
        nics = []
        for number, interfaces in enumerate(wires):
            ends = [2 * number, 2 * number + 1]
            pair = [
                Nic(NicAddress(name, _MAC + end, _IP + end, _MAC + (end ^ 1)), algorithms)
                for name, end in zip(interfaces, ends, strict=True)
            ]
            for nic in pair:
                loop.add_nic(nic, resources.enter_context(closing(PacketSocket(nic.address.name))))
            size_bytes = pace.packets * settings.payload_bytes
            pair[1].expect_message(IncomingMessage(number, _QPN, _QPN, _IP + ends[0], size_bytes))
            pair[0].send_message(OutgoingMessage(number, _QPN, _QPN, _IP + ends[1], size_bytes, start_ns))
            nics += pair
        loop.call_soon()
        began_ns = time.process_time_ns()
        loop.run()
        spent_ns = time.process_time_ns() - began_ns
        packets = sum(nic.statistics().data_sent for nic in nics)
    note = f"{spent_ns / packets / 1_000:.1f} µs for each data packet, two frames sent and two received"
    return Figure(pace.name, packets * 1e9 / spent_ns, "packets/s", note=note)


class _CompletionCounter:
    """An event loop that stops once `messages` messages are complete."""

    def __init__(self, messages: int) -> None:
        self._remaining = messages
        self.loop = EventLoop(self._on_event)

    def _on_event(self, host: str, event: Event) -> None:
        self._remaining -= isinstance(event, Transmission)
        if not self._remaining:
            self.loop.stop()
