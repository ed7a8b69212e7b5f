# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the pulls of a NIC: pacing, turns, and limits per connection."""

from collections.abc import Callable

from sfc_testbed.hosts.transport.scheduling.pull_pacer import PullPacer, PullQueue
from sfc_testbed.hosts.transport.scheduling.wire_schedule import WireSchedule

RATE_BPS = 100_000_000_000
FRAME_BYTES = 1_058
MANY = 1_000


def _pacer() -> tuple[PullPacer, Callable[[str], PullQueue], Callable[[int], list[tuple[str, int]]], WireSchedule]:
    """Return a pacer, a factory of named queues, a function that returns the pulls up to a time, and the wire."""
    wire = WireSchedule(RATE_BPS, FRAME_BYTES)
    pulled: list[tuple[str, int]] = []

    class Connection(PullQueue):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def pull_frame(self, number: int) -> bytes:
            pulled.append((self.name, number))
            return b"\0" * 66

    def until(now_ns: int) -> list[tuple[str, int]]:
        wire.advance(now_ns)
        return pulled

    return PullPacer(wire), Connection, until, wire


def test_pulls_of_all_connections_are_one_full_packet_apart() -> None:
    """A data packet of 1058 B takes 84.64 ns at 100 Gb/s."""
    pacer, queue, until, _ = _pacer()
    connections = [queue(str(number)) for number in range(3)]
    for _ in range(50):
        for connection in connections:
            pacer.request(connection, MANY, FRAME_BYTES)
    for packets in (1, 10, 100):
        assert len(until(packets * FRAME_BYTES * 8 // 100 - 1)) == packets


def test_a_pull_is_followed_by_the_serialization_time_of_its_packet() -> None:
    """A packet of 100 B takes 8 ns at 100 Gb/s."""
    pacer, queue, until, _ = _pacer()
    short, full = queue("short"), queue("full")
    for _ in range(2):
        pacer.request(short, MANY, 100)
        pacer.request(full, MANY, FRAME_BYTES)
    assert until(7) == [("short", 1)]
    assert until(8) == [("short", 1), ("full", 1)]
    assert len(until(91)) == 2
    assert until(92)[2:] == [("short", 2)]
    assert until(100)[3:] == [("full", 2)]


def test_connections_take_turns_and_number_their_pulls() -> None:
    pacer, queue, until, _ = _pacer()
    much, little = queue("much"), queue("little")
    for _ in range(4):
        pacer.request(much, MANY, FRAME_BYTES)
    for _ in range(2):
        pacer.request(little, MANY, FRAME_BYTES)
    assert until(1_000) == [("much", 1), ("little", 1), ("much", 2), ("little", 2), ("much", 3), ("much", 4)]


def test_a_connection_gets_no_more_pulls_than_it_needs() -> None:
    """Pulls that wait when a message is complete are cancelled."""
    pacer, queue, until, _ = _pacer()
    connection, other = queue("one"), queue("other")
    for _ in range(5):
        pacer.request(connection, 2, FRAME_BYTES)
    pacer.request(other, MANY, FRAME_BYTES)
    assert until(0) == [("one", 1)]
    pacer.request(connection, 0, FRAME_BYTES)
    assert until(10_000) == [("one", 1), ("other", 1)]


def test_pulls_do_not_accumulate_in_idle_time() -> None:
    pacer, queue, until, wire = _pacer()
    connection = queue("one")
    pacer.request(connection, MANY, FRAME_BYTES)
    assert len(until(5_000)) == 1
    wire.clock_ns = 5_000
    for _ in range(3):
        pacer.request(connection, MANY, FRAME_BYTES)
    assert len(until(5_000)) == 2
    assert len(until(5_083)) == 2
    assert len(until(5_084)) == 3
