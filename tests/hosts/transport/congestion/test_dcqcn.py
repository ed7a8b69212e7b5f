# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of DCQCN with sequences computed by hand from docs/sources.md#dcqcn, and with a bottleneck that marks."""

from typing import Literal

import pytest

from sfc_testbed.hosts.transport.congestion.dcqcn import Dcqcn
from sfc_testbed.hosts.transport.settings import TransportSettings
from tests.hosts.transport.algorithm import control
from tests.hosts.transport.fake_star import FakeStar

BDP = 125_000


def run(dcqcn: Dcqcn, until_ns: int) -> list[tuple[int, int]]:
    """Fire the timers in order and return the (time, rate) after each."""
    steps = []
    while (due_ns := dcqcn.next_timer_ns()) is not None and due_ns <= until_ns:
        dcqcn.on_timer(due_ns)
        steps.append((due_ns, dcqcn.rate_bps))
    return steps


def test_rates_follow_the_hand_computed_sequence() -> None:
    """The rate is cut on the 4 us grid after each of two CNPs, and then recovers in three phases.

    k = 255/256. First CNP at 1 us: alpha has four periods without a CNP at the cut (5.001 us): k^4 = 0.984466, so
    100 (1 - 0.492233) = 50.776684. The increases every 300 us take the mean with R_T = 100. Second CNP at 700 us, cut
    at 701.001 us with alpha = k^700 + 1/256 = 0.068494; R_T is the rate before it. The three increases then take the
    mean with R_T, with R_T + 0.02, and with that + 0.2.
    """
    dcqcn = control(Dcqcn)
    assert dcqcn.next_timer_ns() is None
    dcqcn.on_congestion_notice(1_000)
    assert dcqcn.rate_bps == 100_000_000_000, "the first CNP does not cut the rate immediately"
    assert run(dcqcn, 700_000) == [(5_001, 50_776_684_273), (305_001, 75_388_342_136), (605_001, 87_694_171_068)]
    dcqcn.on_congestion_notice(700_000)
    steps = run(dcqcn, 1_700_000)
    assert [time for time, _ in steps] == [701_001, 1_001_001, 1_301_001, 1_601_001]
    expected = [84_690_905_988, 86_192_538_528, 86_953_354_798, 87_433_762_933]
    assert [rate for _, rate in steps] == pytest.approx(expected, abs=2)


def test_there_is_at_most_one_cut_per_interval() -> None:
    dcqcn = control(Dcqcn)
    for time_ns in (1_000, 2_000, 3_000, 4_900):
        dcqcn.on_congestion_notice(time_ns)
    assert [time for time, _ in run(dcqcn, 9_000)] == [5_001]
    dcqcn.on_congestion_notice(9_001)
    assert [time for time, _ in run(dcqcn, 20_000)] == [9_001]


def test_an_increase_comes_before_a_cut_of_the_same_instant() -> None:
    """The increase at 305.001 us counts as a stage, so the cut stores the increased rate as R_T."""
    dcqcn = control(Dcqcn)
    dcqcn.on_congestion_notice(1_000)
    run(dcqcn, 300_000)
    dcqcn.on_congestion_notice(304_000)
    [(time_ns, rate_bps)] = run(dcqcn, 305_001)
    assert time_ns == 305_001
    assert dcqcn.target_bps == 75_388_342_136
    assert rate_bps < dcqcn.target_bps
    assert dcqcn.next_timer_ns() == 605_001


def test_a_window_follows_the_rate_but_not_below_one_packet() -> None:
    """The NICs of the paper's testbed do not pace packets, and their least window is a packet."""
    dcqcn = control(Dcqcn, window_based=True)
    dcqcn.on_congestion_notice(1_000)
    run(dcqcn, 5_001)
    assert (dcqcn.current_bps, dcqcn.rate_bps) == (50_776_684_273, 100_000_000_000)
    assert dcqcn.window_bytes == 50_776_684_273 * 10_000 // 8_000_000_000
    for time_ns in range(6_000, 400_000, 1_000):
        dcqcn.on_congestion_notice(time_ns)
        run(dcqcn, time_ns)
    assert dcqcn.current_bps == 1_000_000_000, "1,250 B for an RTT"
    low = control(Dcqcn, window_based=True, min_rate_bps=100_000_000)
    low.on_congestion_notice(1_000)
    for time_ns in range(1_000, 400_000, 1_000):
        low.on_congestion_notice(time_ns)
        run(low, time_ns)
    assert (dcqcn.window_bytes, low.window_bytes) == (1_250, 1_000)


def test_a_second_cut_sets_the_target_only_with_clamping() -> None:
    targets = {}
    for clamp in (False, True):
        dcqcn = control(Dcqcn, clamp_target=clamp)
        dcqcn.on_congestion_notice(0)
        run(dcqcn, 5_000)
        before_bps = dcqcn.rate_bps
        dcqcn.on_congestion_notice(6_000)
        run(dcqcn, 9_000)
        targets[clamp] = dcqcn.target_bps / before_bps
    assert targets[True] == 1
    assert targets[False] > 1.9


def test_the_rate_stays_between_the_minimum_and_the_line_rate() -> None:
    dcqcn = control(Dcqcn)
    for time_ns in range(0, 400_000, 1_000):
        dcqcn.on_congestion_notice(time_ns)
        run(dcqcn, time_ns)
    assert dcqcn.rate_bps == 1_000_000_000
    run(dcqcn, 10**9)
    assert dcqcn.rate_bps == pytest.approx(100_000_000_000, rel=1e-6)


@pytest.mark.parametrize(
    ("window_bytes", "notice"),
    [(-1, "cnp"), (0, "cnp"), (-1, "acknowledgement")],
    ids=["with window", "without", "marks in acknowledgements"],
)
def test_two_long_flows_share_a_bottleneck(window_bytes: int, notice: Literal["cnp", "acknowledgement"]) -> None:
    """The two windows allow 2 BDP in flight, and the path holds one, so the queue peaks at the threshold."""
    parameters = {"window_bytes": window_bytes}
    settings = TransportSettings(congestion="dcqcn", congestion_notice=notice, congestion_parameters=parameters)
    star = FakeStar(settings, 3, ecn_threshold_bytes=BDP)
    jain, utilization = star.two_long_flows(2_000_000, 4_000_000)
    assert jain >= 0.95
    assert utilization > 0.85
    assert star.mean_depth_bytes(2_000_000) < BDP
    if window_bytes:
        assert BDP < star.ports[2].most_bytes < 1.2 * BDP
    assert all((nic.statistics().cnps_received > 0) == (notice == "cnp") for nic in star.nics[:2])
    assert star.nics[2].statistics().cnps_sent <= 2 * 4_000_000 // 4_000
