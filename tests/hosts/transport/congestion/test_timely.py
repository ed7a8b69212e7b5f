# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of TIMELY with a sequence computed by hand from docs/sources.md#timely, and with a bottleneck."""

from typing import Any

import pytest

from sfc_testbed.hosts.transport.congestion import UNLIMITED_WINDOW, AckSample
from sfc_testbed.hosts.transport.congestion.timely import Timely
from sfc_testbed.hosts.transport.settings import TransportSettings
from tests.hosts.transport.algorithm import GBPS, control
from tests.hosts.transport.fake_star import FakeStar


class Driver:
    """A TIMELY control at 100 Gb/s that gets one sample in each round trip."""

    def __init__(self, **parameters: Any) -> None:
        self.timely = control(Timely, **parameters)
        self._acked = 0

    def ack(self, rtt_us: int | None, *, is_late: bool = True) -> float:
        """Return the rate in Gb/s after a sample; one that is not `is_late` belongs to the same round trip."""
        self._acked += is_late
        rtt_ns = None if rtt_us is None else rtt_us * 1_000
        self.timely.on_ack(AckSample(1000, 0, rtt_ns, False, None, (), self._acked, self._acked), 0)
        return self.timely.rate_bps / GBPS


def test_rates_follow_the_hand_computed_sequence() -> None:
    """Process a sample of each case; the gradient is the average difference divided by 20 us.

    1. 100 us: stored only.
    2. 120 us: difference 0.875 x 20 = 17.5, gradient 0.875: 100 x (1 - 0.8 x 0.875) = 30.
    3. 110 us: 0.125 x 17.5 - 0.875 x 10 = -6.5625: + 0.1.
    4. 1000 us, above T_high: 30.1 x (1 - 0.8 x (1 - 0.5)) = 18.06; the difference is 777.930.
    5. 40 us, below T_low: + 0.1, whatever the gradient.
    6. 60 us: the difference is 0.125 x (0.125 x 777.930 - 0.875 x 960) + 0.875 x 20 = -75.345: + 0.1.
    """
    driver = Driver()
    assert driver.ack(100) == 100
    assert driver.ack(120) == pytest.approx(30)
    assert driver.ack(110) == pytest.approx(30.1)
    assert driver.timely.difference_ns == pytest.approx(-6_562.5)
    assert driver.ack(1_000) == pytest.approx(18.06)
    assert driver.timely.difference_ns == pytest.approx(777_930, abs=1)
    assert driver.ack(40) == pytest.approx(18.16)
    assert driver.ack(60) == pytest.approx(18.26)
    assert driver.timely.difference_ns == pytest.approx(-75_345, abs=1)


def test_five_increases_in_a_row_are_followed_by_larger_ones() -> None:
    """A decrease ends the series."""
    driver = Driver()
    driver.ack(100)
    assert driver.ack(120) == pytest.approx(30)
    assert [driver.ack(20) for _ in range(7)] == pytest.approx([30.1, 30.2, 30.3, 30.4, 30.5, 31, 31.5])
    driver.ack(1_000)
    before = driver.ack(1_000)
    assert driver.ack(20) == pytest.approx(before + 0.1)


def test_the_rate_changes_once_in_a_round_trip_and_never_by_a_resent_packet() -> None:
    driver = Driver()
    driver.ack(100)
    assert driver.ack(1_000, is_late=False) == 100
    assert driver.ack(None) == 100
    assert driver.ack(1_000) == pytest.approx(60)


def test_the_rate_has_a_minimum_and_a_maximum() -> None:
    driver = Driver()
    assert [driver.ack(rtt_us) for rtt_us in (20, 20)] == [100, 100]
    assert driver.ack(400) == 1


def test_a_window_in_proportion_to_the_rate_is_optional() -> None:
    assert Driver().timely.window_bytes == UNLIMITED_WINDOW
    driver = Driver(has_window=True)
    assert driver.timely.window_bytes == 125_000
    driver.ack(100)
    driver.ack(120)
    assert driver.timely.window_bytes == pytest.approx(37_500, abs=1)


def test_two_long_flows_share_a_bottleneck() -> None:
    """After the first deep cut the rates climb slowly, and the queue stays below the 0.5 MB that T_low allows."""
    star = FakeStar(TransportSettings(congestion="timely", payload_bytes=4000), 3)
    jain, utilization = star.two_long_flows(2_000_000, 3_000_000)
    assert jain > 0.95
    assert 0.8 < utilization < 0.95
    assert star.ports[2].most_bytes > 1_000_000
    assert star.mean_depth_bytes(2_000_000) < 500_000
