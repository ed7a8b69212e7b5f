# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A NIC that stands still for a while: what it does not do meanwhile, what it has lost, and that it goes on."""

from __future__ import annotations

import pytest

from hosts.transport.algorithms import Algorithms
from hosts.transport.messages import MessageCompleted, MessageReceived
from hosts.transport.settings import TransportSettings
from hosts.transport.standstill import StallingNic, Standstill
from tests.hosts.transport.fake_link import FakeLink
from wire.dilation import Dilation

SETTINGS = TransportSettings(congestion="window", loss_recovery="irn")
SIZE_BYTES = 500_000


def _link(at: str, *standstills: Standstill, settings: TransportSettings = SETTINGS) -> FakeLink:
    """A transfer from a to b, one of which stands still."""
    link = FakeLink(settings)
    plain = link.a if at == "a" else link.b
    nic = StallingNic(plain.address, Algorithms(settings, Dilation()))
    nic.stand_still(standstills)
    setattr(link, at, nic)
    link.transfer(SIZE_BYTES)
    return link


def _starts(link: FakeLink) -> list[int]:
    return [start_ns for start_ns, _, _ in link.data_sent()]


def test_a_sender_sends_nothing_and_goes_on() -> None:
    """No frame starts within; the one on the wire is finished; the message arrives whole."""
    link = _link("a", Standstill(10_000, 60_000, 1024))
    link.run()
    assert not [start_ns for start_ns in _starts(link) if 10_000 <= start_ns < 60_000]
    assert min(start_ns for start_ns in _starts(link) if start_ns >= 60_000) == 60_000
    assert [event.corrupted for event in link.of(MessageReceived, "b")] == [False]
    [done] = link.of(MessageCompleted, "a")
    assert done.finish_ns > 60_000
    assert link.a.statistics().ring_overruns == 0


def test_a_receiver_reads_nothing_and_answers_afterwards() -> None:
    """What came waits in its ring: nothing is lost, no acknowledgement leaves before the end."""
    link = _link("b", Standstill(10_000, 60_000, 1024))
    link.run()
    answers = [end_ns for end_ns, name, _ in link.sent if name == "b"]
    assert not [end_ns for end_ns in answers if 10_100 < end_ns < 60_000]
    assert [event.corrupted for event in link.of(MessageReceived, "b")] == [False]
    statistics = link.b.statistics()
    assert (statistics.frames_received, statistics.ring_overruns) == (link.a.statistics().frames_sent, 0)


@pytest.mark.parametrize("recovery", ["go-back-n", "irn"])
def test_a_full_ring_loses_and_counts(recovery: str) -> None:
    """Frames that found it full are none of those received; retransmission brings what they held."""
    settings = TransportSettings(congestion="window", loss_recovery=recovery)
    link = _link("b", Standstill(10_000, 60_000, 3), settings=settings)
    link.run()
    statistics = link.b.statistics()
    assert statistics.ring_overruns > 0
    assert statistics.frames_received + statistics.ring_overruns == link.a.statistics().frames_sent
    assert [event.corrupted for event in link.of(MessageReceived, "b")] == [False]
    assert link.a.statistics().retransmissions >= statistics.ring_overruns


def test_timers_that_came_due_fire_late() -> None:
    """A sender that nobody answers times out when it goes on, and not while it stands still."""
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


def test_a_caller_that_comes_late_changes_nothing() -> None:
    """Called once long afterwards, the NIC gives the same frames at the same ideal times."""

    def frames(step_ns: int) -> list[tuple[int, bytes]]:
        link = _link("a", Standstill(1_000, 4_000, 8), Standstill(6_000, 7_000, 8))
        return [frame for now_ns in range(step_ns, 10_001, step_ns) for frame in link.a.frames_to_send(now_ns)]

    assert len(frames(100)) > 20
    assert frames(100) == frames(2_500) == frames(10_000)


def test_standstills_that_touch_are_one() -> None:
    """In whatever order they are told."""
    link = _link("a", Standstill(20_000, 30_000, 1), Standstill(10_000, 20_000, 1), Standstill(12_000, 13_000, 1))
    link.run()
    assert not [start_ns for start_ns in _starts(link) if 10_000 <= start_ns < 30_000]


def test_one_that_is_quiet_counts_what_waits() -> None:
    """The run ends while it stands still: frames in its ring have arrived."""
    link = _link("b", Standstill(1_000, 1 << 50, 1024))
    link.run(until_ns=40_000)
    before = link.b.statistics().frames_received
    link.a.quiesce()
    link.b.quiesce()
    assert before < link.b.statistics().frames_received == len([1 for _, name, _ in link.delivered if name == "b"])


def test_without_a_standstill_it_is_a_nic_like_any() -> None:
    """Every frame, and when it left."""
    standing, plain = _link("a"), FakeLink(SETTINGS)
    plain.transfer(SIZE_BYTES)
    for link in (standing, plain):
        link.run()
    assert standing.sent == plain.sent


def test_programs_wait_too() -> None:
    """A program's frame that comes within leaves afterwards."""
    link = _link("a", Standstill(1_000_000, 2_000_000, 8))
    link.run(until_ns=500_000)
    frame = bytes.fromhex("020000000002 020000000001 0800 45000054 00000000 4001 0000 0a000001 0a000002") + bytes(64)
    link.a.attach_programs()
    link.a.send_program_frame(frame, 1_500_000)
    assert link.a.frames_to_send(1_999_999) == []
    assert link.a.next_timer_ns() == 2_000_000
    [(left_ns, _)] = link.a.frames_to_send(3_000_000)
    assert left_ns >= 2_000_000
