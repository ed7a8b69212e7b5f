# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Go-back-N: one NAK a gap, rewind, timeout, duplicates."""

import pytest

from hosts.transport.congestion import PathContext
from hosts.transport.loss_recovery.base import NEVER, Arrival
from hosts.transport.loss_recovery.go_back_n import GoBackN, GoBackNParameters, InOrderOnly
from hosts.transport.messages import MessageCompleted
from hosts.transport.settings import TransportSettings
from tests.hosts.transport.fake_link import FakeLink

PATH = PathContext(100_000_000_000, 10_000, 1000, 125_000)


def sender(sent: int = 10) -> GoBackN:
    """Has sent packets 0..sent-1 at time 0."""
    recovery = GoBackN(GoBackNParameters(), PATH, 4_000, 0)
    for index in range(sent):
        assert recovery.next_packet() == index
        recovery.on_sent(index, 0)
    return recovery


def test_a_nak_rewinds_to_the_gap_and_acknowledges_what_is_before() -> None:
    """Everything from the gap on is sent again."""
    recovery = sender()
    assert recovery.on_ack(4, -1, True, 100) == 6
    assert (recovery.cumulative, recovery.next_packet(), recovery.in_flight()) == (4, 4, 0)
    recovery.on_sent(4, 110)
    assert (recovery.next_packet(), recovery.in_flight()) == (5, 1)


def test_acknowledgements_of_the_first_sending_move_the_cursor_on() -> None:
    """After a rewind, what arrives after all need not be sent again."""
    recovery = sender()
    recovery.on_ack(2, -1, True, 100)
    recovery.on_ack(8, -1, False, 120)
    assert recovery.next_packet() == 8


def test_the_timer_restarts_with_progress_and_stops_when_all_is_acknowledged() -> None:
    """It covers the oldest packet in flight."""
    recovery = sender()
    assert recovery.deadline_ns == 4_000
    recovery.on_ack(3, -1, False, 1_000)
    assert recovery.deadline_ns == 5_000
    recovery.on_ack(3, -1, False, 2_000)
    assert recovery.deadline_ns == 5_000
    recovery.on_ack(10, -1, False, 3_000)
    assert recovery.deadline_ns == NEVER


def test_a_timeout_goes_back_to_the_first_unacknowledged_packet() -> None:
    """And the timer runs again once something is sent."""
    recovery = sender()
    assert recovery.on_timer(4_000) == 10
    assert (recovery.next_packet(), recovery.deadline_ns) == (0, NEVER)
    recovery.on_sent(0, 4_100)
    assert recovery.deadline_ns == 8_100


def test_the_receiver_reports_a_gap_once_until_the_interval_is_over() -> None:
    """Silent after the NAK until the expected packet comes (IBTA), but not for ever."""
    order = InOrderOnly(GoBackNParameters(nak_interval_ns=500))
    assert order.on_packet(0, 0, b"", 0) == Arrival.IN_ORDER
    assert order.on_packet(2, 0, b"", 10) == Arrival.NEGATIVE
    assert order.on_packet(3, 0, b"", 20) == Arrival.SILENT
    assert order.on_packet(4, 0, b"", 510) == Arrival.NEGATIVE
    assert order.on_packet(1, 0, b"", 520) == Arrival.IN_ORDER
    assert order.on_packet(5, 0, b"", 530) == Arrival.NEGATIVE
    assert order.on_packet(0, 0, b"", 540) == Arrival.DUPLICATE
    assert order.next_held() is None


def test_one_lost_packet_costs_one_nak_and_no_timeout() -> None:
    """The rest of the window is sent again."""
    link = FakeLink(TransportSettings(congestion="window"), drop=lambda number, name, frame: number == 20)
    link.transfer(300_000)
    link.run()
    (done,) = link.of(MessageCompleted, "a")
    assert (done.report.counts.naks, done.report.counts.timeouts) == (1, 0)
    assert 100 < done.report.counts.packets_resent <= 126


@pytest.mark.parametrize("lost", [0, 99], ids=["first", "last"])
def test_a_lost_end_of_a_message_is_found(lost: int) -> None:
    """The tail by the timeout; the head by the gap."""
    seen = {"a": 0, "b": 0}

    def drop(number: int, name: str, frame: bytes) -> bool:
        seen[name] += 1
        return name == "a" and seen[name] == lost + 1

    link = FakeLink(TransportSettings(rto_ns=100_000), drop=drop)
    link.transfer(100_000)
    link.run()
    (done,) = link.of(MessageCompleted, "a")
    assert done.report.counts.timeouts == (1 if lost == 99 else 0)
    assert done.finish_ns < 130_000


def test_a_lost_last_acknowledgement_does_not_hang_the_flow() -> None:
    """The duplicate is acknowledged again."""
    link = FakeLink(TransportSettings(rto_ns=50_000), drop=lambda number, name, frame: number == 1)
    link.transfer(500)
    link.run()
    (done,) = link.of(MessageCompleted, "a")
    assert (done.report.counts.timeouts, done.report.counts.packets_sent) == (1, 2)
    assert link.b.statistics().duplicates_received == 1
