# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of HPCC with sequences computed by hand from docs/sources.md#hpcc, and with a bottleneck with telemetry."""

from typing import Literal

import pytest

from sfc_testbed.hosts.transport.congestion import AckSample, PathContext
from sfc_testbed.hosts.transport.congestion.hpcc import Hpcc
from sfc_testbed.hosts.transport.congestion.telemetry import STAMP_MODULUS_NS, HopTelemetry
from sfc_testbed.hosts.transport.settings import TransportSettings
from tests.hosts.transport.algorithm import GBPS, control
from tests.hosts.transport.fake_star import FakeStar


def ack(hpcc: Hpcc, *hops: HopTelemetry, acked: int = 0, sent: int = 0) -> int:
    hpcc.on_ack(AckSample(0, 0, None, False, None, hops, acked, sent), 0)
    return hpcc.rate_bps


def hop(time_us: int, sent_bytes: int, queue_bytes: int = 0, gbps: int = 100) -> HopTelemetry:
    return HopTelemetry(gbps * GBPS, time_us * 1000, sent_bytes, queue_bytes)


def test_a_slower_nic_uses_the_largest_bdp_of_the_network() -> None:
    """W_init is 125 000 B at 50 Gb/s too, so a queue of 12 500 B is a tenth of it."""
    hpcc = control(Hpcc, PathContext(50 * GBPS, 10_000, 1000, 125_000))
    assert hpcc.window_bytes == 125_000
    ack(hpcc, hop(0, 0, 12_500, 50), acked=1_000, sent=2_000)
    ack(hpcc, hop(10, 0, 12_500, 50), acked=3_000, sent=5_000)
    assert hpcc.utilization == pytest.approx(0.1)


def test_rates_follow_the_hand_computed_sequence() -> None:
    """Process a first, a full, a fast-reacting and again a full update, over two hops of 100 and 50 Gb/s.

    1. Stored only: R = R_c = 100, W = 125000, lastUpdateSeq = 2000.
    2. 1 us later, hop 1 sent 12500 B = 100 Gb/s, min(q) = 12500 B = 0.1 BDP: u = 1.1; hop 2 is idle. tau = 1 us,
       U = 1.01, R = 100 / (1.01 / 0.95) + 0.04 = 94.099406; W = 117624; ack.seq 3000 > 2000, so R_c = R.
    3. 2 us later, hop 1 at 20 Gb/s: 0.2; hop 2 sent 10000 B = 40 of 50 Gb/s, min(q) 6250 B = 0.1: u = 0.9.
       U = 0.8 x 1.01 + 0.2 x 0.9 = 0.988; ack.seq 4000 <= 5000: R = R_c / (0.988 / 0.95) + 0.04 = 90.520198; R_c is
       unchanged.
    4. 20 us later (tau = T), hop 1 at 50 Gb/s: U = 0.5, ack.seq 6000: R = 94.099406 x 1.9 + 0.04, limited to 100.
    """
    hpcc = control(Hpcc)
    assert ack(hpcc, hop(0, 0, 25_000), hop(0, 0, 12_500, 50), acked=1_000, sent=2_000) == 100 * GBPS
    rate = ack(hpcc, hop(1, 12_500, 12_500), hop(1, 1, 6_250, 50), acked=3_000, sent=5_000)
    assert rate == 94_099_405_941
    assert hpcc.window_bytes == 117_624
    assert hpcc.utilization == pytest.approx(1.01)
    rate = ack(hpcc, hop(3, 17_500), hop(3, 10_001, 12_500, 50), acked=4_000, sent=6_000)
    assert hpcc.utilization == pytest.approx(0.988)
    assert rate == pytest.approx(90_520_198_020, abs=100)
    assert hpcc.reference_bps == pytest.approx(94_099_405_941, abs=1)
    rate = ack(hpcc, hop(23, 142_500), hop(23, 10_002, 0, 50), acked=6_000, sent=9_000)
    assert (rate, hpcc.window_bytes) == (100 * GBPS, 125_000)
    assert hpcc.utilization == pytest.approx(0.5)


