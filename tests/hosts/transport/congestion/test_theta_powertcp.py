# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of theta-PowerTCP with a sequence computed by hand from docs/sources.md#theta-powertcp, and a bottleneck."""

import pytest

from sfc_testbed.hosts.transport.congestion import AckSample
from sfc_testbed.hosts.transport.congestion.powertcp import ThetaPowertcp
from sfc_testbed.hosts.transport.settings import TransportSettings
from tests.hosts.transport.algorithm import GBPS, control
from tests.hosts.transport.fake_star import FakeStar


def ack(theta: ThetaPowertcp, now_us: int, rtt_us: int | None, acked: int, sent: int) -> float:
    """Return the rate in Gb/s after an acknowledgement."""
    rtt_ns = None if rtt_us is None else rtt_us * 1_000
    theta.on_ack(AckSample(0, 0, rtt_ns, False, None, (), acked, sent), now_us * 1_000)
    return theta.rate_bps / GBPS


def test_rates_follow_the_hand_computed_sequence() -> None:
    """Process a first, a full and a fast update, and one after the queue has drained.

    1. Stored only: 10 us.
    2. 2 us later the RTT is 12 us, so the slope is 1: power 2 x 12 / 10.5 = 2.285714 with a weight of 0.2, so
       1.257143. R = 0.7 x (100 / 1.257143 + 0.6) + 0.3 x 100 = 86.101818, which is also the new reference.
    3. 5 us later, 12 us: power 0.5 x 1.257143 + 0.5 x 12 / 10.5 = 1.2; R = 0.7 x (86.101818 / 1.2 + 0.6) + 25.830545 =
       76.476606. The reference is unchanged.
    4. 20 us later, 8 us: the slope is -0.2 and the base RTT is now 8 us. Power 0.8 x 8 / 8.4 = 0.761905;
       R = 0.7 x (86.101818 / 0.761905 + 0.6) + 25.830545, limited to 100.
    """
    theta = control(ThetaPowertcp)
    assert ack(theta, 0, 10, 1_000, 2_000) == 100
    assert ack(theta, 2, 12, 3_000, 5_000) == pytest.approx(86.101818, abs=1e-6)
    assert theta.power == pytest.approx(1.257143, abs=1e-6)
    assert theta.window_bytes == 107_627
    assert ack(theta, 7, 12, 4_000, 6_000) == pytest.approx(76.476606, abs=1e-6)
    assert theta.power == pytest.approx(1.2)
    assert theta.reference_bps / GBPS == pytest.approx(86.101818, abs=1e-6)
    assert ack(theta, 27, 8, 6_000, 9_000) == 100
    assert theta.power == pytest.approx(0.761905, abs=1e-6)
    assert theta.base_rtt_ns == 8_000


def test_the_slope_counts_as_half_at_least() -> None:
    theta = control(ThetaPowertcp)
    ack(theta, 0, 40, 1, 1)
    ack(theta, 10, 20, 2, 2)
    assert theta.power == pytest.approx(0.5 * 20 / 10.5)


def test_resent_packets_and_acknowledgements_of_the_same_instant_are_skipped() -> None:
    theta = control(ThetaPowertcp)
    ack(theta, 0, 10, 1, 1)
    assert ack(theta, 5, None, 2, 2) == 100
    assert ack(theta, 0, 500, 2, 2) == 100
    assert theta.power == 1


def test_an_rtt_above_that_of_the_longest_path_does_not_become_the_base_rtt() -> None:
    theta = control(ThetaPowertcp)
    ack(theta, 0, 60, 1, 1)
    assert theta.base_rtt_ns == 10_000


def test_two_long_flows_share_a_bottleneck_with_a_short_queue() -> None:
    star = FakeStar(TransportSettings(congestion="theta-powertcp"), 3)
    jain, utilization = star.two_long_flows(500_000, 1_500_000)
    assert jain > 0.9
    assert utilization > 0.85
    assert star.mean_depth_bytes(500_000) < 60_000
