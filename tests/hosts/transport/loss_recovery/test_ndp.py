# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""NDP at the hosts: an initial window, pulls, headers whose data is sent again, headers that come back, lost pulls."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from hosts.transport.congestion.base import PathContext
from hosts.transport.loss_recovery.base import Arrival, KeepingOrder
from hosts.transport.loss_recovery.ndp import Ndp, NdpParameters
from hosts.transport.messages import MessageCompleted, MessageReceived
from hosts.transport.settings import TransportSettings
from tests.hosts.transport.cut_frames import cut, sent_back
from tests.hosts.transport.fake_link import FakeLink
from wire.constants import DSCP_TRIMMED
from wire.roce.decoder import parse_header
from wire.roce.packets import PULL, Opcode, Syndrome

PATH = PathContext(100_000_000_000, 10_000, 1000, 125_000)
NDP = TransportSettings(loss_recovery="ndp")
RTO_NS = NdpParameters().rto_ns
WINDOW = 125


def _recovery(window: int = 4) -> Ndp:
    return Ndp(Ndp.resolve(NdpParameters(initial_window_packets=window), PATH), PATH, 0, 0)


def _send(recovery: Ndp, most: int = 1_000) -> list[int]:
    sent: list[int] = []
    while (index := recovery.next_packet()) >= 0 and len(sent) < most:
        recovery.on_sent(index, 0)
        sent.append(index)
    return sent


def _data_of(name: str, frame: bytes, source: str = "a") -> bool:
    header = parse_header(frame)
    return name == source and header is not None and header.is_data


def _control(link: FakeLink, name: str, opcode: int, syndrome: int | None = None) -> list[bytes]:
    frames = [frame for _, sender, frame in link.sent if sender == name]
    found = [frame for frame in frames if (header := parse_header(frame)) is not None and header.opcode == opcode]
    return found if syndrome is None else [frame for frame in found if frame[54] == syndrome]


def test_without_a_pull_no_more_leaves_than_the_initial_window() -> None:
    """One BDP unless set; pulls count up, and one makes up for those lost before it."""
    assert Ndp.resolve(NdpParameters(), PATH).initial_window_packets == WINDOW
    recovery = _recovery()
    assert _send(recovery) == [0, 1, 2, 3]
    recovery.on_pull(7, 0)
    assert _send(recovery) == [4]
    recovery.on_pull(10, 0)
    assert _send(recovery) == [5, 6, 7]
    recovery.on_pull(9, 0)
    assert _send(recovery) == []


def test_a_pull_never_gives_more_than_an_initial_window() -> None:
    """However far its number has advanced; it wraps at 24 bits."""
    recovery = _recovery()
    _send(recovery)
    recovery.on_pull(0xFFFFFE, 0)
    recovery.on_pull(1, 0)
    assert len(_send(recovery)) == 4
    recovery.on_pull(5_000, 0)
    assert len(_send(recovery)) == 4


def test_what_was_trimmed_goes_again_before_anything_new_and_only_when_pulled() -> None:
    """In the order of the headers; what has arrived meanwhile does not."""
    recovery = _recovery()
    _send(recovery)
    assert [recovery.on_trimmed(index, 0) for index in (2, 1, 2, 9)] == [1, 1, 0, 0]
    assert recovery.next_packet() == -1
    recovery.on_ack(0, 2, False, 0)
    recovery.on_pull(1, 0)
    recovery.on_pull(2, 0)
    assert _send(recovery) == [1, 4]


def test_a_returned_header_waits_for_a_pull_unless_none_will_come() -> None:
    """The last of a window that came back whole is sent again at once, so that the receiver hears of the flow."""
    recovery = _recovery()
    _send(recovery)
    for index in (0, 1, 2):
        recovery.on_returned(index, 0)
    assert recovery.next_packet() == -1
    recovery.on_returned(3, 0)
    assert _send(recovery) == [0]
    recovery.on_pull(1, 0)
    assert _send(recovery) == [1]


def test_early_packets_count_as_arrived_and_nothing_as_lost() -> None:
    """Paths differ: only a header, or silence, says that data is missing."""
    recovery = _recovery()
    _send(recovery)
    assert recovery.on_ack(0, 3, False, 0) == 0
    assert (recovery.in_flight(), recovery.next_packet()) == (3, -1)


