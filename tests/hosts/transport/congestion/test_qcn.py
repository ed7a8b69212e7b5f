# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of QCN's reaction point with sequences computed by hand (docs/sources.md#qcn), and of feedback at a NIC."""

from itertools import pairwise

import pytest

from sfc_testbed.contract.link import bts, transferred
from sfc_testbed.hosts.transport.congestion.qcn import Qcn
from sfc_testbed.hosts.transport.messages import BtsReceived
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.wire.constants import BtsCause
from tests.hosts.transport.algorithm import GBPS, control

CYCLE_BYTES = 150_000
TIMER_NS = 1_500_000


def cycles(qcn: Qcn, count: int, size_bytes: int = CYCLE_BYTES) -> list[float]:
    """Let the byte counter expire `count` times and return the rate (Gb/s) after each."""
    rates = []
    for _ in range(count):
        qcn.on_sent(size_bytes, 0)
        rates.append(qcn.rate_bps / GBPS)
    return rates


def test_feedback_cuts_the_rate_and_sent_bytes_raise_it() -> None:
    """Two consecutive cuts keep R_T at line rate, and a cut after an increase sets R_T to the rate before it.

    Five increases then halve the distance to R_T, and the next adds R_AI of 50 Mb/s. 100 (1 - 32/128) = 75;
    75 (1 - 63/128) = 38.0859; the mean with 100 is 69.0430; times 1 - 16/128 is 60.4126. The distance of 8.6304 to
    69.0430 is halved five times, to 0.2697; then the mean of 68.7733 and 69.0930.
    """
    qcn = control(Qcn)
    qcn.on_sent(10 * CYCLE_BYTES, 0)
    assert qcn.rate_bps == 100 * GBPS, "there is no limit before the first feedback"
    qcn.on_feedback(32, 0)
    assert qcn.rate_bps == 75 * GBPS
    qcn.on_feedback(63, 0)
    assert qcn.rate_bps / GBPS == pytest.approx(38.0859375)
    assert qcn.target_bps == 100 * GBPS
    assert cycles(qcn, 1) == [pytest.approx(69.04296875)]
    qcn.on_feedback(16, 0)
    assert qcn.rate_bps / GBPS == pytest.approx(60.41259766)
    assert qcn.target_bps / GBPS == pytest.approx(69.04296875)
    assert cycles(qcn, 5)[-1] == pytest.approx(68.77326965)
    assert cycles(qcn, 1, CYCLE_BYTES // 2) == [pytest.approx(68.93311920)]


def test_the_timer_raises_the_rate_up_to_the_line_rate() -> None:
    """The timer expires every 1.5 ms five times, then every 0.75 ms, and stops at the line rate."""
    qcn = control(Qcn)
    assert qcn.next_timer_ns() is None
    qcn.on_feedback(32, 1_000)
    times = []
    while (due_ns := qcn.next_timer_ns()) is not None:
        times.append(due_ns)
        qcn.on_timer(due_ns)
    gaps = [after - before for before, after in pairwise([1_000, *times])]
    assert gaps == [TIMER_NS] * 5 + [TIMER_NS // 2] * (len(times) - 5)
    assert qcn.rate_bps == 100 * GBPS
    qcn.on_feedback(32, times[-1])
    assert qcn.rate_bps == 75 * GBPS


def test_the_target_gains_r_hai_when_byte_counter_and_timer_are_past_fast_recovery() -> None:
    """R_HAI is 500 Mb/s, times the cycles of the slower one beyond the threshold."""
    qcn = control(Qcn)
    qcn.on_feedback(63, 0)
    cycles(qcn, 1)
    qcn.on_feedback(63, 0)
    cycles(qcn, 7)
    for step in range(5):
        qcn.on_timer(TIMER_NS * (step + 1))
    before_bps = qcn.target_bps
    gains = []
    for step in range(2):
        qcn.on_timer(5 * TIMER_NS + TIMER_NS // 2 * (step + 1))
        gains.append(qcn.target_bps - before_bps)
        before_bps = qcn.target_bps
    assert gains == [500_000_000, 1_000_000_000]


def test_a_target_far_above_the_rate_is_divided_by_8_first() -> None:
    """Cuts lower the rate from 100 Gb/s to 0.87 Gb/s, so the first increase uses a target of 12.5 Gb/s."""
    qcn = control(Qcn)
    for _ in range(7):
        qcn.on_feedback(63, 0)
    assert qcn.rate_bps / GBPS == pytest.approx(100 * (65 / 128) ** 7)
    assert cycles(qcn, 2)[0] == pytest.approx((100 * (65 / 128) ** 7 + 12.5) / 2)
    assert qcn.target_bps == 12.5 * GBPS


def test_one_feedback_at_most_halves_the_rate_and_the_rate_has_a_minimum() -> None:
    qcn = control(Qcn)
    qcn.on_feedback(0xFFFF_FFFF, 0)
    assert qcn.rate_bps == 50 * GBPS
    for _ in range(30):
        qcn.on_feedback(63, 0)
    assert qcn.rate_bps == 50_000_000


@pytest.mark.parametrize(("congestion", "verdict"), [("qcn", "obeyed"), ("none", "flow_control_off")])
def test_a_nic_passes_feedback_to_its_congestion_control(congestion: str, verdict: str) -> None:
    """Feedback paces the flow and pauses nothing; without QCN it is counted and ignored, even with SFC."""
    feedback = (2_000, bts(1, 63, cause=BtsCause.FEEDBACK))
    link = transferred(100_000, TransportSettings(congestion=congestion, flow_control="sfc"), arrivals=[feedback])
    [event] = link.of(BtsReceived, "a")
    assert (event.reason, event.paused_until_ns) == (verdict, None)
    starts = [start_ns for start_ns, _, _ in link.data_sent() if start_ns > 2_200]
    full_ns = 1_058 * 8 // 100
    expected_ns = full_ns * 128 / 65 if congestion == "qcn" else full_ns
    assert [after - before for before, after in pairwise(starts[:-1])] == pytest.approx(
        [expected_ns] * (len(starts) - 2), abs=2
    )
