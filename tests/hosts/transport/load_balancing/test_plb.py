# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of PLB: when a flow changes its path."""

from sfc_testbed.hosts.transport.load_balancing.plb import Plb, PlbParameters
from tests.hosts.transport.algorithm import PATH

FIRST = 4_711


class Flow:
    """A flow with round trips of ten packets. The first acknowledgement after a round trip judges it."""

    def __init__(self, **parameters: int) -> None:
        self.plb = Plb(PlbParameters(**parameters), PATH, FIRST, 1)
        self.sent = self.acknowledged = 0
        self.send(10)
        self.acknowledge(10, 0)

    def send(self, count: int, *, in_flight: int = 5) -> int:
        for _ in range(count):
            entropy = self.plb.entropy(self.sent, in_flight, 0)
            self.sent += 1
        return entropy

    def acknowledge(self, count: int, marked: int, now_ns: int = 0) -> None:
        for number in range(count):
            self.acknowledged += 1
            self.plb.on_ack(FIRST, number < marked, self.acknowledged, now_ns)

    def rounds(self, count: int, marked: int, now_ns: int = 0) -> int:
        """Run round trips, and return the entropy of the last packet."""
        for _ in range(count):
            entropy = self.send(10)
            self.acknowledge(10, marked, now_ns)
        return entropy


def test_a_flow_without_congestion_keeps_the_entropy_of_its_queue_pair() -> None:
    assert Flow().rounds(50, marked=4) == FIRST


def test_an_idle_flow_repaths_after_three_congested_rounds() -> None:
    flow = Flow()
    flow.rounds(4, marked=5)
    assert flow.send(1, in_flight=1) == FIRST
    assert flow.send(1, in_flight=0) != FIRST


def test_a_busy_flow_repaths_after_twelve_congested_rounds() -> None:
    flow = Flow()
    assert flow.rounds(13, marked=10) == FIRST
    assert flow.send(1) != FIRST


def test_a_round_without_congestion_starts_the_count_again() -> None:
    flow = Flow()
    flow.rounds(11, marked=10)
    flow.rounds(1, marked=0)
    assert flow.rounds(11, marked=10) == FIRST
    assert flow.send(1) == FIRST


def test_a_timeout_changes_the_path_and_suspends_other_changes() -> None:
    """The suspension lasts for one to two times the parameter."""
    flow = Flow(suspend_ns=1_000)
    flow.plb.on_timeout(0)
    entropy = flow.send(1)
    assert entropy != FIRST
    flow.rounds(20, marked=10, now_ns=999)
    assert flow.send(1, in_flight=0) == entropy
    flow.rounds(12, marked=10, now_ns=2_000)
    assert flow.send(1) != entropy
