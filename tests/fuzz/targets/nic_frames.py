# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Arbitrary frames to a NIC at arbitrary times, between timers and the host's own traffic.

Requirements: no exception is raised. Every received frame is counted once. Sent frames are counted and in order. Timers
are in the future. Each message ends at most once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from random import Random
from typing import Any

from hosts.transport.algorithms import Algorithms
from hosts.transport.congestion import CONGESTION_CONTROLS
from hosts.transport.flow_control import FLOW_CONTROLS
from hosts.transport.loss_recovery import LOSS_RECOVERIES
from hosts.transport.messages import (
    IncomingMessage,
    MessageCompleted,
    MessageFailed,
    MessageReceived,
    NicAddress,
    OutgoingMessage,
)
from hosts.transport.nic import Nic
from hosts.transport.settings import TransportSettings
from tests.fuzz.target import STEPS, Case, Finding, Target
from tests.fuzz.targets.frames import Between, FrameMaker, damaged
from wire.dilation import Dilation

_OWN = NicAddress("h1", 0x0200_0000_0001, 0x0A00_0001, 0x0200_0000_0002)
_PEER_MAC, _PEER_IP = 0x0200_0000_0002, 0x0A00_0002
_TO_US = Between(_PEER_MAC, _OWN.mac, _PEER_IP, _OWN.ip)
_FROM_US = Between(_OWN.mac, _PEER_MAC, _OWN.ip, _PEER_IP)
_STEPS = 400
_QPNS = 4
_OUTGOING = (1, 900, 60_000, 300_000)
_ENDS = (
    "data_received", "acks_received", "naks_received", "cnps_received", "pulls_received", "trimmed_received",
    "returned_received", "bts_received", "pfc_received", "malformed", "corrupted",
    "misdelivered", "unknown_queue_pair", "other", "programs_received",
    "late_acknowledgements", "acknowledgements_refused", "receiver_overruns",
)  # fmt: skip
"""Counters of received frames; every received frame increments exactly one of them."""


def _case(number: int) -> Case:
    """Return a batch generated from a seed."""
    random = Random(number)
    to_us, from_us = FrameMaker(random, _TO_US, _QPNS), FrameMaker(random, _FROM_US, _QPNS)
    has_programs = random.random() < 0.3
    steps: list[list[Any]] = []
    for _ in range(_STEPS):
        wait_ns = random.choice((0, 0, 1, 1_000, 80_000, 80_000, 1_000_000, 30_000_000))
        early_ns = random.choice((0, 0, 0, 1, 100_000))
        if has_programs and random.random() < 0.1:
            steps.append(["program", wait_ns, early_ns, from_us.program().hex()])
            continue
        frame = to_us.frame()
        if random.random() < 0.4:
            frame = damaged(frame, random)
        steps.append(["frame", wait_ns, early_ns, frame.hex()])
    return {
        "transport": {
            "congestion": random.choice(tuple(CONGESTION_CONTROLS)),
            "flow_control": random.choice(tuple(FLOW_CONTROLS)),
            "loss_recovery": random.choice(tuple(LOSS_RECOVERIES)),
            "verify": random.random() < 0.7,
            "receiver_rate_bps": random.choice((0, 0, 50_000_000_000)),
            "receiver_buffer_bytes": random.choice((3_000, 500_000)),
        },
        "programs": has_programs,
        STEPS: steps,
    }


def _nic(case: Case) -> Nic:
    nic = Nic(_OWN, Algorithms(TransportSettings(**case["transport"]), Dilation(1000)))
    if case["programs"]:
        nic.attach_programs()
    for number, size_bytes in enumerate(_OUTGOING, start=1):
        nic.send_message(OutgoingMessage(number, number, number, _PEER_IP, size_bytes, 1_000 * number))
        nic.expect_message(IncomingMessage(100 + number, number, number, _PEER_IP, 30_000))
    return nic


def _check(case: Case) -> int:
    nic = _nic(case)
    sent, ended = _Sent(), Counter[tuple[str, int]]()
    now_ns, received, received_bytes = 0, 0, 0
    for kind, wait_ns, early_ns, text in case[STEPS]:
        frame = bytes.fromhex(text)
        now_ns += wait_ns
        sent.take(nic, now_ns + early_ns)
        if kind == "program":
            nic.send_program_frame(frame, now_ns)
        else:
            nic.receive(frame, now_ns)
            received += 1
            received_bytes += len(frame)
        while (event := nic.next_event()) is not None:
            if isinstance(event, MessageCompleted | MessageFailed):
                ended["sent", event.report.message.flow_id] += 1
            elif isinstance(event, MessageReceived):
                ended["received", event.flow_id] += 1
    sent.take(nic, now_ns + 1_000_000)
    _check_ends(ended)
    _check_counters(nic, received, received_bytes, sent, is_slow=bool(case["transport"]["receiver_rate_bps"]))
    nic.unfinished_messages()
    return received


class _Sent:
    """Counters of the frames that a NIC has sent."""

    def __init__(self) -> None:
        self.frames = self.bytes = self._last_ns = 0

    def take(self, nic: Nic, now_ns: int) -> None:
        for end_ns, frame in nic.frames_to_send(now_ns):
            if not self._last_ns <= end_ns <= now_ns:
                raise Finding("frames leave out of order", f"{self._last_ns} {end_ns} {now_ns}")
            self._last_ns = end_ns
            self.frames += 1
            self.bytes += len(frame)
        due_ns = nic.next_timer_ns()
        if due_ns is not None and due_ns <= now_ns:
            raise Finding("a timer that lies behind", f"{due_ns} {now_ns}")


def _check_ends(ended: Counter[tuple[str, int]]) -> None:
    for (direction, flow), count in ended.items():
        if count > 1 or flow not in {*range(1, 1 + len(_OUTGOING)), *range(101, 101 + len(_OUTGOING))}:
            raise Finding("a message that ends twice or does not exist", f"{direction} {flow} {count}")


def _check_counters(nic: Nic, received: int, received_bytes: int, sent: _Sent, *, is_slow: bool) -> None:
    counted = asdict(nic.statistics())
    ends = sum(counted[name] for name in _ENDS)
    if ends > received or (ends < received and not is_slow):
        raise Finding("frames received and their ends differ", f"{received} {counted}")
    expected = {
        "frames_received": received,
        "bytes_received": received_bytes,
        "frames_sent": sent.frames,
        "bytes_sent": sent.bytes,
        "bts_received": sum(counted["bts_by_verdict"].values()),
    }
    wrong = {name: (counted[name], value) for name, value in expected.items() if counted[name] != value}
    if wrong:
        raise Finding(f"counters do not add up: {', '.join(sorted(wrong))}", f"{wrong}")


TARGET = Target("nic-frames", "frame to a NIC", _check, examples=25, batch=_case, share=3, floor=660_000)