def test_silence_sends_all_that_is_under_way_again_from_one_packet_on() -> None:
    """The pulls that the first one brings do the rest."""
    recovery = _recovery()
    _send(recovery)
    recovery.on_ack(1, 2, False, 5)
    assert recovery.deadline_ns == 5 + RTO_NS
    assert recovery.on_timer(recovery.deadline_ns) == 2
    assert _send(recovery) == [1]
    recovery.on_pull(1, 0)
    recovery.on_pull(2, 0)
    assert _send(recovery) == [3, 4]


def test_the_receiver_keeps_what_comes_early() -> None:
    """And tells a late header from a missing packet."""
    order = KeepingOrder(NdpParameters(held_packets=3))
    verdicts = [order.on_packet(index, 1, b"", 0) for index in (2, 9, 2, 0)]
    assert verdicts == [Arrival.EARLY, Arrival.SILENT, Arrival.EARLY, Arrival.IN_ORDER]
    assert [order.has(index) for index in range(4)] == [True, False, True, False]
    assert (order.missing(5), order.missing(1)) == (3, 0)


def _trimming_link(share: int) -> tuple[FakeLink, list[int]]:
    """It cuts every so-many-th data packet once; their numbers."""
    seen: set[bytes] = set()
    trimmed: list[int] = []

    def change(number: int, name: str, frame: bytes) -> bytes:
        if _data_of(name, frame) and frame[50:54] not in seen:
            seen.add(frame[50:54])
            if len(seen) % share == 0:
                trimmed.append(number)
                return cut(frame)
        return frame

    return FakeLink(NDP, change=change), trimmed


@pytest.mark.parametrize("share", [2, 3, 40])
def test_trimmed_packets_are_asked_for_again_and_nothing_times_out(share: int) -> None:
    """Every so-many-th data packet loses its data once: as many NACKs and resent packets, no timeout."""
    link, trimmed = _trimming_link(share)
    link.transfer(400_000)
    link.run()
    [received] = link.of(MessageReceived, "b")
    [completed] = link.of(MessageCompleted, "a")
    assert not received.corrupted
    counts = completed.report.counts
    assert (counts.packets_resent, counts.naks, counts.timeouts) == (len(trimmed), len(trimmed), 0)
    assert len(_control(link, "b", Opcode.ACKNOWLEDGE, Syndrome.TRIMMED)) == len(trimmed)
    assert link.b.statistics().trimmed_received == len(trimmed)
    assert link.a.statistics().pulls_received == len(_control(link, "b", PULL)) > 0


def test_headers_are_told_apart_where_packet_numbers_wrap() -> None:
    """24 bits, then 0 again: each is asked for once."""
    link, trimmed = _trimming_link(3)
    link.transfer(1_000)
    link.run()
    start = (1 << 24) - 20
    link.a._pairs._idle[1].next_index = start
    receiver = link.b._pairs._receivers[101]
    receiver._order.expected = receiver._end = start
    link.transfer(60_000, qpn=1)
    link.run()
    counts = link.of(MessageCompleted, "a")[-1].report.counts
    assert (counts.packets_sent, counts.packets_resent, counts.timeouts) == (60 + len(trimmed), len(trimmed), 0)
    assert len(trimmed) == 20


def test_a_message_within_the_initial_window_that_arrives_needs_no_more_pulls_than_packets() -> None:
    """A lone packet brings none."""
    link = FakeLink(NDP)
    link.transfer(1_000)
    link.run()
    assert len(link.of(MessageReceived, "b")) == 1
    assert _control(link, "b", PULL) == []


def test_a_lost_pull_is_made_up_for_by_the_next() -> None:
    """Every other one is lost: nothing times out, and nothing is sent twice."""
    pulls = 0

    def drop(number: int, name: str, frame: bytes) -> bool:
        nonlocal pulls
        header = parse_header(frame)
        is_pull = header is not None and header.opcode == PULL
        pulls += is_pull
        return is_pull and pulls % 2 == 1 and pulls < 100

    link = FakeLink(NDP, drop=drop)
    link.transfer(400_000)
    link.run()
    [completed] = link.of(MessageCompleted, "a")
    assert (completed.report.counts.packets_resent, completed.report.counts.timeouts) == (0, 0)


