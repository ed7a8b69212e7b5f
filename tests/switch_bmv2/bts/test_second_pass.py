# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of a BTS on its second pass through the switch that sent it.

Neither BMv2 nor softswitch provides the time on a second pass; the program carries it over from the first pass.
"""

from __future__ import annotations

from sfc_testbed.place import ROOT
from sfc_testbed.testbed.program.sources import SOURCES
from tests.switch_bmv2.bench_switch import CLOS, FRAME_OVERHEAD, UPLINK, US, BenchSwitch, arriving_pause, bench_switch
from tests.switch_bmv2.pause.test_sfc_p import LONGEST_US, SFC_P

JUMBO = 9000
JUMBO_FRAME = JUMBO + FRAME_OVERHEAD
BYTE_US = 0.08  # 100 Mb/s
LONG_PAUSE_US = 386_000
LATE_US = 2_000_000
"""Time on the switch's clock at which the tests begin. It is later than any pause is long."""
PAUSE_OF_H1 = 1 << 3 | 3


def _congest_h2(switch: BenchSwitch, depth_bytes: int) -> None:
    """Make h2's queue deeper than `depth_bytes` with frames from h3, each in a flow of its own.

    The first frame does not wait in the queue.
    """
    for qpn in range(depth_bytes // JUMBO_FRAME + 2):
        switch.send(switch.data("h3", "h2", qpn=100 + qpn, payload=JUMBO), 3, LATE_US * US)


def test_a_local_bts_that_becomes_a_pause_frame_stores_the_right_end() -> None:
    """Congestion at h2 pauses h1 under the same ToR. The stored end is now + T_P, not T_P since the clock's 0."""
    long_queue = int(LONG_PAUSE_US / BYTE_US)
    settings = SFC_P.model_copy(update={"q_th_bytes": long_queue, "q_tg_bytes": 1_000, "pause_cache": False})
    with bench_switch(CLOS, "tor1", settings) as switch:
        _congest_h2(switch, long_queue)
        [frame] = [
            departure for departure in switch.send(switch.data("h1", "h2"), 1, LATE_US * US) if departure.port == 1
        ]
        assert frame.pause == (3, 0xFFFF)
        end_us = switch.register("server_pause_end_us", PAUSE_OF_H1)
        assert end_us + 1_000 >= LATE_US + LONG_PAUSE_US  # whole microseconds of the model
        assert end_us <= LATE_US + LONG_PAUSE_US + 2 * JUMBO_FRAME * BYTE_US
        assert switch.register("server_frame_end_us", PAUSE_OF_H1) == LATE_US + LONGEST_US
        late = switch.send(switch.data("h1", "h6"), 1, (LATE_US + LONGEST_US + 10_000) * US)
        assert any(departure.is_pause for departure in late)  # the rest of the pause, as for a remote BTS


def test_a_local_bts_does_not_end_an_active_pause() -> None:
    """A local BTS may replace the stored end of a remote pause, but only by a time in the future."""
    settings = SFC_P.model_copy(update={"q_th_bytes": 20_000, "q_tg_bytes": 1_000, "pause_cache": False})
    with bench_switch(CLOS, "tor1", settings) as switch:
        switch.send(arriving_pause(LONG_PAUSE_US // 1_000), UPLINK, LATE_US * US)
        assert switch.register("server_pause_end_us", PAUSE_OF_H1) == LATE_US + LONG_PAUSE_US
        _congest_h2(switch, 40_000)
        switch.send(switch.data("h1", "h2"), 1, LATE_US * US)
        assert switch.register("server_pause_end_us", PAUSE_OF_H1) > LATE_US


def test_only_the_first_pass_reads_the_time_of_the_target() -> None:
    """Every control takes the time from the packet's metadata, which is available in both passes."""
    readers = [path.name for path in (ROOT / SOURCES).rglob("*.p4") if "ingress_global_timestamp" in path.read_text()]
    assert readers == ["sfc.p4"]
