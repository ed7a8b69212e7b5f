# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of Bolt's sender with sequences computed by hand from docs/sources.md#bolt, and of its flags at NICs."""

import pytest

from sfc_testbed.contract.link import FakeLink, bts, transferred
from sfc_testbed.hosts.transport.congestion import AckSample
from sfc_testbed.hosts.transport.congestion.bolt import Bolt
from sfc_testbed.hosts.transport.messages import BtsReceived
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire.bts import SUB_RTT_UNIT_NS
from sfc_testbed.wire.constants import BOLT_FIRST, BOLT_INC, BOLT_LAST, BTH_FLAGS_MASK, BtsCause
from sfc_testbed.wire.roce.packets import BTH_OFFSET, SEND_OPCODES
from tests.hosts.transport.algorithm import GBPS, control

PACKET_NS = 84.64
"""Time of a frame of 1 058 B on the link."""
FLAGS_AT = BTH_OFFSET + 4


def ack(bolt: Bolt, acked_bytes: int, sent_bytes: int, rtt_ns: int | None = 10_000, increments: int = 0) -> float:
    """Acknowledge `acked_bytes` in all, while `sent_bytes` have been sent, and return the window in packets."""
    sample = AckSample(1_000, 0, rtt_ns, False, None, (), acked_bytes, sent_bytes, increments=increments)
    bolt.on_ack(sample, 0)
    return bolt.window_packets


def test_a_new_flow_has_one_bdp_which_is_also_the_maximum() -> None:
    bolt = control(Bolt)
    assert (bolt.window_packets, bolt.window_bytes, bolt.rate_bps) == (125, 125_000, 100 * GBPS)
    assert ack(bolt, 1_000, 125_000, increments=60) == 125


def test_the_window_grows_by_granted_requests_and_by_a_packet_in_each_round_trip() -> None:
    bolt = control(Bolt, max_packets=500.0)
    bolt.set_window(100, 10_000)
    assert ack(bolt, 1_000, 100_000) == 101
    assert ack(bolt, 50_000, 150_000) == 101
    assert ack(bolt, 60_000, 160_000, increments=3) == 104
    assert ack(bolt, 101_000, 205_000) == 105
    assert ack(bolt, 205_000, 310_000, rtt_ns=None) == 105


def test_a_request_takes_a_packet_after_the_flows_share_of_the_loop() -> None:
    """A flow at line rate owns the queue of ten packets. In a loop of 4 us one request counts in every 400 ns.

    With a window of 62 packets in 10 us the rate is 49.6 Gb/s, so the share is 4.96 packets, and the gap 806.5 ns.
    """
    bolt = control(Bolt)
    drain_ns = round(10 * PACKET_NS)
    for now_ns, packets in ((4_000, 124), (4_390, 124), (4_401, 123), (4_800, 123), (4_803, 122)):
        bolt.on_sub_rtt(drain_ns, 4_000, now_ns)
        assert bolt.window_packets == packets
    ack(bolt, 1_000, 122_000)
    bolt.set_window(62, 10_000)
    for now_ns, packets in ((5_600, 62), (5_612, 61)):
        bolt.on_sub_rtt(drain_ns, 4_000, now_ns)
        assert bolt.window_packets == packets


def test_the_first_request_counts_only_if_a_packet_of_the_queue_is_the_flows() -> None:
    """A flow at 1/10 of the line rate has half a packet in a queue of five."""
    bolt = control(Bolt)
    ack(bolt, 1_000, 125_000)
    bolt.set_window(12.5, 10_000)
    bolt.on_sub_rtt(round(5 * PACKET_NS), 4_000, 50_000)
    assert bolt.window_packets == 12.5
    bolt.on_sub_rtt(round(5 * PACKET_NS), 4_000, 54_100)
    assert bolt.window_packets == 11.5


def test_a_request_for_a_resent_packet_is_timed_by_the_round_trip() -> None:
    """The last RTT of 20 us replaces the loop: the share of 3.1 packets allows a request in every 6.45 us."""
    bolt = control(Bolt)
    ack(bolt, 1_000, 125_000, rtt_ns=20_000)
    bolt.set_window(77.5, 20_000)
    for now_ns, packets in ((30_000, 76.5), (36_000, 76.5), (36_800, 75.5)):
        bolt.on_sub_rtt(round(10 * PACKET_NS), None, now_ns)
        assert bolt.window_packets == packets


