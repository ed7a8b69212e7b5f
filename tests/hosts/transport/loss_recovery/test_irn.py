# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of IRN: selective retransmission, recovery, timeouts and the cap."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfc_testbed.contract.link import FakeLink, bts, transferred
from sfc_testbed.hosts.transport.congestion import PathContext
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER, Arrival, LossRecovery
from sfc_testbed.hosts.transport.loss_recovery.irn import Irn, IrnParameters, SelectiveOrder
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission

PATH = PathContext(100_000_000_000, 10_000, 1000, 125_000, full_queue_ns=310_000, shortest_rtt_ns=4_000)
IRN = TransportSettings(loss_recovery="irn")


def sender(sent: int = 10, **parameters: float) -> LossRecovery:
    """Return a sender that has sent packets 0..sent-1 at time 0. Some parameters make it tolerate reordering."""
    resolved = Irn.resolve(IrnParameters(**parameters), PATH)  # type: ignore[arg-type]
    recovery = Irn.variant(resolved)(resolved, PATH, 4_000, 0)
    for _ in range(sent):
        recovery.on_sent(recovery.next_packet(), 0)
    return recovery


def resend_all(recovery: LossRecovery, now_ns: int = 200) -> list[int]:
    resent = []
    while (index := recovery.next_packet()) < recovery.next_new and index >= 0:
        resent.append(index)
        recovery.on_sent(index, now_ns)
    return resent


def test_only_packets_before_an_arrival_are_lost() -> None:
    """A NAK for packet 2 caused by packet 5 marks packets 2, 3 and 4 as lost, but not 6 to 9."""
    recovery = sender()
    assert recovery.on_ack(2, 5, True, 100) == 3
    assert recovery.in_flight() == 4
    assert resend_all(recovery) == [2, 3, 4]
    assert recovery.in_flight() == 7
    assert recovery.next_packet() == 10


def test_a_cumulative_acknowledgement_clears_earlier_losses() -> None:
    recovery = sender()
    recovery.on_ack(2, 5, True, 100)
    assert recovery.on_ack(6, -1, False, 120) == 0
    assert (recovery.cumulative, recovery.in_flight(), recovery.next_packet()) == (6, 4, 10)


def test_every_gap_is_counted_once() -> None:
    recovery = sender()
    assert recovery.on_ack(2, 4, True, 100) == 2
    assert recovery.on_ack(2, 8, True, 100) == 3
    assert recovery.on_ack(2, 9, True, 100) == 0
    assert recovery.on_ack(2, 9, True, 100) == 0
    assert resend_all(recovery) == [2, 3, 5, 6, 7]


def test_the_short_timeout_applies_below_three_packets_in_flight() -> None:
    assert sender(2).deadline_ns == 100_000
    many = sender(1)
    many.on_ack(1, -1, False, 0)
    for now_ns in (0, 10, 20, 30):
        many.on_sent(many.next_packet(), now_ns)
    assert many.deadline_ns == 320_000
    many.on_ack(3, -1, False, 40)
    assert many.deadline_ns == 100_040
    full = sender(10)
    full.on_ack(1, -1, False, 1_000)
    assert full.deadline_ns == 321_000
    full.on_ack(10, -1, False, 2_000)
    assert full.deadline_ns == NEVER


def test_a_timeout_resends_the_first_packet_and_known_gaps() -> None:
    recovery = sender()
    recovery.on_ack(2, 5, True, 100)
    resend_all(recovery)
    recovery.on_timer(400_000)
    assert resend_all(recovery, 400_000) == [2, 3, 4]
    quiet = sender()
    assert quiet.on_timer(320_000) == 1
    assert resend_all(quiet, 320_000) == [0]


def test_gaps_resent_by_a_timeout_are_not_resent_twice() -> None:
    recovery = sender()
    recovery.on_ack(2, 5, True, 100)
    resend_all(recovery)
    recovery.on_timer(400_000)
    resend_all(recovery, 400_000)
    assert recovery.on_ack(3, -1, False, 450_000) == 0
    assert recovery.on_ack(6, -1, False, 460_000) == 1
    assert resend_all(recovery) == [6]


