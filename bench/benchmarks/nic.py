# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Data frames per second of CPU time that the sans-IO NIC sends and receives, with few and with many queue pairs.

Two NICs are connected in virtual time by a wire with a fixed delay and no loss. The calls of the two NICs are timed
separately. The sender's cost includes receiving the acknowledgement, the receiver's cost includes sending it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from bench.instruments.benchmark import Benchmark, Figure
from sfc_testbed.hosts.transport.algorithms import Algorithms
from sfc_testbed.hosts.transport.messages import IncomingMessage, NicAddress, OutgoingMessage
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.wire.dilation import Dilation

QUEUE_PAIRS = (1, 32, 500)
_MACS = (0x0200_0000_0001, 0x0200_0000_0002)
_IPS = (0x0A00_0001, 0x0A00_0002)
_DELAY_NS = 5_000


@dataclass
class NicBenchmark(Benchmark):
    """Frames per second of this thread's CPU time, which is the rate per core."""

    name = "nic"
    summary = "frames/s per core of the sans-IO NIC, sending and receiving"

    frames: int = 100_000

    def run(self) -> list[Figure]:
        figures: list[Figure] = []
        for queue_pairs in QUEUE_PAIRS:
            wire = _Wire(queue_pairs, self.frames)
            wire.run()
            for side, spent_ns in (("sender", wire.sender_ns), ("receiver", wire.receiver_ns)):
                rate = wire.data_frames * 1e9 / spent_ns
                note = f"{spent_ns / wire.data_frames:,.0f} ns for each data frame and its ACK"
                figures.append(Figure(f"{side}, {queue_pairs} QPs", rate, "frames/s", note=note))
        return figures


class _Wire:
    """A transfer from one NIC to another, and the CPU time of each NIC."""

    def __init__(self, queue_pairs: int, frames: int) -> None:
        settings = TransportSettings()
        algorithms = Algorithms(settings, Dilation())
        names = ("sender", "receiver")
        self._sender, self._receiver = (
            Nic(NicAddress(names[i], _MACS[i], _IPS[i], _MACS[1 - i]), algorithms) for i in range(2)
        )
        message_bytes = frames // queue_pairs * settings.payload_bytes
        for number in range(1, queue_pairs + 1):
            self._receiver.expect_message(IncomingMessage(number, number, number, _IPS[0], message_bytes))
            self._sender.send_message(OutgoingMessage(number, number, number, _IPS[1], message_bytes, 0))
        self.data_frames = 0
        self.sender_ns = 0
        self.receiver_ns = 0

    def run(self) -> None:
        """Move frames in steps of the delay until neither NIC has anything to do."""
        now_ns = 0
        acknowledgements: list[tuple[int, bytes]] = []
        while True:
            data, self.sender_ns = _timed_turn(self._sender, acknowledgements, now_ns, self.sender_ns)
            self.data_frames += len(data)
            now_ns += _DELAY_NS
            acknowledgements, self.receiver_ns = _timed_turn(self._receiver, data, now_ns, self.receiver_ns)
            now_ns += _DELAY_NS
            if not data and not acknowledgements:
                timer_ns = self._sender.next_timer_ns()
                if timer_ns is None or self._is_done():
                    return
                now_ns = max(now_ns, timer_ns)

    def _is_done(self) -> bool:
        return self.data_frames > 0 and not self._sender.unfinished_messages()


def _timed_turn(
    nic: Nic, arriving: list[tuple[int, bytes]], now_ns: int, spent_ns: int
) -> tuple[list[tuple[int, bytes]], int]:
    """Let the NIC receive the arriving frames; return the frames to send and the updated CPU time."""
    began_ns = time.thread_time_ns()
    for _, frame in arriving:
        nic.receive(frame, now_ns)
    leaving = nic.frames_to_send(now_ns)
    while nic.next_event() is not None:
        pass
    return leaving, spent_ns + time.thread_time_ns() - began_ns