def test_max_stage_additive_steps_precede_a_multiplicative_one() -> None:
    hpcc = control(Hpcc, max_stage=2, additive_bps=GBPS)
    ack(hpcc, hop(0, 0))
    assert ack(hpcc, hop(10, 250_000), acked=1, sent=1) == pytest.approx((47.5 + 1) * GBPS)  # U = 2: multiplicative
    rates = [ack(hpcc, hop(10 + 10 * n, 250_000 + 62_500 * n), acked=n + 1, sent=n + 1) for n in (1, 2, 3)]  # U = 0.5
    assert rates == pytest.approx([49.5 * GBPS, 50.5 * GBPS, (50.5 * 1.9 + 1) * GBPS])


def test_without_fast_react_only_full_updates_change_the_rate() -> None:
    """Other acknowledgements do not even change the stored telemetry."""
    hpcc = control(Hpcc, fast_react=False)
    ack(hpcc, hop(0, 0), acked=1, sent=10)
    assert ack(hpcc, hop(5, 125_000), acked=5, sent=11) == 100 * GBPS
    ack(hpcc, hop(10, 250_000), acked=11, sent=20)
    assert hpcc.utilization == pytest.approx(2.0)


def test_unusable_telemetry_is_skipped() -> None:
    """The next usable sample spans the time since the last usable one."""
    hpcc = control(Hpcc)
    assert ack(hpcc) == 100 * GBPS
    ack(hpcc, hop(5, 0))
    for record in (hop(5, 12_500), hop(4, 12_500), hop(6, 12_500, gbps=0)):
        assert ack(hpcc, record, acked=5) == 100 * GBPS
    ack(hpcc, hop(15, 250_000), acked=5)
    assert hpcc.utilization == pytest.approx(2.0)


def test_a_forged_time_stamp_from_the_future_is_replaced_by_the_next_packet() -> None:
    """Otherwise every correct time stamp would be too old for minutes."""
    hpcc = control(Hpcc)
    ack(hpcc, hop(5, 0))
    forged_bps = ack(hpcc, HopTelemetry(1_000, 2_000_000_000_000, 4_000_000_000, 0), acked=5, sent=20)
    for number in range(1, 20):
        ack(hpcc, hop(5 + 10 * number, 100), acked=20 * number, sent=20 * number)
    assert forged_bps < 10 * GBPS
    assert hpcc.rate_bps == 100 * GBPS


def test_time_stamps_and_counters_wrap_at_32_bits() -> None:
    hpcc = control(Hpcc)
    ack(hpcc, HopTelemetry(100 * GBPS, STAMP_MODULUS_NS - 4_000, (1 << 32) - 50_000, 0))
    ack(hpcc, hop(6, 75_000), acked=5)
    assert hpcc.utilization == pytest.approx(1.0)


def test_another_number_of_hops_starts_a_new_measurement() -> None:
    hpcc = control(Hpcc)
    ack(hpcc, hop(0, 0))
    assert ack(hpcc, hop(1, 99_999), hop(1, 5), acked=5) == 100 * GBPS


def test_rate_and_window_have_a_minimum() -> None:
    hpcc = control(Hpcc)
    ack(hpcc, hop(0, 0, 10**9))
    for number in range(1, 50):
        ack(hpcc, hop(number * 10, number * 125_000, 10**9), acked=number, sent=number)
    assert hpcc.rate_bps >= 100_000_000
    assert hpcc.window_bytes >= 1


@pytest.mark.parametrize(("max_stage", "layout"), [(0, "growing"), (5, "growing"), (0, "compact")])
def test_two_long_flows_share_a_bottleneck(max_stage: int, layout: Literal["growing", "compact"]) -> None:
    settings = TransportSettings(
        congestion="hpcc",
        congestion_parameters={"max_stage": max_stage},
        int_layout=layout,
        link_rates_bps=(100 * GBPS,) if layout == "compact" else (),
    )
    star = FakeStar(settings, 3, with_telemetry=True)
    jain, utilization = star.two_long_flows(500_000, 1_500_000)
    assert jain >= 0.95
    assert 0.90 <= utilization <= 0.98
    assert star.mean_depth_bytes(500_000) < 2_000
