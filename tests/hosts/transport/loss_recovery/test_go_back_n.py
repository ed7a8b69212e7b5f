# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of go-back-N: one NAK per gap, rewinding, timeouts and duplicates."""

import pytest

from sfc_testbed.contract.link import transferred
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER, Arrival
from sfc_testbed.hosts.transport.loss_recovery.go_back_n import GoBackN, GoBackNParameters, InOrderOnly
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from tests.hosts.transport.algorithm import PATH
from tests.hosts.transport.loss_recovery.test_irn import losing


def sender(sent: int = 10) -> GoBackN:
    """Return a sender that has sent packets 0..sent-1 at time 0."""
    recovery = GoBackN(GoBackNParameters(), PATH, 4_000, 0)
    for index in range(sent):
        assert recovery.next_packet() == index
        recovery.on_sent(index, 0)
    return recovery


def test_packets_acknowledged_after_a_rewind_are_not_resent() -> None:
    recovery = sender()
    recovery.on_ack(2, -1, True, 100)
    recovery.on_ack(8, -1, False, 120)
    assert recovery.next_packet() == 8


def test_the_timer_restarts_with_progress_and_stops_at_the_end() -> None:
    recovery = sender()
    assert recovery.deadline_ns == 4_000
    recovery.on_ack(3, -1, False, 1_000)
    assert recovery.deadline_ns == 5_000
    recovery.on_ack(3, -1, False, 2_000)
    assert recovery.deadline_ns == 5_000
    recovery.on_ack(10, -1, False, 3_000)
    assert recovery.deadline_ns == NEVER


def test_the_receiver_reports_a_gap_once_per_interval() -> None:
    """IBTA reports a gap only once; the repetition recovers a lost NAK."""
    order = InOrderOnly(GoBackNParameters(nak_interval_ns=500))
    assert order.on_packet(0, 0, b"", -1, 0) == Arrival.IN_ORDER
    assert order.on_packet(2, 0, b"", -1, 10) == Arrival.NEGATIVE
    assert order.on_packet(3, 0, b"", -1, 20) == Arrival.SILENT
    assert order.on_packet(4, 0, b"", -1, 510) == Arrival.NEGATIVE
    assert order.on_packet(1, 0, b"", -1, 520) == Arrival.IN_ORDER
    assert order.on_packet(5, 0, b"", -1, 530) == Arrival.NEGATIVE
    assert order.on_packet(0, 0, b"", -1, 540) == Arrival.DUPLICATE
    assert order.next_held() is None


def test_one_lost_packet_costs_one_nak_and_no_timeout() -> None:
    link = transferred(300_000, TransportSettings(congestion="window"), drop=lambda number, name, frame: number == 20)
    (completed,) = link.of(Transmission, "a")
    assert (completed.figures.naks, completed.figures.timeouts) == (1, 0)
    assert 100 < completed.figures.packets_resent <= 126


@pytest.mark.parametrize("lost", [0, 99], ids=["first", "last"])
def test_a_lost_first_or_last_packet_is_recovered(lost: int) -> None:
    """A NAK recovers the first packet, a timeout the last one."""
    link = transferred(100_000, TransportSettings(rto_ns=100_000), drop=losing(lost))
    (completed,) = link.of(Transmission, "a")
    assert completed.figures.timeouts == (1 if lost == 99 else 0)
    assert completed.finish_ns < 130_000


def test_a_duplicate_is_acknowledged_again_after_a_lost_acknowledgement() -> None:
    link = transferred(500, TransportSettings(rto_ns=50_000), drop=lambda number, name, frame: number == 1)
    (completed,) = link.of(Transmission, "a")
    assert (completed.figures.timeouts, completed.figures.packets_sent) == (1, 2)
    assert link.b.statistics().duplicates_received == 1
