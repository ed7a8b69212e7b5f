# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of ingress BTS (paper Algorithm 1): trigger, contents, receiver and suppression."""

from __future__ import annotations

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.bts import STAMPS, tick_ns
from sfc_testbed.wire.constants import BTS_LONGEST_PAUSE, DSCP_BTS, DSCP_DATA, BtsCause
from sfc_testbed.wire.counters import BtsEvent
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.scapy_layers import BTS
from tests.switch_bmv2.bench_switch import FRAME, STAR, US, BenchSwitch, Departure, bench_switch, signals

CLOS = shape("clos", {"hosts_per_tor": 2, "spines": 2, "uplinks": 2}).build()
PERIOD_US = 5_000


def _settings(**changes: object) -> SwitchSettings:
    base = {"bts": "ingress", "q_th_bytes": 3 * FRAME, "q_tg_bytes": FRAME, "pause_rounding": "up"}
    return SwitchSettings(**{**base, **changes})


def _to_h2(switch: BenchSwitch, frame: bytes, at_ns: int) -> list[Departure]:
    """Deliver a frame of h2 and return the BTS for h2."""
    return [departure for departure in signals(switch.send(frame, 2, at_ns)) if departure.port == 2]


def test_only_packets_above_the_threshold_trigger_a_bts() -> None:
    """A packet that arrives at exactly Q_th queued bytes triggers no BTS. The next packet finds more bytes and does."""
    with bench_switch(STAR, "s1", _settings()) as switch:
        switch.burst("h1", "h4", 4, first_qpn=100)  # 1 on the wire, 3 wait: exactly Q_th
        assert switch.register("queue_bytes", 4 << 3 | 3) == 3 * FRAME
        assert not signals(switch.send(switch.data("h2", "h4", qpn=1), 2, 0))
        [signal] = signals(switch.send(switch.data("h2", "h4", qpn=2), 2, 0))
        assert signal.port == switch.port_of("h2")


@pytest.mark.parametrize("dilation", [1, 7, 1_000, 100_000])
@pytest.mark.parametrize("waiting", [40, 150, 400])
def test_pause_time_follows_the_formula(waiting: int, dilation: int) -> None:
    """T_P = (qd - Q_tg) / R in whole microseconds of the model. qd includes the packet that triggered the BTS."""
    with bench_switch(STAR, "s1", _settings(pause_rounding="down"), dilation=Dilation(dilation)) as switch:
        switch.burst("h1", "h4", waiting + 1, first_qpn=100)
        [signal] = signals(switch.send(switch.data("h2", "h4"), 2, 0))
        depth = (waiting + 1) * FRAME
        assert signal.bts.queue_depth_bytes == depth
        assert signal.bts.pause_us == (depth - FRAME) * 8 // 100_000  # 100 Gb/s


@pytest.mark.parametrize(("dilation", "longest_us"), [(1, 65_535), (1_000, 65_535), (100_000, 42_949)])
def test_a_pause_that_the_field_cannot_hold_becomes_the_longest(dilation: int, longest_us: int) -> None:
    """The field has 16 bits, and a switch computes in 32 bits of wall time. The queue would drain in 80 ms."""
    settings = _settings(buffer_bytes=None, pause_rounding="down")
    with bench_switch(STAR, "s1", settings, dilation=Dilation(dilation)) as switch:
        switch.engine.command(f"register_write queue_bytes {4 << 3 | 3} 1000000000")
        [signal] = signals(switch.send(switch.data("h2", "h4"), 2, 0))
        assert signal.bts.pause_us == longest_us