def test_a_spurious_timeout_resends_nothing_more() -> None:
    """An acknowledgement earlier than the shortest RTT after the resend is for the first transmission."""
    recovery = sender()
    recovery.on_timer(320_000)
    resend_all(recovery, 320_000)
    assert recovery.on_ack(1, -1, False, 321_000) == 0
    assert recovery.on_ack(2, -1, False, 340_000) == 0
    assert resend_all(recovery) == []


def test_the_cap_limits_only_new_packets() -> None:
    """The default is 125 packets at 100 Gb/s and 10 us; 0 disables the cap."""
    capped = sender(125)
    assert capped.next_packet() == -1
    capped.on_ack(0, 5, True, 100)
    assert capped.next_packet() == 0
    assert sender(500, cap_packets=0).next_packet() == 500
    assert sender(3, cap_packets=3).next_packet() == -1


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(-1, 39)), max_size=60))
@example([*[(0, 0)] * 12, (0, 36), (36, 37), (0, 0)])
def test_any_acknowledgements_leave_the_sender_consistent(acks: list[tuple[int, int]]) -> None:
    """Acknowledged packets are resent only if acknowledgements contradict each other."""
    recovery = sender(40)
    arrived: set[int] = set()
    for step, (cumulative, selective) in enumerate(acks):
        cumulative = max(cumulative, recovery.cumulative)
        recovery.on_ack(cumulative, selective, selective >= 0, step)
        if cumulative in arrived:
            arrived.clear()
        if selective > cumulative:
            arrived.add(selective)
        assert recovery.in_flight() >= 0
        for index in resend_all(recovery, step):
            assert index >= recovery.cumulative
            assert index not in arrived
        if step % 7 == 6 and recovery.cumulative < recovery.next_new:
            recovery.on_timer(step)


def test_the_receiver_keeps_early_packets_and_delivers_them_in_order() -> None:
    order = SelectiveOrder(IrnParameters(held_packets=3))
    assert order.on_packet(1, 1, b"one", -1, 0) == Arrival.NEGATIVE
    assert order.on_packet(1, 1, b"one", -1, 0) == Arrival.NEGATIVE
    assert order.on_packet(2, 2, b"two", -1, 0) == Arrival.NEGATIVE
    assert order.on_packet(4, 4, b"far", -1, 0) == Arrival.SILENT
    assert order.on_packet(0, 0, b"", -1, 0) == Arrival.IN_ORDER
    assert order.next_held() == (1, b"one", -1)
    assert order.next_held() == (2, b"two", -1)
    assert order.next_held() is None
    assert order.expected == 3


def test_one_lost_packet_is_resent_alone() -> None:
    link = transferred(300_000, IRN, drop=lambda number, name, frame: number == 20)
    (completed,) = link.of(Transmission, "a")
    counts = completed.figures
    assert (counts.packets_resent, counts.bytes_resent, counts.timeouts) == (1, 1_000, 0)


def losing(*packets: int) -> Callable[[int, str, bytes], bool]:
    """Return a `drop` of FakeLink for these frames of NIC a, which are numbered from 0 and include resent packets."""
    numbers = count()
    return lambda number, name, frame: name == "a" and next(numbers) in packets


@pytest.mark.parametrize("delay_ns", [5_000, 1_000])
@pytest.mark.parametrize("lost", [1, 5, 50])
def test_a_lost_tail_costs_one_timeout(lost: int, delay_ns: int) -> None:
    """Test links with the network's longest round trip and with a shorter one."""
    link = transferred(
        100_000, replace(IRN, shortest_rtt_ns=2_000), drop=losing(*range(100 - lost, 100)), delay_ns=delay_ns
    )
    (completed,) = link.of(Transmission, "a")
    assert (completed.figures.timeouts, completed.figures.packets_resent) == (1, lost)


