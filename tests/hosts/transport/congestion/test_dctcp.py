# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of DCTCP with a sequence computed by hand from docs/sources.md#dctcp, and with a bottleneck that marks."""

import pytest

from sfc_testbed.hosts.transport.algorithms import Algorithms
from sfc_testbed.hosts.transport.congestion import AckSample
from sfc_testbed.hosts.transport.congestion.dctcp import Dctcp
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.wire.dilation import Dilation
from tests.hosts.transport.algorithm import GBPS, control
from tests.hosts.transport.fake_star import FakeStar


def ack(dctcp: Dctcp, acked: int, sent: int, *, is_marked: bool = False) -> float:
    """Acknowledge everything up to `acked` and return the rate in Gb/s."""
    dctcp.on_ack(AckSample(1000, 0, 12_000, is_marked, None, (), acked, sent), 0)
    return dctcp.rate_bps / GBPS


def test_rates_follow_the_hand_computed_sequence() -> None:
    """Process two round trips; the first has 11 acknowledgements, of which the second and third are marked.

    Alpha is 1 until the first round trip ends, so the first mark halves the rate. Then alpha = 15/16 + 1/16 x 2/11 =
    0.948864. The next cut is possible once more than the 12 000 B sent at the first cut are acknowledged:
    50 x (1 - 0.948864 / 2) = 26.278409.
    """
    dctcp = control(Dctcp)
    assert ack(dctcp, 1_000, 10_000) == 100
    assert ack(dctcp, 2_000, 12_000, is_marked=True) == 50
    assert dctcp.window_bytes == 62_500
    assert ack(dctcp, 3_000, 12_000, is_marked=True) == 50
    assert {ack(dctcp, 1_000 * number, 16_000) for number in range(4, 11)} == {50}
    assert dctcp.alpha == 1
    assert ack(dctcp, 11_000, 20_000) == 50
    assert dctcp.alpha == pytest.approx(0.948864, abs=1e-6)
    assert ack(dctcp, 12_000, 20_000, is_marked=True) == 50
    assert ack(dctcp, 13_000, 20_000, is_marked=True) == pytest.approx(26.278409, abs=1e-6)


def test_every_round_trip_without_a_cut_adds_a_constant() -> None:
    """A round trip ends with the first acknowledgement of more than had been sent at its start."""
    dctcp = control(Dctcp, additive_bps=2 * GBPS)
    ack(dctcp, 1_000, 4_000, is_marked=True)
    rates = [ack(dctcp, acked, acked + 3_000) for acked in range(2_000, 14_000, 1_000)]
    assert rates == [50, 50, 50, 52, 52, 52, 52, 54, 54, 54, 54, 56]


def test_the_rate_has_a_minimum_and_a_maximum() -> None:
    dctcp = control(Dctcp, additive_bps=60 * GBPS)
    for round_trip in range(12):
        ack(dctcp, 1_000 * (round_trip + 1), 1_000 * (round_trip + 1), is_marked=True)
    assert dctcp.rate_bps == GBPS
    rates = [ack(dctcp, 1_000 * acked, 1_000 * acked) for acked in range(14, 17)]
    assert rates == [61, 100, 100]


def test_a_rate_is_converted_to_wall_units() -> None:
    """At dilation 1000, 100 Gb/s are 100 Mb/s, and the increase is 615 kb/s."""
    dctcp = Algorithms(TransportSettings(congestion="dctcp"), Dilation(1000)).new_congestion()
    assert isinstance(dctcp, Dctcp)
    assert ack(dctcp, 1_000, 1_000, is_marked=True) == 0.05
    assert ack(dctcp, 2_000, 2_000) == pytest.approx(0.050615)


def test_two_long_flows_share_a_bottleneck() -> None:
    """The windows allow 2 BDP in flight and the path holds one, so that only marks keep the queue at half a BDP."""
    settings = TransportSettings(congestion="dctcp", payload_bytes=4000)
    star = FakeStar(settings, 3, ecn_threshold_bytes=60_000)
    jain, utilization = star.two_long_flows(1_000_000, 3_000_000)
    assert jain > 0.95
    assert utilization > 0.95
    assert 30_000 < star.mean_depth_bytes(1_000_000) < 80_000
