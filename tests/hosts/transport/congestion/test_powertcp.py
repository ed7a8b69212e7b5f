# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of PowerTCP with a sequence computed by hand from docs/sources.md#powertcp, and with a bottleneck."""

import pytest

from sfc_testbed.hosts.transport.congestion import AckSample
from sfc_testbed.hosts.transport.congestion.powertcp import Powertcp
from sfc_testbed.hosts.transport.congestion.telemetry import STAMP_MODULUS_NS, HopTelemetry
from sfc_testbed.hosts.transport.settings import TransportSettings
from tests.hosts.transport.algorithm import GBPS, control
from tests.hosts.transport.congestion.test_hpcc import hop
from tests.hosts.transport.fake_star import FakeStar


def ack(powertcp: Powertcp, *hops: HopTelemetry, acked: int = 0, sent: int = 0) -> float:
    """Return the rate in Gb/s after an acknowledgement with telemetry."""
    powertcp.on_ack(AckSample(0, 0, None, False, None, hops, acked, sent), 0)
    return powertcp.rate_bps / GBPS


def test_rates_follow_the_hand_computed_sequence() -> None:
    """Process a first, a full, a fast and again a full update, over hops of 100 and 50 Gb/s.

    1. Stored only.
    2. 1 us later, hop 1 sent 12 500 B (all of its rate) and its queue grew from 0 to 12 500 B: twice its rate arrives.
       Power 2 x (1 + 12 500 / 125 000) = 2.2; hop 2 is idle: 0.5. The weight is 0.1, so the power is 1.12, and
       R = 0.9 x (100 x 0.95 / 1.12 + 0.6) + 0.1 x 100 = 86.879286, which is also the new reference.
    3. 1 us later, hop 1 sent 12 500 B and its queue is gone, so nothing arrived: 0.5. Hop 2 sent nothing and its queue
       grew by 6 250 B: power 1 x (1 + 6 250 / 62 500) = 1.1. Power 0.9 x 1.12 + 0.1 x 1.1 = 1.118;
       R = 0.9 x (86.879286 x 0.95 / 1.118 + 0.6) + 0.1 x 86.879286 = 75.669601; the reference is unchanged.
    4. 20 us later, both idle: power 0.5; R = 0.9 x (86.879286 x 0.95 / 0.5 + 0.6) + 8.69, limited to 100.
    """
    powertcp = control(Powertcp)
    assert ack(powertcp, hop(0, 0), hop(0, 0, 0, 50), acked=1_000, sent=2_000) == 100
    rate = ack(powertcp, hop(1, 12_500, 12_500), hop(1, 0, 0, 50), acked=3_000, sent=5_000)
    assert rate == pytest.approx(86.879286, abs=1e-6)
    assert powertcp.power == pytest.approx(1.12)
    assert powertcp.window_bytes == 108_599
    rate = ack(powertcp, hop(2, 25_000, 0), hop(2, 0, 6_250, 50), acked=4_000, sent=6_000)
    assert powertcp.power == pytest.approx(1.118)
    assert rate == pytest.approx(75.669601, abs=1e-6)
    assert powertcp.reference_bps / GBPS == pytest.approx(86.879286, abs=1e-6)
    assert ack(powertcp, hop(22, 25_000), hop(22, 6_250, 0, 50), acked=6_000, sent=9_000) == 100
    assert powertcp.power == 0.5


def test_arrivals_below_half_of_the_rate_count_as_half() -> None:
    powertcp = control(Powertcp)
    ack(powertcp, hop(0, 0), acked=1, sent=1)
    ack(powertcp, hop(10, 1_000), acked=2, sent=2)
    assert powertcp.power == 0.5


def test_equal_and_older_time_stamps_are_skipped_and_counters_may_wrap() -> None:
    powertcp = control(Powertcp)
    last_us = STAMP_MODULUS_NS // 1_000 - 1
    ack(powertcp, hop(last_us, (1 << 32) - 62_500), acked=1, sent=1)
    assert ack(powertcp, hop(last_us, 0), acked=2, sent=2) == 100
    assert powertcp.power == 1
    ack(powertcp, hop(9, 62_500), acked=3, sent=3)
    assert powertcp.power == pytest.approx(1)
    assert ack(powertcp, hop(5, 70_000), acked=4, sent=4) == powertcp.rate_bps / GBPS


def test_another_path_only_stores_telemetry_and_no_telemetry_changes_nothing() -> None:
    powertcp = control(Powertcp)
    ack(powertcp, hop(0, 0), acked=1, sent=1)
    assert ack(powertcp, hop(1, 90_000, 90_000), hop(1, 0), acked=2, sent=2) == 100
    assert ack(powertcp, acked=3, sent=3) == 100


def test_the_rate_has_a_minimum() -> None:
    """A queue of 40 BDP at a busy hop divides the rate by 43 in each round trip; the minimum is 0.4 Gb/s."""
    powertcp = control(Powertcp, additive_bps=0)
    ack(powertcp, hop(0, 0), acked=1, sent=1)
    for step in range(1, 60):
        ack(powertcp, hop(10 * step, 125_000 * step, 5_000_000), acked=step + 1, sent=step + 1)
    assert powertcp.rate_bps == 400_000_000


def test_two_long_flows_share_a_bottleneck_with_a_short_queue() -> None:
    star = FakeStar(TransportSettings(congestion="powertcp"), 3, with_telemetry=True)
    jain, utilization = star.two_long_flows(500_000, 1_500_000)
    assert jain > 0.95
    assert utilization > 0.85
    assert star.mean_depth_bytes(500_000) < 30_000
