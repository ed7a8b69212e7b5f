# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of Swift with sequences computed by hand from docs/sources.md#swift, on a bottleneck, and behind switches."""

from itertools import pairwise

import pytest

from sfc_testbed.hosts.transport.congestion import AckSample
from sfc_testbed.hosts.transport.congestion.swift import Swift
from sfc_testbed.hosts.transport.settings import TransportSettings
from tests.hosts.transport.algorithm import GBPS, control
from tests.hosts.transport.fake_star import FakeStar

HOP_NS = 3_053


def ack(swift: Swift, now_us: int, rtt_us: float | None, packets: int = 1, switches: int = 0) -> float:
    """Acknowledge packets with a round-trip time and return the window in packets."""
    rtt_ns = None if rtt_us is None else round(rtt_us * 1_000)
    swift.on_ack(AckSample(1000 * packets, 0, rtt_ns, False, None, (), 0, 0, switches), now_us * 1_000)
    return swift.window_packets


def test_a_new_flow_has_one_bdp_and_sends_at_line_rate() -> None:
    swift = control(Swift)
    assert (swift.window_packets, swift.window_bytes, swift.rate_bps) == (125, 125_000, 100 * GBPS)


def test_the_target_grows_with_switches_and_with_small_windows() -> None:
    """The range of 100 us is between windows of 100 and 0.1 packets, in proportion to 1 / sqrt(window) - 0.1.

    At one packet it is 100 x (1 - 0.1) / (sqrt(10) - 0.1) = 29.390 us.
    """
    for packets, flow_us in ((125.0, 0.0), (100.0, 0.0), (1.0, 29.390), (0.1, 100.0), (0.05, 100.0)):
        swift = control(Swift, initial_packets=packets)
        assert swift.target_ns(0) / 1_000 == pytest.approx(20 + flow_us, abs=0.001)
        assert swift.target_ns(3) - swift.target_ns(0) == pytest.approx(3 * HOP_NS, abs=1)


def test_windows_follow_the_hand_computed_sequence() -> None:
    """Process increases and decreases above 100 packets, where the target is 20 us.

    1. 15 us, five packets: 125 + 5 / 125 = 125.04.
    2. 40 us: 125.04 x (1 - 0.8 x 20 / 40) = 75.024. The smoothed RTT is 10.625, then 14.297 us.
    3. 60 us, 10 us later: no second decrease within the smoothed RTT.
    4. 1000 us, 40 us after the decrease: a decrease by half, which is the most.
    """
    swift = control(Swift, flow_range_ns=0)
    assert ack(swift, 0, 15, packets=5) == pytest.approx(125.04)
    assert ack(swift, 100, 40) == pytest.approx(75.024)
    assert ack(swift, 110, 60) == pytest.approx(75.024)
    assert ack(swift, 140, 1_000) == pytest.approx(37.512)


def test_a_path_with_more_switches_has_more_delay_before_a_decrease() -> None:
    swift = control(Swift, flow_range_ns=0)
    assert ack(swift, 0, 28, switches=3) > 125
    assert ack(swift, 100, 28, switches=1) < 125


def test_a_window_below_one_packet_is_a_pace() -> None:
    """A frame of 1 058 B, window 0.5 and a smoothed RTT of 10 us: 8 464 bits in 20 us."""
    swift = control(Swift, initial_packets=0.5)
    assert swift.window_bytes == 1_000
    assert swift.rate_bps == 423_200_000
    ack(swift, 0, 10, packets=1)
    assert swift.window_packets == 1.5
    assert (swift.window_bytes, swift.rate_bps) == (1_500, 100 * GBPS)


def test_the_window_has_a_minimum_and_a_maximum() -> None:
    swift = control(Swift, initial_packets=999.5, max_packets=1000.0, min_packets=0.25, flow_range_ns=0)
    assert ack(swift, 0, 5, packets=900) == 1000
    for step in range(1, 20):
        ack(swift, 5_000 * step, 2_000)
    assert swift.window_packets == 0.25


def test_losses_halve_the_window_once_in_a_round_trip_and_five_round_trips_with_losses_reset_it() -> None:
    """An acknowledgement resets the count."""
    swift = control(Swift)
    for loss in range(10):
        swift.on_loss(1_000, 1_000_000 + loss)
    assert swift.window_packets == 62.5
    ack(swift, 1_002, None)
    for trip in range(1, 5):
        swift.on_loss(1_000, 1_000_000 + 20_000 * trip)
        assert swift.window_packets == 62.5 / 2**trip
    swift.on_loss(1_000, 1_100_000)
    assert swift.window_packets == 0.01


def test_two_long_flows_share_a_bottleneck_at_the_target_delay() -> None:
    """The RTT of the star is 10 us, and the target of about 125 packets each 20 us, so the queue has 125 KB."""
    settings = TransportSettings(congestion="swift")
    star = FakeStar(settings, 3)
    jain, utilization = star.two_long_flows(500_000, 1_500_000)
    assert jain > 0.95
    assert utilization > 0.95
    assert 80_000 < star.mean_depth_bytes(500_000) < 200_000


def test_a_nic_paces_packets_of_a_fractional_window() -> None:
    """Each acknowledgement adds 0.05 to a window of 0.25, so gaps shrink from RTT / 0.3 to RTT / 0.6."""
    parameters = {"initial_packets": 0.25, "additive_packets": 0.05}
    star = FakeStar(TransportSettings(congestion="swift", congestion_parameters=parameters), 2)
    star.transfer(0, 1, 8_000)
    star.run()
    starts_us = [time_ns / 1_000_000 for time_ns, _ in star.ports[1].depths]
    gaps_us = [after - before for before, after in pairwise(starts_us)]
    assert gaps_us[0] == pytest.approx(10.2 / 0.30, rel=0.05)
    assert gaps_us == sorted(gaps_us, reverse=True)
    assert gaps_us[-1] == pytest.approx(10.2 / 0.60, rel=0.1)
