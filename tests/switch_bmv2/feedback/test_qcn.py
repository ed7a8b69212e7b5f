# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""QCN's congestion point: which packets it samples and what it tells their senders."""

from __future__ import annotations

from itertools import pairwise

from tests.switch_bmv2.bench_switch import FRAME_OVERHEAD, BenchSwitch, Seen, bench_switch
from topologies.settings import SwitchSettings
from topologies.shapes import shape
from wire.addresses import parse_mac
from wire.bts import BackToSender, pack_frame
from wire.constants import DSCP_DATA, BtsCause
from wire.counters import BtsEvent

STAR = shape("star", {"hosts": 4}).build()
CLOS = shape("clos", {"hosts_per_tor": 3, "spines": 2}).build()
FRAME = 1000 + FRAME_OVERHEAD
Q_EQ, W, SAMPLE = 26_000, 2, 40_000
QCN = SwitchSettings(qcn_q_eq_bytes=Q_EQ, qcn_w=W, qcn_sample_bytes=SAMPLE)
MOST = Q_EQ * (2 * W + 1)


def _fill(switch: BenchSwitch, frames: int) -> list[Seen]:
    """Frames of as many flows for h4 at one instant, so that their queue only grows."""
    return [seen for qpn in range(1, frames + 1) for seen in switch.send(switch.data("h1", "h4", qpn=qpn), 1, 0)]


def test_samples_tell_excess_and_growth_and_come_sooner_when_they_are_bad() -> None:
    """Each is |Fb| in 63rds of the most there can be; the next comes after an interval over its upper bits and 1."""
    with bench_switch(STAR, "s1", QCN) as switch:
        told = [seen.bts for seen in [*_fill(switch, 400), *switch.run_dry()] if seen.is_bts]
        assert switch.counts().bts[BtsEvent.SENT_FEEDBACK] == switch.counts().bts_sent == len(told)
    assert {each.cause for each in told} == {BtsCause.FEEDBACK}
    depths = [each.queue_depth_bytes - FRAME for each in told]  # told with the packet that was sampled
    assert told[-1].pause_us == 63
    for (before, old), (after, depth) in pairwise(zip(told, depths, strict=True)):
        assert after.pause_us == min(63, 63 * (depth - Q_EQ + W * (depth - old)) // MOST)
        interval = SAMPLE // ((before.pause_us >> 3) + 1)
        assert 0.85 * interval - 1 <= depth - old <= 1.15 * interval + FRAME


def test_below_the_set_point_nobody_is_told() -> None:
    """A queue that grows slowly up to Q_eq, and a switch without congestion points."""
    slow = QCN.model_copy(update={"qcn_q_eq_bytes": 100 * FRAME, "qcn_w": 0})
    for settings, frames in ((slow, 100), (SwitchSettings(), 400)):
        with bench_switch(STAR, "s1", settings) as switch:
            assert not [seen for seen in [*_fill(switch, frames), *switch.run_dry()] if seen.is_bts]
            assert switch.counts().bts_sent == 0


def test_sfc_p_makes_no_pause_frame_of_feedback() -> None:
    """What stands in the pause's place is no time: the server's NIC gets the BTS."""
    bts = BackToSender(BtsCause.FEEDBACK, False, 40, 17, DSCP_DATA, 0xC001, 4791, 9, 3, 300_000, 2, 0)
    frame = pack_frame(
        bts,
        destination_mac=parse_mac("06:00:00:01:00:04"),
        source_mac=parse_mac("06:00:00:03:00:01"),
        congested_ip=int(CLOS.host["h6"].ip),
        paused_ip=int(CLOS.host["h1"].ip),
    )
    with bench_switch(CLOS, "tor1", SwitchSettings(bts="ingress", pause_cache=True, sfc_p=True)) as switch:
        [seen] = switch.send(frame, 4, 0)
        assert (seen.port, seen.bts) == (1, bts)
        assert switch.register("cache_max_entries") == 0
