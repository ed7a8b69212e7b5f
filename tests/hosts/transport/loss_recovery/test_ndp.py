# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of NDP at the hosts: initial window, pulls, trimmed packets, returned headers and lost pulls."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from sfc_testbed.contract.link import FakeLink, transferred
from sfc_testbed.hosts.transport.loss_recovery.base import Arrival, KeepingOrder
from sfc_testbed.hosts.transport.loss_recovery.ndp import Ndp, NdpParameters
from sfc_testbed.hosts.transport.messages import MessageReceived
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire.constants import DSCP_RETURNED, DSCP_TRIMMED
from sfc_testbed.wire.roce.decoder import parse_header
from sfc_testbed.wire.roce.packets import PULL, Opcode, Syndrome
from tests.hosts.transport.algorithm import PATH
from tests.hosts.transport.cut_frames import cut, sent_back

NDP = TransportSettings(loss_recovery="ndp")
RTO_NS = NdpParameters().rto_ns
WINDOW = 125


def _recovery() -> Ndp:
    return Ndp(Ndp.resolve(NdpParameters(initial_window_packets=4), PATH), PATH, 0, 0)


def _send(recovery: Ndp) -> list[int]:
    sent: list[int] = []
    while (index := recovery.next_packet()) >= 0 and len(sent) < 1_000:
        recovery.on_sent(index, 0)
        sent.append(index)
    return sent


def _is_data(name: str, frame: bytes) -> bool:
    header = parse_header(frame)
    return name == "a" and header is not None and header.is_data


def _control(link: FakeLink, opcode: int, syndrome: int | None = None) -> list[bytes]:
    frames = [frame for _, sender, frame in link.sent if sender == "b"]
    matches = [frame for frame in frames if (header := parse_header(frame)) is not None and header.opcode == opcode]
    return matches if syndrome is None else [frame for frame in matches if frame[54] == syndrome]


def test_pulls_release_packets_after_the_initial_window() -> None:
    """A pull makes up for lost pulls with lower numbers."""
    assert Ndp.resolve(NdpParameters(), PATH).initial_window_packets == WINDOW
    recovery = _recovery()
    assert _send(recovery) == [0, 1, 2, 3]
    recovery.on_pull(7, 0)
    assert _send(recovery) == [4]
    recovery.on_pull(10, 0)
    assert _send(recovery) == [5, 6, 7]
    recovery.on_pull(9, 0)
    assert _send(recovery) == []


def test_a_pull_releases_at_most_an_initial_window() -> None:
    """The pull number wraps at 24 bits."""
    recovery = _recovery()
    _send(recovery)
    recovery.on_pull(0xFFFFFE, 0)
    recovery.on_pull(1, 0)
    assert len(_send(recovery)) == 4
    recovery.on_pull(5_000, 0)
    assert len(_send(recovery)) == 4


def test_trimmed_packets_are_resent_before_new_ones_when_pulled() -> None:
    recovery = _recovery()
    _send(recovery)
    assert [recovery.on_trimmed(index, 0) for index in (2, 1, 2, 9)] == [1, 1, 0, 0]
    assert recovery.next_packet() == -1
    recovery.on_ack(0, 2, False, 0)
    recovery.on_pull(1, 0)
    recovery.on_pull(2, 0)
    assert _send(recovery) == [1, 4]


def test_a_returned_packet_waits_for_a_pull_unless_none_is_expected() -> None:
    """If the whole window was returned, one packet is resent at once, so that the receiver learns of the flow."""
    recovery = _recovery()
    _send(recovery)
    for index in (0, 1, 2):
        recovery.on_returned(index, 0)
    assert recovery.next_packet() == -1
    recovery.on_returned(3, 0)
    assert _send(recovery) == [0]
    recovery.on_pull(1, 0)
    assert _send(recovery) == [1]


def test_an_early_packet_does_not_mark_others_as_lost() -> None:
    """Packets may take different paths, so their order carries no information."""
    recovery = _recovery()
    _send(recovery)
    assert recovery.on_ack(0, 3, False, 0) == 0
    assert (recovery.in_flight(), recovery.next_packet()) == (3, -1)


