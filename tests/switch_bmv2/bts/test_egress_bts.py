# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of egress BTS (paper section 2.3, variant 2), which is sent after the packet has left its queue."""

from __future__ import annotations

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.wire.counters import BtsEvent
from tests.switch_bmv2.bench_switch import FRAME, STAR, bench_switch, signals

EGRESS = SwitchSettings(bts="egress", q_th_bytes=3 * FRAME, q_tg_bytes=FRAME, pause_rounding="up")


def test_every_packet_that_leaves_more_than_q_th_behind_signals_its_sender() -> None:
    """No BTS is sent at arrival."""
    with bench_switch(STAR, "s1", EGRESS) as switch:
        assert not signals(switch.burst("h1", "h4", 14))
        sent = [departure.bts for departure in signals(switch.run_dry())]
    # The first packet leaves at once, 13 wait. The k-th of these leaves 13 - k packets behind.
    assert [bts.queue_depth_bytes for bts in sent] == [(13 - k) * FRAME for k in range(1, 10)]
    assert {bts.pause_us for bts in sent} == {1}  # at most 931 ns, rounded up
    assert [bts.source_port for bts in sent] == [0xC000 + qpn for qpn in range(2, 11)]
    assert all(bts.cacheable for bts in sent)


def test_nothing_is_suppressed() -> None:
    """The congested link itself limits the rate of BTS, so a flow gets one for each of its packets."""
    with bench_switch(STAR, "s1", EGRESS) as switch:
        for _ in range(14):
            switch.send(switch.data("h1", "h4"), 1, 0)
        assert len(signals(switch.run_dry())) == 9
        events = switch.counts().bts
    assert (events[BtsEvent.SENT_QUEUE], events[BtsEvent.SUPPRESSED_QUEUE]) == (9, 0)