def test_a_pause_in_a_round_trip_does_not_end_the_recovery_of_a_tail() -> None:
    """A BTS holds the flow while a resent packet is in flight."""
    settings = replace(IRN, flow_control="sfc", shortest_rtt_ns=10_000)
    link = FakeLink(settings, drop=losing(*range(50, 100)), delay_ns=5_000)
    link.transfer(100_000)
    steps_ns = count(0, 1_000)
    while not link.a.statistics().retransmissions:
        link.run(until_ns=next(steps_ns))
    link.inject(link.now_ns + 1_000, link.a, bts(1, 50))
    link.run()
    (completed,) = link.of(Transmission, "a")
    assert completed.figures.paused_us == 50
    assert (completed.figures.timeouts, completed.figures.packets_resent) == (1, 50)


def test_after_a_timeout_new_packets_still_count_all_packets_in_flight() -> None:
    recovery = sender(10)
    recovery.on_timer(100_000)
    assert (recovery.in_flight_before(0), recovery.in_flight_before(10)) == (0, 9)


def test_a_window_that_shrank_below_a_lost_tail_does_not_stop_its_recovery() -> None:
    """All packets after the first are lost, and then the window is one byte, as it may be with HPCC."""
    link = FakeLink(IRN, drop=lambda number, name, frame: name == "a" and number >= 1 and link.now_ns < 50_000)
    link.transfer(20_000)
    link.run(until_ns=60_000)
    pair = link.a._pairs.sender(1, link.b.address.ip)
    assert pair is not None
    pair._congestion.window_bytes = 1
    link.run()
    (completed,) = link.of(Transmission, "a")
    assert completed.figures.timeouts <= 3


@pytest.mark.parametrize(
    ("base_rtt_ns", "rto_high_ns", "expected"),
    [(10_000, 0, (100_000, 320_000)), (200_000, 0, (510_000, 510_000)), (10_000, 50_000, (50_000, 50_000))],
)
def test_the_short_timeout_is_never_the_longer_one(
    base_rtt_ns: int, rto_high_ns: int, expected: tuple[int, int]
) -> None:
    """With a long round trip, ten of them take longer than one and a full queue."""
    resolved = Irn.resolve(IrnParameters(rto_high_ns=rto_high_ns), replace(PATH, base_rtt_ns=base_rtt_ns))
    assert (resolved.rto_low_ns, resolved.rto_high_ns) == expected


def test_overtaken_packets_are_not_lost_before_enough_later_packets_have_arrived() -> None:
    recovery = sender(reordering_packets=3)
    assert recovery.on_ack(2, 4, True, 100) == 0
    assert recovery.in_flight() == 7
    assert recovery.next_packet() == 10
    assert recovery.on_ack(2, 5, True, 100) == 1  # packet 5 was sent three packets after packet 2
    assert recovery.next_packet() == 2
    assert recovery.on_ack(2, 3, True, 110) == 0
    recovery.on_sent(2, 120)
    assert recovery.on_ack(6, -1, False, 130) == 0
    assert recovery.next_packet() == 10
    assert recovery.in_flight() == 4


def test_overtaken_packets_are_lost_when_their_time_is_over() -> None:
    """`deadline_ns` is the earlier one of this time and the timeout."""
    recovery = sender(reordering_rtts=0.5)
    recovery.on_ack(2, 5, True, 1_000)
    assert recovery.deadline_ns == 6_000
    assert not recovery.is_timeout(6_000)
    recovery.on_ack(2, 3, True, 2_000)
    assert recovery.on_check(6_000) == 2
    assert recovery.next_packet() == 2
    recovery.on_sent(2, 6_000)
    assert recovery.next_packet() == 4
    assert recovery.deadline_ns == 326_000
    assert recovery.is_timeout(326_000)


