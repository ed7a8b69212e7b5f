# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ingress BTS: when one is sent, what it says, whom it reaches, and when it is suppressed (paper Algorithm 1)."""

from __future__ import annotations

import pytest

from tests.switch_bmv2.bench_switch import FRAME_OVERHEAD, US, BenchSwitch, Seen, bench_switch
from topologies.settings import SwitchSettings
from topologies.shapes import shape
from wire.addresses import parse_mac
from wire.constants import BTS_FRAME_BYTES, DSCP_BTS, DSCP_DATA, BtsCause
from wire.counters import BtsEvent
from wire.ipv4 import unpack_header

STAR = shape("star", {"hosts": 4}).build()
CLOS = shape("clos", {"hosts_per_tor": 2, "spines": 2, "uplinks": 2}).build()
FRAME = 1000 + FRAME_OVERHEAD
PERIOD_US = 5_000


def _settings(**changes: object) -> SwitchSettings:
    base = {"bts": "ingress", "q_th_bytes": 3 * FRAME, "q_tg_bytes": FRAME, "pause_grain_ns": 0}
    return SwitchSettings(**{**base, **changes})


def _fill(switch: BenchSwitch, frames: int, *, first_qpn: int = 100) -> list[Seen]:
    """Puts `frames` frames of different flows for h4 into the switch at time 0; one is on the wire, the rest wait."""
    return [
        each
        for qpn in range(first_qpn, first_qpn + frames)
        for each in switch.send(switch.data("h1", "h4", qpn=qpn), 1, 0)
    ]


def _signals(seen: list[Seen]) -> list[Seen]:
    return [each for each in seen if each.is_bts]


def _to_h2(seen: list[Seen]) -> list[Seen]:
    return [each for each in _signals(seen) if each.port == 2]


def test_no_bts_at_the_threshold_one_at_the_next_packet() -> None:
    """A packet that finds exactly Q_th bytes triggers nothing; the one after it, which finds more, does."""
    with bench_switch(STAR, "s1", _settings()) as switch:
        _fill(switch, 4)  # 1 on the wire, 3 wait: exactly Q_th
        assert switch.register("queue_bytes", 4 << 3 | 3) == 3 * FRAME
        assert not _signals(switch.send(switch.data("h2", "h4", qpn=1), 2, 0))
        [signal] = _signals(switch.send(switch.data("h2", "h4", qpn=2), 2, 0))
        assert signal.port == switch.port_of("h2")


@pytest.mark.parametrize("grain_us", [1, 7, 64, 100])
@pytest.mark.parametrize("waiting", [4, 5, 9, 40])
def test_pause_time_follows_the_formula(waiting: int, grain_us: int) -> None:
    """T_P = (qd - Q_tg) / R in whole grains, qd with the packet that triggered."""
    with bench_switch(STAR, "s1", _settings(pause_grain_ns=grain_us)) as switch:  # 1 ns of the model is 1 us
        _fill(switch, waiting + 1)
        [signal] = _signals(switch.send(switch.data("h2", "h4"), 2, 0))
        depth = (waiting + 1) * FRAME
        assert signal.bts.queue_depth_bytes == depth
        assert signal.bts.pause_us == (depth - FRAME) * 2 // 25 // grain_us * grain_us  # 100 Mb/s: 0.08 us a byte


def test_by_default_a_pause_is_whole_microseconds_of_the_model() -> None:
    """As the paper's; a pause of less than one is none, and no BTS."""
    with bench_switch(STAR, "s1", _settings(pause_grain_ns=SwitchSettings().pause_grain_ns)) as switch:
        assert _signals([*_fill(switch, 10), *switch.run_dry()]) == []
        assert switch.counts().bts[BtsEvent.NOT_NEEDED] > 0
    with bench_switch(STAR, "s1", _settings(pause_grain_ns=SwitchSettings().pause_grain_ns)) as switch:
        pauses = [each.bts.pause_us for each in _signals([*_fill(switch, 90), *switch.run_dry()])]
    assert set(pauses) == {1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000}