def test_a_timeout_releases_one_packet_and_pulls_release_the_rest() -> None:
    recovery = _recovery()
    _send(recovery)
    recovery.on_ack(1, 2, False, 5)
    assert recovery.deadline_ns == 5 + RTO_NS
    assert recovery.on_timer(recovery.deadline_ns) == 2
    assert _send(recovery) == [1]
    recovery.on_pull(1, 0)
    recovery.on_pull(2, 0)
    assert _send(recovery) == [3, 4]


def test_the_receiver_keeps_early_packets() -> None:
    order = KeepingOrder(NdpParameters(held_packets=3))
    verdicts = [order.on_packet(index, 1, b"", -1, 0) for index in (2, 9, 2, 0)]
    assert verdicts == [Arrival.EARLY, Arrival.SILENT, Arrival.EARLY, Arrival.IN_ORDER]
    assert [order.has(index) for index in range(4)] == [True, False, True, False]
    assert (order.missing(5), order.missing(1)) == (3, 0)


def _trimming_link(share: int) -> tuple[FakeLink, list[int]]:
    """Return a link that trims every `share`-th data packet once, and the list of their frame numbers."""
    psns: set[bytes] = set()
    trimmed: list[int] = []

    def change(number: int, name: str, frame: bytes) -> bytes:
        if _is_data(name, frame) and frame[51:54] not in psns:
            psns.add(frame[51:54])
            if len(psns) % share == 0:
                trimmed.append(number)
                return cut(frame)
        return frame

    return FakeLink(NDP, change=change), trimmed


@pytest.mark.parametrize("share", [2, 3, 40])
def test_trimmed_packets_are_resent_without_a_timeout(share: int) -> None:
    link, trimmed = _trimming_link(share)
    link.transfer(400_000)
    link.run()
    [received] = link.of(MessageReceived, "b")
    [completed] = link.of(Transmission, "a")
    assert not received.figures.corrupted
    counts = completed.figures
    assert (counts.packets_resent, counts.naks, counts.timeouts) == (len(trimmed), len(trimmed), 0)
    assert len(_control(link, Opcode.ACKNOWLEDGE, Syndrome.TRIMMED)) == len(trimmed)
    assert link.b.statistics().trimmed_received == len(trimmed)
    assert link.a.statistics().pulls_received == len(_control(link, PULL)) > 0


def test_trimmed_packets_are_resent_once_when_packet_numbers_wrap() -> None:
    link, trimmed = _trimming_link(3)
    link.transfer(1_000)
    link.run()
    start = (1 << 24) - 20
    link.a._pairs._sender_rows.set(1, 1, start + 1)
    link.b._pairs._receiver_rows.set(101, 1, start)
    link.transfer(60_000, qpn=1)
    link.run()
    counts = link.of(Transmission, "a")[-1].figures
    assert (counts.packets_sent, counts.packets_resent, counts.timeouts) == (60 + len(trimmed), len(trimmed), 0)
    assert len(trimmed) == 20


def test_a_message_of_one_packet_causes_no_pull() -> None:
    link = transferred(1_000, NDP)
    assert len(link.of(MessageReceived, "b")) == 1
    assert _control(link, PULL) == []


def test_the_timer_runs_while_the_sender_waits_for_a_lost_pull() -> None:

    def drop(number: int, name: str, frame: bytes) -> bool:
        header = parse_header(frame)
        return header is not None and header.opcode == PULL and link.now_ns < RTO_NS

    link = FakeLink(NDP, drop=drop)
    link.transfer(200_000)
    link.run()
    [completed] = link.of(Transmission, "a")
    assert completed.figures.timeouts == 1
    assert completed.finish_ns > RTO_NS