@pytest.mark.parametrize("dilation", [1, 100, 1_000, 10_000, 100_000])
def test_the_time_stamp_counts_ticks_of_at_least_16_ns_of_the_model(dilation: int) -> None:
    """Stamps repeat after 65 536 ticks."""
    tick = tick_ns(Dilation(dilation))
    assert 16 * dilation <= tick < 32 * dilation or tick == US
    for ticks in (3, 70_003):
        with bench_switch(STAR, "s1", _settings(suppression_ns=0), dilation=Dilation(dilation)) as switch:
            switch.send(switch.data("h3", "h1"), 3, ticks * tick - US)
            switch.burst("h1", "h4", 60, first_qpn=100, at_ns=ticks * tick + tick - US)
            [signal] = signals(switch.send(switch.data("h2", "h4"), 2, ticks * tick + tick - US))
            assert signal.bts.stamp == ticks % STAMPS


def test_a_shorter_pause_than_a_microsecond_of_the_model_is_not_requested() -> None:
    """The SFC paper uses whole microseconds as well."""
    with bench_switch(STAR, "s1", _settings(pause_rounding="down")) as switch:
        assert signals([*switch.burst("h1", "h4", 10, first_qpn=100), *switch.run_dry()]) == []
        assert switch.counts().bts[BtsEvent.NOT_NEEDED] > 0
    with bench_switch(STAR, "s1", _settings(pause_rounding="down")) as switch:
        pauses = [
            departure.bts.pause_us
            for departure in signals([*switch.burst("h1", "h4", 90, first_qpn=100), *switch.run_dry()])
        ]
    assert set(pauses) == {1, 2, 3, 4, 5, 6, 7}


def test_pauses_can_be_rounded_up() -> None:
    with bench_switch(STAR, "s1", _settings()) as switch:
        departures = [*switch.burst("h1", "h4", 10, first_qpn=100), *switch.run_dry()]
        assert {departure.bts.pause_us for departure in signals(departures)} == {1}
        assert switch.counts().bts[BtsEvent.NOT_NEEDED] == 0


