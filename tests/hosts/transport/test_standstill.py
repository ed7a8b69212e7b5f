# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of a NIC that stalls: what it does during and after a stall, and what it loses."""

import pytest

from sfc_testbed.contract.link import FakeLink
from sfc_testbed.hosts.transport.algorithms import Algorithms
from sfc_testbed.hosts.transport.messages import MessageReceived
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.standstill import StallingNic, Standstill
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire.dilation import Dilation

SETTINGS = TransportSettings(congestion="window", loss_recovery="irn")
SIZE_BYTES = 500_000


def _link(at: str, *standstills: Standstill, settings: TransportSettings = SETTINGS) -> FakeLink:
    """Return a link with a transfer from a to b, in which NIC `at` has stalls."""
    link = FakeLink(settings)
    plain = link.a if at == "a" else link.b
    nic = StallingNic(plain.address, Algorithms(settings, Dilation()))
    nic.stand_still(standstills)
    setattr(link, at, nic)
    link.transfer(SIZE_BYTES)
    return link


def _starts(link: FakeLink) -> list[int]:
    return [start_ns for start_ns, _, _ in link.data_sent()]


def test_a_stalled_sender_starts_no_frame_and_continues_afterwards() -> None:
    link = _link("a", Standstill(10_000, 60_000, 1024))
    link.run()
    assert not [start_ns for start_ns in _starts(link) if 10_000 <= start_ns < 60_000]
    assert min(start_ns for start_ns in _starts(link) if start_ns >= 60_000) == 60_000
    assert [event.figures.corrupted for event in link.of(MessageReceived, "b")] == [False]
    [completed] = link.of(Transmission, "a")
    assert completed.finish_ns > 60_000
    assert link.a.statistics().ring_overruns == 0


def test_a_stalled_receiver_answers_waiting_frames_afterwards() -> None:
    link = _link("b", Standstill(10_000, 60_000, 1024))
    link.run()
    answers = [end_ns for end_ns, name, _ in link.sent if name == "b"]
    assert not [end_ns for end_ns in answers if 10_100 < end_ns < 60_000]
    assert [event.figures.corrupted for event in link.of(MessageReceived, "b")] == [False]
    statistics = link.b.statistics()
    assert (statistics.frames_received, statistics.ring_overruns) == (link.a.statistics().frames_sent, 0)


@pytest.mark.parametrize("recovery", ["go-back-n", "irn"])
def test_frames_that_overflow_the_ring_are_counted_and_resent(recovery: str) -> None:
    settings = TransportSettings(congestion="window", loss_recovery=recovery)
    link = _link("b", Standstill(10_000, 60_000, 3), settings=settings)
    link.run()
    statistics = link.b.statistics()
    assert statistics.ring_overruns > 0
    assert statistics.frames_received + statistics.ring_overruns == link.a.statistics().frames_sent
    assert [event.figures.corrupted for event in link.of(MessageReceived, "b")] == [False]
    assert link.a.statistics().retransmissions >= statistics.ring_overruns


def test_timers_due_in_a_stall_fire_after_it() -> None:
    timeouts = []
    for standstills in ((), (Standstill(20_000, 5_000_000, 1024),)):
        link = FakeLink(SETTINGS, drop=lambda number, name, frame: name == "b")
        link.a = nic = StallingNic(link.a.address, Algorithms(SETTINGS, Dilation()))
        nic.stand_still(standstills)
        link.transfer(SIZE_BYTES)
        for until_ns in (4_999_999, 5_000_000):
            link.run(until_ns)
            timeouts.append(nic.statistics().timeouts)
    assert timeouts[0] > 0
    assert timeouts[2:] == [0, 1]


def test_a_late_caller_gets_the_same_frames_and_times() -> None:
    def frames(step_ns: int) -> list[tuple[int, bytes]]:
        link = _link("a", Standstill(1_000, 4_000, 8), Standstill(6_000, 7_000, 8))
        return [frame for now_ns in range(step_ns, 10_001, step_ns) for frame in link.a.frames_to_send(now_ns)]

    assert len(frames(100)) > 20
    assert frames(100) == frames(2_500) == frames(10_000)


def test_stalls_that_touch_are_merged_in_any_order() -> None:
    link = _link("a", Standstill(20_000, 30_000, 1), Standstill(10_000, 20_000, 1), Standstill(12_000, 13_000, 1))
    link.run()
    assert not [start_ns for start_ns in _starts(link) if 10_000 <= start_ns < 30_000]


def test_quiesce_counts_the_frames_in_the_ring() -> None:
    """The run ends during a stall."""
    link = _link("b", Standstill(1_000, 1 << 50, 1024))
    link.run(until_ns=40_000)
    before = link.b.statistics().frames_received
    link.a.quiesce()
    link.b.quiesce()
    assert before < link.b.statistics().frames_received == len([1 for _, name, _ in link.delivered if name == "b"])


def test_program_frames_wait_for_the_end_of_the_stall() -> None:
    link = _link("a", Standstill(1_000_000, 2_000_000, 8))
    link.run(until_ns=500_000)
    frame = bytes.fromhex("020000000002 020000000001 0800 45000054 00000000 4001 0000 0a000001 0a000002") + bytes(64)
    link.a.attach_programs()
    link.a.send_program_frame(frame, 1_500_000)
    assert link.a.frames_to_send(1_999_999) == []
    assert link.a.next_timer_ns() == 2_000_000
    [(departure_ns, _)] = link.a.frames_to_send(3_000_000)
    assert departure_ns >= 2_000_000
