# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the reconstructed OnRamp: one-way delays on the wire, both rules, and Fig. 1 of the SFC paper."""

import pytest

from sfc_testbed.contract.link import bts, transferred
from sfc_testbed.hosts.transport.congestion import AckSample
from sfc_testbed.hosts.transport.flow_control.onramp import OnRamp, OnRampParameters, OnRampStrawMan
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.wire.constants import INT_UDP_PORT
from sfc_testbed.wire.int_header import strip, unpack
from sfc_testbed.wire.roce.decoder import RoceDecoder
from sfc_testbed.wire.roce.packets import Opcode
from tests.hosts.transport.algorithm import PATH
from tests.hosts.transport.fake_star import FakeStar
from tests.wire.test_roce import header_of

MB = 1_000_000


def sample(delay_ns: int | None, rtt_ns: int | None = 45_000, in_flight_bytes: int = 0) -> AckSample:
    return AckSample(1000, in_flight_bytes, rtt_ns, False, delay_ns, (), 0, 0)


def test_the_straw_man_pauses_for_the_excess_delay() -> None:
    """The pause O - T is replaced by the next one with O > T, and it is bounded."""
    control = OnRampStrawMan(OnRampParameters(threshold_ns=10_000), PATH, 100_000)
    control.on_ack(sample(40_000), 1_000)
    assert control.earliest_send_ns(1_000) == 31_000
    control.on_ack(sample(9_000), 2_000)
    control.on_ack(sample(None), 2_000)
    assert control.earliest_send_ns(2_000) == 31_000
    control.on_ack(sample(12_000), 3_000)
    assert control.earliest_send_ns(3_000) == 5_000
    control.on_ack(sample(10**9), 4_000)
    assert control.earliest_send_ns(4_000) == 104_000


def test_the_final_rule_subtracts_recent_holds_from_the_delay() -> None:
    """RTT 45 us, O = 40, T = 10, 25 us worth in flight. No hold yet: 40 > 10 + 0, hold for (O - T) 25 / 45.

    After 35 us of holds within the round trip 40 < 10 + 35: 5 us worth (62.5 kB) may be sent before the next hold.
    """
    control = OnRamp(OnRamp.resolve(OnRampParameters(gain_exponent=1.0), PATH), PATH, 10**9)
    busy = sample(40_000, in_flight_bytes=312_500)
    control.on_ack(busy, 0)
    hold_ns = round(30_000 * 25 / 45)
    assert control.earliest_send_ns(0) == hold_ns
    for now_ns in (10_000, 20_000):
        control.on_ack(busy, now_ns)
        assert control.earliest_send_ns(now_ns) == now_ns + hold_ns
    control.on_ack(busy, 36_667)
    assert control.earliest_send_ns(36_667) == 36_667
    control.on_sent(62_499, 37_000)
    assert control.earliest_send_ns(37_000) == 36_667
    control.on_sent(30_000, 38_000)
    assert control.earliest_send_ns(38_000) == 38_000 + hold_ns


def test_time_blocked_by_a_window_is_no_hold() -> None:
    """A flow with one BDP in flight that waits for acknowledgements is held once the queue is deep."""
    control = OnRamp(OnRamp.resolve(OnRampParameters(gain_exponent=1.0), PATH), PATH, 10**9)
    control.on_ack(sample(40_000, in_flight_bytes=125_000), 50_000)
    assert control.earliest_send_ns(50_000) > 50_000


def test_a_flow_with_a_delay_below_the_threshold_is_not_held() -> None:
    """Samples of resent packets change nothing."""
    control = OnRamp(OnRamp.resolve(OnRampParameters(), PATH), PATH, 10**9)
    control.on_ack(sample(9_999, in_flight_bytes=10**6), 5_000)
    control.on_sent(10**6, 6_000)
    control.on_ack(sample(10**6, rtt_ns=None), 7_000)
    control.on_ack(sample(None), 7_000)
    assert control.earliest_send_ns(8_000) <= 8_000


def test_packets_have_time_stamps_and_acknowledgements_echo_the_delay() -> None:
    """Delays are in wall us, from the start on the wire to the arrival; switches add no records."""
    link = transferred(2_000, TransportSettings(flow_control="onramp"), dilation=1000)
    decoder = RoceDecoder()
    packets = {}
    for end_ns, name, frame in link.sent:
        stripped = strip(frame)
        assert stripped is not None
        telemetry = unpack(stripped[1])
        header = header_of(stripped[0], decoder.header)
        assert header.icrc_is_right(stripped[0])
        assert telemetry.stamp is not None
        assert telemetry.is_echo
        packets[name, telemetry.stamp.time_us] = (header.opcode, telemetry.stamp.tx_bytes, end_ns)
    (_, _, end_ns), second = packets["a", 0], packets["b", 0]
    assert second[:2] == (Opcode.ACKNOWLEDGE, (end_ns + 5_000_000) // 1000)


def test_a_bts_must_name_the_udp_port_of_the_flow() -> None:
    """The port is 49792 for flows with telemetry and 4791 for others."""
    assert INT_UDP_PORT == 49792
    for congestion, right, wrong in (("hpcc", 49792, 4791), ("none", 4791, 49792)):
        signals = [(3_000, bts(1, 50, destination_port=port)) for port in (right, wrong)]
        link = transferred(100_000, TransportSettings(flow_control="sfc", congestion=congestion), arrivals=signals)
        verdicts = link.a.statistics().bts_by_verdict
        assert (verdicts["obeyed"], verdicts["unknown_flow"]) == (1, 1)


def incast(flow_control: str) -> FakeStar:
    """Run the 63:1 incast of Fig. 1 for 2.5 ms, without rate control and with at most 206 kB in flight per sender."""
    settings = TransportSettings(
        congestion="window",
        congestion_parameters={"window_bytes": 206_000},
        flow_control=flow_control,
        rto_ns=100_000_000,
    )
    star = FakeStar(settings, 64)
    for source in range(63):
        star.transfer(source, 63, 5 * MB, ready_ns=7 * source)
    star.run(2_500_000)
    return star


def depths(star: FakeStar, since_ns: int) -> list[int]:
    return [depth for time, depth in star.ports[63].depths if time >= star.dilation.wall_ns(since_ns)]


@pytest.mark.long
def test_the_queue_settles_near_13_megabytes_with_the_final_rule() -> None:
    """The SFC paper shows this within 2 ms, with the link fully used."""
    star = incast("onramp")
    settled_depths = depths(star, 2_000_000)
    assert 0.75 * 13 * MB < sum(settled_depths) / len(settled_depths) < 1.25 * 13 * MB
    assert max(settled_depths) - min(settled_depths) < 3 * MB
    assert star.ports[63].sent_bytes * 8 / 2.5e-3 / 100e9 > 0.99


def test_the_straw_man_oscillates_and_underuses_the_link() -> None:
    star = incast("onramp-straw-man")
    assert min(depths(star, 500_000)) < MB < 10 * MB < max(depths(star, 500_000))
    assert star.ports[63].sent_bytes * 8 / 2.5e-3 / 100e9 < 0.8
