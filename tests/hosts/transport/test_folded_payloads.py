# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of NICs that describe the end of full payloads by tails: everything else must be as with stored payloads."""

import pytest

from sfc_testbed.contract.link import FakeLink
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.reports import Event
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import PAYLOAD_BLOCK
from sfc_testbed.wire.tail import pack_tail, tail_bytes, whole_frame

STORED_BYTES = 142
MESSAGE_BYTES = 20_100
END_NS = 1 << 30

Sent = list[tuple[int, bytes, int]]
"""Frames of a NIC with their times and tails."""


def sent_by(nic: Nic, now_ns: int = END_NS) -> Sent:
    wire, frames = nic.advance(now_ns), []
    while (frame := wire.take_finished(now_ns)) is not None:
        frames.append((wire.finish_ns, frame, int(wire.tail)))
    return frames


def sender_and_receiver(settings: TransportSettings, *, is_folded: bool) -> tuple[Sent, Nic]:
    """Return the frames that a NIC sends without any answer, and a NIC that expects their message."""
    link = FakeLink(settings)
    if is_folded:
        link.a.fold_payloads(STORED_BYTES)
        link.b.fold_payloads(STORED_BYTES)
    link.transfer(MESSAGE_BYTES)
    return sent_by(link.a, 8_000), link.b


def outcome(frames: Sent, nic: Nic) -> tuple[list[Event], list[bytes], object]:
    """Deliver frames; return the NIC's events, answers and counters."""
    for time_ns, frame, tail in frames:
        nic.receive(frame, time_ns, tail)
    answers = [frame for _, frame, _ in sent_by(nic)]
    events: list[Event] = []
    while (event := nic.next_event()) is not None:
        events.append(event)
    return events, answers, nic.statistics()


@pytest.mark.parametrize("payload_bytes", [1_000, 1_001, 80, 4_000])
def test_frames_have_the_same_bytes_and_times(payload_bytes: int) -> None:
    settings = TransportSettings(payload_bytes=payload_bytes)
    plain, _ = sender_and_receiver(settings, is_folded=False)
    folded, _ = sender_and_receiver(settings, is_folded=True)
    assert [(time_ns, whole_frame(frame, tail, PAYLOAD_BLOCK), 0) for time_ns, frame, tail in folded] == plain
    assert any(tail_bytes(tail) for *_, tail in folded) == (payload_bytes in (1_000, 4_000))


@pytest.mark.parametrize("recovery", ["irn", "go-back-n"])
def test_receiver_does_the_same(recovery: str) -> None:
    """The second packet comes last, so that IRN keeps the packets after it."""
    settings = TransportSettings(loss_recovery=recovery)
    results = []
    for is_folded in (False, True):
        frames, receiver = sender_and_receiver(settings, is_folded=is_folded)
        late = (frames[-1][0], *frames[1][1:])
        results.append(outcome([frames[0], *frames[2:], late], receiver))
    assert results[0] == results[1]


def test_a_tail_of_other_bytes_is_corruption() -> None:
    frames, receiver = sender_and_receiver(TransportSettings(), is_folded=True)
    time_ns, frame, tail = frames[0]
    receiver.receive(frame, time_ns, tail + 1)
    receiver.receive(whole_frame(frame, tail + 1, PAYLOAD_BLOCK), time_ns)
    assert receiver.statistics().corrupted == 2


def test_a_tail_of_another_length_is_checked_byte_by_byte() -> None:
    frames, receiver = sender_and_receiver(TransportSettings(), is_folded=True)
    time_ns, frame, tail = frames[0]
    stored, start = len(frame) - 4, tail & 0xFFFFFFFF
    longer = frame[:stored] + PAYLOAD_BLOCK[start : start + 8] + frame[stored:]
    receiver.receive(longer, time_ns, int(pack_tail(start + 8, tail_bytes(tail) - 8, 4)))
    statistics = receiver.statistics()
    assert (statistics.corrupted, statistics.data_received) == (0, 1)
    assert statistics.bytes_received == len(whole_frame(frame, tail, PAYLOAD_BLOCK))