def test_overtaken_packets_that_arrive_in_time_are_never_lost() -> None:
    recovery = sender(reordering_ns=5_000)
    for selective in (9, 8, 7, 6, 5, 4, 3, 2, 1):
        assert recovery.on_ack(0, selective, True, 100) == 0
    assert recovery.on_ack(10, -1, False, 200) == 0
    assert recovery.deadline_ns == NEVER
    assert recovery.next_packet() == 10


def test_after_a_timeout_all_holes_are_lost() -> None:
    recovery = sender(reordering_packets=8)
    recovery.on_ack(2, 5, True, 100)
    assert recovery.on_timer(recovery.deadline_ns) == 3
    assert recovery.next_packet() == 2
    assert recovery.on_ack(6, -1, False, 500_000) == 0


def test_reordering_on_a_link_causes_retransmissions_only_without_a_tolerance() -> None:
    """Packets arrive up to 20 us late, and so do their acknowledgements, which are four base RTTs together."""
    resent = {}
    for rtts in (0.0, 4.0):
        settings = replace(IRN, loss_recovery_parameters={"reordering_rtts": rtts})
        link = transferred(200_000, settings, reorder=0.2, reorder_ns=20_000)
        [event] = link.of(Transmission, "a")
        resent[rtts] = (event.figures.packets_resent, event.figures.timeouts)
    assert resent[0.0][0] > 10
    assert resent[4.0] == (0, 0)


def test_a_lost_packet_costs_the_tolerance_and_no_timeout() -> None:
    settings = replace(IRN, loss_recovery_parameters={"reordering_rtts": 1.0})
    link = transferred(100_000, settings, drop=losing(20))
    [event] = link.of(Transmission, "a")
    assert (event.figures.packets_resent, event.figures.timeouts) == (1, 0)


def test_only_a_tolerance_makes_another_sender() -> None:
    assert Irn.variant(IrnParameters()) is Irn
    assert not Irn.is_tolerant(IrnParameters())
    assert Irn.is_tolerant(IrnParameters(reordering_packets=1))
    assert Irn.is_tolerant(IrnParameters(reordering_rtts=1.0))


@pytest.mark.parametrize("parameters", [{}, {"reordering_packets": 3}])
def test_the_timeout_stops_until_a_packet_is_sent(parameters: dict[str, float]) -> None:
    recovery = sender(2, **parameters)
    recovery.on_timer(100_000)
    recovery.stop_timer()
    assert recovery.deadline_ns == NEVER
    recovery.on_sent(recovery.next_packet(), 5_000_000)
    assert recovery.deadline_ns == 5_100_000


def test_holes_are_lost_in_time_while_the_timeout_is_stopped() -> None:
    recovery = sender(reordering_ns=5_000)
    recovery.on_ack(0, 4, True, 100)
    recovery.stop_timer()
    assert recovery.deadline_ns == 5_100
    assert not recovery.is_timeout(5_100)


def test_packets_that_come_and_go_do_not_put_the_short_timeout_off() -> None:
    """The second packet and its copy were lost. Each new packet makes three in flight, and its answer two again."""
    recovery = sender(4)
    assert recovery.on_ack(1, 3, True, 10_000) == 2
    resend_all(recovery, 10_000)
    for now_ns in range(20_000, 200_000, 32_000):
        recovery.on_sent(recovery.next_new, now_ns)
        assert recovery.on_ack(1, recovery.next_new - 1, True, now_ns + 10_000) == 0
    assert recovery.deadline_ns < 200_000


def test_a_flow_with_a_slow_pace_is_not_given_up() -> None:
    """A window of 0.01 packets is a pace of one packet in a hundred round trips, which are ten timeouts."""
    slow = {"initial_packets": 0.01, "min_packets": 0.01, "max_packets": 0.011}
    settings = replace(IRN, congestion="swift", congestion_parameters=slow, retry_limit=3)
    link = transferred(3_000, settings, drop=losing(0, 2))
    [event] = link.of(Transmission, "a")
    assert not event.gave_up
    assert (event.figures.packets_resent, event.figures.timeouts) == (2, 2)