def test_windows_of_at_most_a_packet_are_halved_and_become_a_pace() -> None:
    bolt = control(Bolt)
    bolt.set_window(1, 10_000)
    for packets in (0.5, 0.25):
        bolt.on_sub_rtt(1, 4_000, 4_000)
        assert (bolt.window_packets, bolt.window_bytes) == (packets, 1_000)
        assert bolt.rate_bps == packets * 8 * 1_058 * 100_000
    for _ in range(10):
        bolt.on_sub_rtt(1, 4_000, 4_000)
    assert bolt.window_packets == 0.01


def test_losses_halve_the_window_once_in_a_round_trip() -> None:
    bolt = control(Bolt)
    for now_ns, packets in ((50_000, 62.5), (59_000, 62.5), (60_000, 31.25)):
        bolt.on_loss(1_000, now_ns)
        assert bolt.window_packets == packets


def test_flags_tell_the_first_and_the_last_window_apart() -> None:
    bolt = control(Bolt)
    assert bolt.data_flags(125_001) == BOLT_FIRST
    assert bolt.data_flags(125_000) == BOLT_FIRST | BOLT_LAST
    ack(bolt, 1_000, 125_000)
    assert bolt.data_flags(125_001) == BOLT_INC
    assert bolt.data_flags(125_000) == BOLT_LAST


def test_the_first_window_ends_with_an_answer_to_a_retransmission() -> None:
    """If the first window is lost, no RTT is known, but the flow may ask for a larger window."""
    bolt = control(Bolt)
    ack(bolt, 1_000, 125_000, rtt_ns=None)
    assert bolt.data_flags(125_001) == BOLT_INC


def test_a_lost_first_window_does_not_keep_the_flow_slow() -> None:
    """With the smallest window a packet leaves in each ms. Requests of retransmitted packets are granted, too."""
    settings = TransportSettings(congestion="bolt", loss_recovery="irn")
    link = FakeLink(settings, drop=lambda number, name, frame: name == "a" and number < 125)
    link.transfer(500_000)
    link.run(until_ns=50_000)
    pair = link.a._pairs.sender(1, link.b.address.ip)
    assert pair is not None
    assert isinstance(pair._congestion, Bolt)
    pair._congestion.set_window(0.01, 10_000)
    link.run(until_ns=5_000_000)
    assert link.of(Transmission, "a")


def data_flags(link: FakeLink) -> list[int]:
    """Return the flags of the data packets of a link, in order."""
    frames = [frame for _, side, frame in link.sent if side == "a" and frame[BTH_OFFSET] in SEND_OPCODES]
    return [frame[FLAGS_AT] & BTH_FLAGS_MASK for frame in frames]


@pytest.mark.parametrize("ack_every", [1, 16])
def test_acknowledgements_count_the_requests_that_arrive(ack_every: int) -> None:
    """No switch refuses, so all requests arrive, and the ACKs name them even if an ACK answers several packets."""
    link = transferred(500_000, TransportSettings(congestion="bolt", ack_every=ack_every))
    flags = data_flags(link)
    assert flags[0] == BOLT_FIRST
    assert flags[-1] == BOLT_LAST
    requests = flags.count(BOLT_INC)
    assert requests > 200
    answers = [frame for _, side, frame in link.sent if side == "b"]
    assert sum(frame[FLAGS_AT] & BTH_FLAGS_MASK for frame in answers) == requests


@pytest.mark.parametrize(
    ("congestion", "verdict", "window_bytes"),
    [("bolt", "obeyed", 124_000), ("window", "flow_control_off", 125_000)],
)
def test_a_nic_passes_a_switchs_request_to_its_congestion_control(
    congestion: str, verdict: str, window_bytes: int
) -> None:
    """The request shrinks the window and pauses nothing. Other senders count and ignore it, even with SFC."""
    link = FakeLink(TransportSettings(congestion=congestion, flow_control="sfc"))
    link.transfer(500_000)
    link.inject(2_000, link.a, bts(1, 5_000 // SUB_RTT_UNIT_NS, cause=BtsCause.SUB_RTT, psn=3))
    link.run(until_ns=3_000)
    [event] = link.of(BtsReceived, "a")
    assert (event.reason, event.paused_until_ns, event.signal.psn) == (verdict, None, 3)
    [message] = link.a.state().messages
    assert message.window_bytes == window_bytes
