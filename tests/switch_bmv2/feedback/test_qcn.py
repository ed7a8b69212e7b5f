# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of QCN's congestion point: the sampled packets and the feedback to their senders."""

from __future__ import annotations

from itertools import pairwise

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.addresses import parse_mac
from sfc_testbed.wire.bts import BackToSender, pack_frame
from sfc_testbed.wire.constants import DSCP_DATA, BtsCause
from sfc_testbed.wire.counters import BtsEvent
from tests.switch_bmv2.bench_switch import FRAME, STAR, bench_switch, signals

CLOS = shape("clos", {"hosts_per_tor": 3, "spines": 2}).build()
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


def test_sfc_p_makes_no_pause_frame_of_feedback() -> None:
    """The pause field of a feedback BTS is no duration, so the BTS is forwarded to the server's NIC."""
    bts = BackToSender(BtsCause.FEEDBACK, False, 40, 17, DSCP_DATA, 0xC001, 4791, 9, 3, 300_000, 2, 0)
    frame = pack_frame(
        bts,
        destination_mac=parse_mac("06:00:00:01:00:04"),
        source_mac=parse_mac("06:00:00:03:00:01"),
        congested_ip=int(CLOS.host["h6"].ip),
        paused_ip=int(CLOS.host["h1"].ip),
    )
    with bench_switch(CLOS, "tor1", SwitchSettings(bts="ingress", pause_cache=True, sfc_p=True)) as switch:
        [departure] = switch.send(frame, 4, 0)
        assert (departure.port, departure.bts) == (1, bts)
        assert switch.register("cache_max_entries") == 0
