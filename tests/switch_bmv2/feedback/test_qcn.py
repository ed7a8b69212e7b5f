# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of QCN's congestion point: the sampled packets and the feedback to their senders."""

from __future__ import annotations

from itertools import pairwise

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.wire.constants import BtsCause
from sfc_testbed.wire.counters import BtsEvent
from tests.switch_bmv2.bench_switch import FRAME, STAR, bench_switch, signals

Q_EQ, W, SAMPLE = 26_000, 2, 40_000
QCN = SwitchSettings(qcn_q_eq_bytes=Q_EQ, qcn_w=W, qcn_sample_bytes=SAMPLE)
MOST = Q_EQ * (2 * W + 1)


def test_feedback_follows_depth_and_growth_and_sets_the_next_interval() -> None:
    """Feedback is |Fb| scaled so that the maximum is 63.

    The interval to the next sample is divided by one plus the upper bits of the feedback.
    """
    with bench_switch(STAR, "s1", QCN) as switch:
        samples = [departure.bts for departure in signals(switch.burst("h1", "h4", 400) + switch.run_dry())]
        assert switch.counts().bts[BtsEvent.SENT_FEEDBACK] == switch.counts().bts_sent == len(samples)
    assert {sample.cause for sample in samples} == {BtsCause.FEEDBACK}
    depths = [sample.queue_depth_bytes - FRAME for sample in samples]  # a reported depth includes the sampled packet
    assert samples[-1].pause_us == 63
    for (before, old), (after, depth) in pairwise(zip(samples, depths, strict=True)):
        assert after.pause_us == min(63, 63 * (depth - Q_EQ + W * (depth - old)) // MOST)
        interval = SAMPLE // ((before.pause_us >> 3) + 1)
        assert 0.85 * interval - 1 <= depth - old <= 1.15 * interval + FRAME


def test_no_feedback_below_the_set_point_or_without_qcn() -> None:
    slow = QCN.model_copy(update={"qcn_q_eq_bytes": 100 * FRAME, "qcn_w": 0})
    for settings, frames in ((slow, 100), (SwitchSettings(), 400)):
        with bench_switch(STAR, "s1", settings) as switch:
            assert not signals(switch.burst("h1", "h4", frames) + switch.run_dry())
            assert switch.counts().bts_sent == 0