def test_returned_packets_are_resent_without_a_timeout() -> None:
    """The whole first window is returned, so the receiver does not know of the flow."""
    returned: list[bytes] = []

    def drop(number: int, name: str, frame: bytes) -> bool:
        if _is_data(name, frame) and len(returned) < WINDOW:
            returned.append(sent_back(frame))
            link.inject(link.now_ns + 3_000, link.a, returned[-1])
            return True
        return False

    link = FakeLink(NDP, drop=drop)
    link.transfer(200_000)
    link.run()
    [completed] = link.of(Transmission, "a")
    counts = completed.figures
    assert (counts.packets_resent, counts.timeouts) == (WINDOW, 0)
    assert link.a.statistics().returned_received == WINDOW


def test_a_trimmed_duplicate_of_a_kept_packet_is_acknowledged_again() -> None:
    """The packet was resent because its first acknowledgement was lost."""
    data: list[bytes] = []

    def drop(number: int, name: str, frame: bytes) -> bool:
        if not _is_data(name, frame):
            return False
        data.append(frame)
        return len(data) == 1

    link = FakeLink(NDP, drop=drop)
    link.transfer(20_000)
    link.run(until_ns=RTO_NS // 2)
    link.inject(RTO_NS // 2, link.b, cut(data[3]))
    link.run(until_ns=RTO_NS // 2 + 1_000)
    answers = [(parse_header(frame), frame) for frame in _control(link, Opcode.ACKNOWLEDGE)]
    selective_psns = [header.selective_psn(frame) for header, frame in answers if header is not None]
    assert selective_psns == [*range(1, 20), 3]


@pytest.mark.parametrize(
    ("changes", "counter"),
    [
        ({"qpn": 77}, "unknown_queue_pair"),
        ({"qpn": 77, "dscp": DSCP_RETURNED}, "unknown_queue_pair"),
        ({"dscp": 26}, "malformed"),
        ({"psn": 100_000}, "trimmed_received"),
    ],
)
def test_a_forged_trimmed_packet_is_counted_and_causes_no_retransmission(changes: dict[str, Any], counter: str) -> None:
    """No ICRC protects trimmed packets."""
    data_frames: list[bytes] = []

    def record(number: int, name: str, frame: bytes) -> bytes:
        if _is_data(name, frame):
            data_frames.append(frame)
        return frame

    links = [FakeLink(NDP, change=record), FakeLink(NDP)]
    links[0].transfer(300_000)
    links[1].transfer(300_000)
    links[0].run()
    forged = bytearray(cut(data_frames[0], changes.get("dscp", DSCP_TRIMMED)))
    forged[47:50] = changes.get("qpn", 101).to_bytes(3, "big")
    forged[51:54] = changes.get("psn", 5).to_bytes(3, "big")
    links[1].inject(9_000, links[1].b, bytes(forged))
    links[1].run()
    assert getattr(links[1].b.statistics(), counter) == 1
    assert links[1].a.statistics().retransmissions == 0
    assert len(links[1].of(Transmission, "a")) == 1


def test_pulls_determine_the_rate_after_the_first_window() -> None:
    """Data packets leave at least one full packet's time apart."""
    link = transferred(500_000, replace(NDP, base_rtt_ns=10_000))
    starts = [start for start, *_ in link.data_sent()][WINDOW:]
    gaps = [after - before for before, after in itertools.pairwise(starts)]
    assert min(gaps) >= 84


def test_pulls_of_short_packets_are_as_close_as_the_packets() -> None:
    """A frame of a message of 100 B takes 13 ns at 100 Gb/s, a full frame 84 ns."""
    trimmed: set[bytes] = set()

    def trim_once(_: int, name: str, frame: bytes) -> bytes:
        packet = frame[46:50] + frame[51:54]  # queue pair and PSN
        if not _is_data(name, frame) or packet in trimmed:
            return frame
        trimmed.add(packet)
        return cut(frame)

    link = FakeLink(NDP, change=trim_once)
    for _ in range(20):
        link.transfer(100)
    link.run()
    assert len(link.of(MessageReceived, "b")) == 20
    ends = [end for end, name, frame in link.sent if name == "b" and frame[42] == PULL]
    assert len(ends) == 20
    assert 12 * 19 <= ends[-1] - ends[0] < 84 * 19 // 2