@pytest.mark.parametrize("grain_us", [2, 3, 4095, 4096, 4097, 1_000_003, 0xFFFF_FFFF])
def test_rounding_is_exact_for_every_pause(grain_us: int) -> None:
    """The reciprocal's error never shows: around multiples of the grain and at the ends of the field."""
    shift = 31 + (grain_us - 1).bit_length()
    whole = f"table_set_default cached_grain whole {grain_us} {-(-(1 << shift) // grain_us)} {shift}"
    watch = f"table_add watched_destination watch {CLOS.host['h3'].ip} => 0 0 0 {1 << 24} 0 0"
    most = 0xFFFF_FFFF // grain_us
    with bench_switch(CLOS, "tor1", _settings(suppression_ns=0), (whole, watch)) as switch:
        pauses_us = {multiple * grain_us + off for multiple in (1, 2, most // 2, most) for off in (-1, 0, 1)}
        for turn, pause_us in enumerate(each for each in sorted(pauses_us) if 0 <= each <= 0xFFFF_FFFF):
            switch.engine.command(f"register_write estimator_bytes 0 {pause_us}")
            seen = _signals(switch.send(switch.data("h1", "h3"), 1, turn * 1_000 * US))
            assert [each.bts.pause_us for each in seen] == [each for each in [pause_us // grain_us * grain_us] if each]


def test_bts_names_the_flow_and_comes_from_the_congested_destination() -> None:
    """All fields: addresses swapped, ports, protocol, DSCP, QP, class, switch, cause, cacheable on a server port."""
    with bench_switch(STAR, "s1", _settings()) as switch:
        _fill(switch, 6)
        now_ns = 7 * US
        [signal] = _signals(switch.send(switch.data("h2", "h4", qpn=5, destination_qpn=77), 2, now_ns))
    host = STAR.host["h2"]
    ip = unpack_header(signal.frame, 14)
    assert ip is not None
    assert len(signal.frame) == BTS_FRAME_BYTES
    assert (ip.source, ip.destination) == (int(STAR.host["h4"].ip), int(host.ip))
    assert ip.tos >> 2 == DSCP_BTS
    assert signal.frame[:6] == parse_mac(host.mac).to_bytes(6, "big")
    bts = signal.bts
    assert (bts.source_port, bts.destination_port, bts.protocol, bts.dscp) == (0xC005, 4791, 17, DSCP_DATA)
    assert (bts.destination_qpn, bts.traffic_class, bts.switch_id) == (77, 3, 1)
    assert (bts.cause, bts.cacheable, bts.sent_us) == (BtsCause.QUEUE, True, 7)


def test_second_bts_of_a_flow_is_suppressed_until_the_next_period() -> None:
    """One BTS a flow and period; another flow gets its own; the next period begins anew."""
    with bench_switch(STAR, "s1", _settings()) as switch:
        _fill(switch, 80)  # more than a period to drain
        frame = switch.data("h2", "h4", qpn=1)
        period_ns = PERIOD_US * US
        assert len(_to_h2(switch.send(frame, 2, 0))) == 1
        assert len(_to_h2(switch.send(frame, 2, 100 * US))) == 0
        assert len(_to_h2(switch.send(switch.data("h2", "h4", qpn=2), 2, 200 * US))) == 1
        assert len(_to_h2(switch.send(frame, 2, period_ns - 1 * US))) == 0
        assert len(_to_h2(switch.send(frame, 2, period_ns))) == 1
        events = switch.counts().bts
        assert events[BtsEvent.SUPPRESSED_QUEUE] == 2


def test_suppression_counts_its_most_flows() -> None:
    """The occupancy that result.json reports is the number of flows signalled in the fullest period."""
    with bench_switch(STAR, "s1", _settings()) as switch:
        _fill(switch, 5)
        for qpn in range(1, 51):
            switch.send(switch.data("h2", "h4", qpn=qpn), 2, 0)
        assert switch.counts().max_suppression_entries == 50
        assert switch.counts().bts_sent == 50


def test_bts_goes_before_data_that_waits_for_the_same_port() -> None:
    """The port towards the sender holds data; the BTS leaves right after the frame on the wire."""
    with bench_switch(STAR, "s1", _settings()) as switch:
        _fill(switch, 6)
        for qpn in range(1, 6):
            switch.send(switch.data("h3", "h2", qpn=qpn), 3, 0)
        switch.send(switch.data("h2", "h4", qpn=50), 2, 0)
        to_h2 = sorted((each for each in switch.run_dry() if each.port == 2), key=lambda each: each.due_ns)
        assert to_h2[0].is_bts


def test_bts_of_a_remote_sender_is_routed_over_all_uplinks() -> None:
    """The congested ToR routes each BTS by its own flow hash, not back to where the data came in."""
    with bench_switch(CLOS, "tor2", _settings(suppression_ns=0)) as switch:
        for qpn in range(1, 200):
            switch.send(switch.data("h1", "h4", qpn=qpn), 3, 0)
        ports = {each.port for each in switch.run_dry() if each.is_bts}
    assert ports == {3, 4, 5, 6}


def test_uplink_congestion_is_not_cacheable() -> None:
    """Only a queue that faces a server is marked cacheable."""
    uplinks = ("port_rate 3 1000", "port_rate 4 1000", "port_rate 5 1000", "port_rate 6 1000")
    with bench_switch(CLOS, "tor1", _settings(), uplinks) as switch:
        for qpn in range(1, 60):
            switch.send(switch.data("h1", "h3", qpn=qpn), 1, 0)
        signals = _signals(switch.run_to(10 * US) + switch.send(switch.data("h2", "h3", qpn=1), 2, 10 * US))
        assert signals
        assert not any(each.bts.cacheable for each in signals)


def test_a_bts_is_counted_when_it_is_made() -> None:
    """A copy that found no mirror session became nothing."""
    with bench_switch(STAR, "s1", _settings(), ("mirroring_delete 1",)) as switch:
        assert _signals(_fill(switch, 20)) == []
        assert switch.counts().bts_sent == 0
