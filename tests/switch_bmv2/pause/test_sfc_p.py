# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of SFC-P: the sender-side ToR turns a BTS into a pause frame for its server's NIC (paper section 4)."""

from __future__ import annotations

import pytest

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.wire.bts import BackToSender
from sfc_testbed.wire.constants import DSCP_DATA, BtsCause
from tests.switch_bmv2.bench_switch import CLOS, MODEL_US, UPLINK, US, arriving, arriving_pause, bench_switch

SFC_P = SwitchSettings(bts="ingress", pause_cache=True, sfc_p=True)
QUANTUM_US = 5.12  # 512 bits at 100 Mb/s
LONGEST_US = int(65535 * QUANTUM_US)


def test_bts_becomes_a_pause_of_the_class_rounded_up() -> None:
    """The server gets no BTS but a 60-byte pause frame of class 3 with ceil(T_P R / 512) quanta."""
    with bench_switch(CLOS, "tor1", SFC_P) as switch:
        [frame] = switch.send(arriving_pause(4), UPLINK, 0)
    assert (frame.port, frame.is_pause, frame.is_bts, len(frame.frame)) == (1, True, False, 60)
    assert frame.pause == (3, 782)  # 4000 / 5.12 = 781.25
    assert frame.frame[6:12].hex(":") == CLOS.host["h1"].gateway_mac


def test_the_cache_still_learns() -> None:
    """The pause is cached for other servers of the rack, which also get a pause frame instead of a BTS."""
    with bench_switch(CLOS, "tor1", SFC_P) as switch:
        switch.send(arriving_pause(4), UPLINK, 0)
        departures = switch.send(switch.data("h2", "h6"), 2, 1000 * US) + switch.run_to(1100 * US)
        [pause] = [departure for departure in departures if departure.is_pause]
        assert pause.port == 2
        assert pause.pause == (3, 586)  # (4000 - 1000) / 5.12 = 585.9


def test_a_pause_beyond_the_field_is_clamped_and_refreshed() -> None:
    """The frame has 65535 quanta. The first packet after their end triggers a frame with the rest of the pause."""
    with bench_switch(CLOS, "tor1", SFC_P.model_copy(update={"pause_cache": False})) as switch:
        [frame] = switch.send(arriving_pause(386), UPLINK, 0)
        assert frame.pause == (3, 0xFFFF)
        early = switch.send(switch.data("h1", "h6"), 1, (LONGEST_US - 10) * US)
        late = switch.send(switch.data("h1", "h6"), 1, (LONGEST_US + 10_000) * US)
        later = switch.send(switch.data("h1", "h6"), 1, 387 * MODEL_US) + switch.run_dry()
    assert not [departure for departure in early + later if departure.is_pause]
    [rest] = [departure for departure in late if departure.is_pause]
    assert rest.port == 1
    assert rest.pause == (3, 7903)  # (386 000 - 345 539) / 5.12 = 7902.5


@pytest.mark.parametrize(("cause", "psn"), [(BtsCause.FEEDBACK, 0), (BtsCause.SUB_RTT, 5)])
def test_a_bts_that_is_no_pause_reaches_the_nic(cause: BtsCause, psn: int) -> None:
    """The pause field of QCN's feedback and of Bolt's requests is no duration, so they are not cached either."""
    bts = BackToSender(cause, False, 40, 17, DSCP_DATA, 0xC001, 4791, 9, 3, 300_000, 2, 0, psn)
    with bench_switch(CLOS, "tor1", SFC_P) as switch:
        [departure] = switch.send(arriving(bts), UPLINK, 0)
        assert (departure.port, departure.bts) == (1, bts)
        assert switch.register("cache_max_entries") == 0
