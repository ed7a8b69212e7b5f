# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the pause cache at a sender-side ToR (paper section 3.3): learning, answering and expiry."""

from __future__ import annotations

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.wire.constants import BtsCause
from sfc_testbed.wire.counters import BtsEvent
from tests.switch_bmv2.bench_switch import (
    CLOS,
    MODEL_US,
    UPLINK,
    US,
    BenchSwitch,
    Departure,
    arriving_pause,
    bench_switch,
    signals,
)

SFC = SwitchSettings(bts="ingress", pause_cache=True, suppression_ns=0)
PAUSE_US = 400


def _probe(switch: BenchSwitch, at_us: int, *, dst: str = "h6", qpn: int = 1) -> list[Departure]:
    """Send a data packet of h2 and return the BTS that it causes."""
    return signals(switch.send(switch.data("h2", dst, qpn=qpn), switch.port_of("h2"), at_us * MODEL_US))


def test_a_later_sender_gets_the_rest_of_the_pause_from_its_own_tor() -> None:
    with bench_switch(CLOS, "tor1", SFC) as switch:
        passed = switch.send(arriving_pause(PAUSE_US), UPLINK, 0) + switch.run_to(10 * MODEL_US)
        assert [departure.port for departure in signals(passed)] == [switch.port_of("h1")]
        [signal] = _probe(switch, 100)
        assert signal.port == switch.port_of("h2")
        bts = signal.bts
        assert (bts.cause, bts.pause_us, bts.switch_id) == (BtsCause.CACHE, PAUSE_US - 100, 1)
        assert not bts.cacheable  # the BTS comes from a cache, and no other ToR must learn from it
        assert switch.counts().bts[BtsEvent.SENT_CACHE] == 1


def test_an_entry_answers_until_its_pause_ends() -> None:
    """A packet gets a BTS one microsecond of the model before the end of the pause, but not at the end or later."""
    with bench_switch(CLOS, "tor1", SFC) as switch:
        switch.send(arriving_pause(PAUSE_US), UPLINK, 0)
        assert len(_probe(switch, PAUSE_US - 1)) == 1
        assert _probe(switch, PAUSE_US, qpn=2) == []
        assert _probe(switch, PAUSE_US + 1000, qpn=3) == []


def test_entry_keeps_the_later_of_two_ends() -> None:
    """A shorter pause does not cut a longer one, and a longer pause extends a shorter one."""
    with bench_switch(CLOS, "tor1", SFC) as switch:
        switch.send(arriving_pause(400), UPLINK, 0)
        switch.send(arriving_pause(50), UPLINK, 10 * MODEL_US)
        assert _probe(switch, 100)[0].bts.pause_us == 300
        switch.send(arriving_pause(900), UPLINK, 100 * MODEL_US)
        assert _probe(switch, 200, qpn=2)[0].bts.pause_us == 800


def test_a_spine_without_sfc_learns_nothing() -> None:
    """SFC is deployed on ToRs only, so a spine only forwards a BTS."""
    with bench_switch(CLOS, "spine1", SFC) as switch:
        departures = (
            switch.send(arriving_pause(PAUSE_US), 2, 0) + switch.send(switch.data("h2", "h6"), 1, US) + switch.run_dry()
        )
        assert [departure.port for departure in signals(departures + switch.run_dry())] == [1]


def test_a_tor_does_not_cache_its_own_bts() -> None:
    """The congested ToR does not cache its own pauses, since its queue is more accurate (docs/decisions/0006)."""
    congested = SFC.model_copy(update={"q_th_bytes": 2_000, "q_tg_bytes": 1_000, "pause_rounding": "up"})
    with bench_switch(CLOS, "tor1", congested) as switch:
        switch.burst("h2", "h1", 11)
        switch.run_dry()
        assert switch.counts().bts_sent > 0
        assert switch.counts().bts[BtsEvent.CACHE_LEARNED] == 0


def test_occupancy_counts_only_live_entries() -> None:
    """Three destinations at once give a maximum of three. Later entries that follow one another do not raise it."""
    with bench_switch(CLOS, "tor1", SFC) as switch:
        for host in ("h4", "h5", "h6"):
            switch.send(arriving_pause(PAUSE_US, congested=host), UPLINK, 0)
        assert switch.counts().max_cache_entries == 3
        now_us = 0
        for turn in range(20):
            now_us += PAUSE_US + 1
            for _ in range(4):  # each packet advances the ring
                switch.send(switch.data("h2", "h1"), 2, now_us * MODEL_US)
            switch.send(arriving_pause(PAUSE_US, congested=f"h{4 + turn % 3}"), UPLINK, now_us * MODEL_US)
        assert switch.counts().max_cache_entries == 3