def test_all_pulls_lost_cost_a_timeout_and_the_flow_goes_on() -> None:
    """The sender has nothing under way and no leave to send: its timer runs all the same."""

    def drop(number: int, name: str, frame: bytes) -> bool:
        header = parse_header(frame)
        return header is not None and header.opcode == PULL and link.now_ns < RTO_NS

    link = FakeLink(NDP, drop=drop)
    link.transfer(200_000)
    link.run()
    [completed] = link.of(MessageCompleted, "a")
    assert completed.report.counts.timeouts == 1
    assert completed.finish_ns > RTO_NS


def test_headers_that_come_back_are_sent_again() -> None:
    """The first window bounces whole: the receiver never heard of the flow, and nothing times out."""
    bounced: list[bytes] = []

    def drop(number: int, name: str, frame: bytes) -> bool:
        if _data_of(name, frame) and len(bounced) < WINDOW:
            bounced.append(sent_back(frame))
            link.inject(link.now_ns + 3_000, link.a, bounced[-1])
            return True
        return False

    link = FakeLink(NDP, drop=drop)
    link.transfer(200_000)
    link.run()
    [completed] = link.of(MessageCompleted, "a")
    counts = completed.report.counts
    assert (counts.packets_resent, counts.timeouts) == (WINDOW, 0)
    assert link.a.statistics().returned_received == WINDOW


def test_the_header_of_a_packet_that_came_early_is_answered_as_the_packet_was() -> None:
    """It was sent again because that answer was lost: the same is said once more."""
    data: list[bytes] = []

    def drop(number: int, name: str, frame: bytes) -> bool:
        if not _data_of(name, frame):
            return False
        data.append(frame)
        return len(data) == 1

    link = FakeLink(NDP, drop=drop)
    link.transfer(20_000)
    link.run(until_ns=RTO_NS // 2)
    link.inject(RTO_NS // 2, link.b, cut(data[3]))
    link.run(until_ns=RTO_NS // 2 + 1_000)
    answers = [(parse_header(frame), frame) for frame in _control(link, "b", Opcode.ACKNOWLEDGE)]
    told = [header.selective_psn(frame) for header, frame in answers if header is not None]
    assert told == [*range(1, 20), 3]


@pytest.mark.parametrize(
    ("changes", "counter"),
    [
        ({"qpn": 77}, "unknown_queue_pair"),
        ({"dscp": 26}, "malformed"),
        ({"psn": 100_000}, "trimmed_received"),
    ],
)
def test_a_forged_header_does_nothing_but_be_counted(changes: dict[str, Any], counter: str) -> None:
    """No ICRC guards it: an unknown queue pair, another DSCP, or a packet that was never sent."""
    first: list[bytes] = []

    def note(number: int, name: str, frame: bytes) -> bytes:
        if _data_of(name, frame):
            first.append(frame)
        return frame

    links = [FakeLink(NDP, change=note), FakeLink(NDP)]
    links[0].transfer(300_000)
    links[1].transfer(300_000)
    links[0].run()
    forged = bytearray(cut(first[0], changes.get("dscp", DSCP_TRIMMED)))
    forged[47:50] = changes.get("qpn", 101).to_bytes(3, "big")
    forged[51:54] = changes.get("psn", 5).to_bytes(3, "big")
    links[1].inject(9_000, links[1].b, bytes(forged))
    links[1].run()
    assert getattr(links[1].b.statistics(), counter) == 1
    assert links[1].a.statistics().retransmissions == 0
    assert len(links[1].of(MessageCompleted, "a")) == 1


def test_a_switch_that_trims_nothing_leaves_the_rate_to_the_pulls() -> None:
    """After the first window data packets leave no closer than a full packet's time."""
    link = FakeLink(replace(NDP, base_rtt_ns=10_000))
    link.transfer(500_000)
    link.run()
    starts = [start for start, *_ in link.data_sent()][WINDOW:]
    gaps = [after - before for before, after in itertools.pairwise(starts)]
    assert min(gaps) >= 84