@pytest.mark.parametrize("dilation", [2, 3, 4095, 4096, 4097, 1_000_003, 0xFFFF_FFFF])
def test_rounding_is_exact_for_every_pause(dilation: int) -> None:
    """The division multiplies by a reciprocal. Its error must not change the result, even for the longest pauses."""
    shift = 31 + (dilation - 1).bit_length()
    divide = f"divide {dilation} {-(-(1 << shift) // dilation)} {shift} 0"
    watch = f"table_add watched_destination watch {CLOS.host['h3'].ip} => 0 0 0 {1 << 24} 0 0"
    units = (f"table_set_default dilation {divide}", f"table_set_default least_cached_pause ignore_below {dilation}")
    most = 0xFFFF_FFFF // dilation
    with bench_switch(CLOS, "tor1", _settings(suppression_ns=0, pause_rounding="down"), (*units, watch)) as switch:
        wall_us = {multiple * dilation + off for multiple in (1, 2, 65_535, most // 2, most) for off in (-1, 0, 1)}
        for turn, pause_us in enumerate(pause for pause in sorted(wall_us) if 0 <= pause <= 0xFFFF_FFFF):
            switch.engine.command(f"register_write estimator_bytes 0 {pause_us}")
            departures = signals(switch.send(switch.data("h1", "h3"), 1, turn * 1_000 * US))
            expected_us = min(BTS_LONGEST_PAUSE, pause_us // dilation)
            assert [departure.bts.pause_us for departure in departures] == ([expected_us] if expected_us else [])


def test_the_frame_is_the_one_that_scapy_builds() -> None:
    """All bytes are compared: swapped addresses, the flow, lengths, checksum, don't-fragment and time stamp too.

    The BTS is cacheable because the congested port leads to a server.
    """
    with bench_switch(STAR, "s1", _settings()) as switch:
        switch.burst("h1", "h4", 30, first_qpn=100)
        [signal] = _to_h2(switch, switch.data("h2", "h4", qpn=5, destination_qpn=77), 35 * US)
    host, bts = STAR.host["h2"], signal.bts
    headers = Ether(src=host.gateway_mac, dst=host.mac) / IP(
        src=str(STAR.host["h4"].ip), dst=str(host.ip), tos=DSCP_BTS << 2, ttl=63, flags="DF", id=35 >> 4
    )
    payload = BTS(
        flow_dscp=DSCP_DATA,
        pause_us=bts.pause_us,
        flags="cacheable",
        cause=BtsCause.QUEUE,
        protocol=17,
        flow_dport=4791,
        dest_qp=77,
        traffic_class=3,
        queue_depth_bytes=bts.queue_depth_bytes,
        switch_id=1,
    )
    assert signal.frame == bytes(headers / UDP(sport=0xC005, dport=1674, chksum=0) / payload)
    assert bytes(Ether(signal.frame)[BTS]) == bytes(payload)


def test_second_bts_of_a_flow_is_suppressed_until_the_next_period() -> None:
    """A flow gets at most one BTS per period. Other flows get their own BTS."""
    with bench_switch(STAR, "s1", _settings()) as switch:
        switch.burst("h1", "h4", 80, first_qpn=100)  # more than a period to drain
        frame = switch.data("h2", "h4", qpn=1)
        period_ns = PERIOD_US * US
        assert len(_to_h2(switch, frame, 0)) == 1
        assert len(_to_h2(switch, frame, 100 * US)) == 0
        assert len(_to_h2(switch, switch.data("h2", "h4", qpn=2), 200 * US)) == 1
        assert len(_to_h2(switch, frame, period_ns - 1 * US)) == 0
        assert len(_to_h2(switch, frame, period_ns)) == 1
        events = switch.counts().bts
        assert events[BtsEvent.SUPPRESSED_QUEUE] == 2


def test_suppression_reports_the_highest_number_of_flows() -> None:
    """result.json reports as occupancy the highest number of flows that were signalled in a period."""
    with bench_switch(STAR, "s1", _settings()) as switch:
        switch.burst("h1", "h4", 5, first_qpn=100)
        switch.burst("h2", "h4", 50)
        assert switch.counts().max_suppression_entries == 50
        assert switch.counts().bts_sent == 50


def test_bts_goes_before_data_that_waits_for_the_same_port() -> None:
    """Data waits at the port towards the sender. The BTS leaves right after the frame on the wire."""
    with bench_switch(STAR, "s1", _settings()) as switch:
        switch.burst("h1", "h4", 6, first_qpn=100)
        switch.burst("h3", "h2", 5)
        switch.send(switch.data("h2", "h4", qpn=50), 2, 0)
        to_h2 = [departure for departure in switch.run_dry() if departure.port == 2]
        assert min(to_h2, key=lambda departure: departure.due_ns).is_bts


def test_bts_of_a_remote_sender_is_routed_over_all_uplinks() -> None:
    """The congested ToR routes a BTS by the hash of the BTS itself, not through the port where the data arrived."""
    with bench_switch(CLOS, "tor2", _settings(suppression_ns=0)) as switch:
        for qpn in range(1, 200):
            switch.send(switch.data("h1", "h4", qpn=qpn), 3, 0)
        ports = {departure.port for departure in switch.run_dry() if departure.is_bts}
    assert ports == {3, 4, 5, 6}


def test_uplink_congestion_is_not_cacheable() -> None:
    """A BTS is cacheable only if its queue belongs to a port that leads to a server."""
    uplinks = ("port_rate 3 1000", "port_rate 4 1000", "port_rate 5 1000", "port_rate 6 1000")
    with bench_switch(CLOS, "tor1", _settings(), uplinks) as switch:
        switch.burst("h1", "h3", 59)
        sent = signals(switch.run_to(10 * US) + switch.send(switch.data("h2", "h3", qpn=1), 2, 10 * US))
        assert sent
        assert not any(departure.bts.cacheable for departure in sent)


def test_a_bts_that_was_not_built_is_not_counted() -> None:
    """If the mirror session does not exist, there is no copy that could become a BTS."""
    with bench_switch(STAR, "s1", _settings(), ("mirroring_delete 1",)) as switch:
        assert signals(switch.burst("h1", "h4", 20, first_qpn=100)) == []
        assert switch.counts().bts_sent == 0
