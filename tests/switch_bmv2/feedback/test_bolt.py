# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of Bolt's switch: requests for smaller windows, and the requests for larger ones that it grants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.wire.constants import (
    BOLT_DEC,
    BOLT_FIRST,
    BOLT_INC,
    BOLT_LAST,
    BTH_FLAGS_MASK,
    BTS_FRAME_BYTES,
    QUOTED_BTH_BYTES,
    BtsCause,
)
from sfc_testbed.wire.counters import BtsEvent
from sfc_testbed.wire.roce.packets import ACKNOWLEDGE, BTH_OFFSET
from tests.switch_bmv2.bench_switch import CLOS, FRAME, STAR, US, BenchSwitch, Departure, bench_switch, signals

BOLT = SwitchSettings(bolt_threshold_bytes=2 * FRAME)
FRAME_US = 84.64
"""Wall time of a frame of 1 058 B at a dilation of 1000 and 100 Gb/s."""


def send(switch: BenchSwitch, flags: Iterable[int], at_us: float = 0) -> list[Departure]:
    """Send data packets with these flags from h1 to h4 at one instant."""
    frames = [switch.data("h1", "h4", flags=each, psn=psn) for psn, each in enumerate(flags)]
    port = switch.port_of("h1")
    return [departure for frame in frames for departure in switch.send(frame, port, round(at_us * US))]


def flags_of(departures: Iterable[Departure]) -> list[int]:
    """Return the flags of the data packets among these departures."""
    return [each.frame[BTH_OFFSET + 4] & BTH_FLAGS_MASK for each in departures if not each.is_bts]


def test_a_packet_that_finds_a_queue_at_the_threshold_is_reported_with_the_time_of_the_queue() -> None:
    """The first packet is on the wire, so the fourth finds two packets, the threshold, which drain in 169.28 ns.

    The unit is 4 ns.
    """
    with bench_switch(STAR, "s1", BOLT) as switch:
        departures = send(switch, [BOLT_INC] * 6) + switch.run_dry()
        assert switch.counts().bts[BtsEvent.SENT_SUB_RTT] == switch.counts().bts_sent == 3
    requests = [departure.bts for departure in signals(departures)]
    assert {(each.cause, each.cacheable, each.destination_qpn) for each in requests} == {(BtsCause.SUB_RTT, False, 9)}
    assert [(each.psn, each.pause_us) for each in requests] == [(3, 43), (4, 64), (5, 85)]
    assert {len(departure.frame) for departure in signals(departures)} == {BTS_FRAME_BYTES + QUOTED_BTH_BYTES}
    assert flags_of(departures)[3:] == [BOLT_DEC] * 3


def test_a_switch_does_not_repeat_the_request_of_an_earlier_one() -> None:
    """The DEC flag of an earlier switch stays, and the packet gets no larger window either."""
    with bench_switch(STAR, "s1", BOLT) as switch:
        departures = send(switch, [BOLT_INC] * 3 + [BOLT_DEC, BOLT_DEC | BOLT_INC]) + switch.run_dry()
    assert not signals(departures)
    assert flags_of(departures)[3:] == [BOLT_DEC] * 2


def test_a_link_with_time_to_spare_grants_a_packet_for_the_time_of_a_packet() -> None:
    """The switch grants one packet after a long gap, and the next ones after a gap of two packet times each."""
    with bench_switch(STAR, "s1", BOLT) as switch:
        departures = send(switch, [BOLT_INC] * 2, 1_000)
        now_us = 1_000 + 2 * FRAME_US
        for gap in (1.0, 2.1, 1.0, 1.1, 3.0):
            now_us += gap * FRAME_US
            departures += send(switch, [BOLT_INC], now_us)
        departures += switch.run_dry()
    granted = [flags == BOLT_INC for flags in flags_of(departures)]
    assert granted == [True, False, False, True, False, False, True]


def test_packets_of_the_last_window_leave_tokens_which_others_take() -> None:
    """Three packets in a last window grant three requests on a busy link. A first window leaves no token."""
    flags = [0, BOLT_LAST, BOLT_LAST, BOLT_LAST, BOLT_FIRST | BOLT_LAST, *[BOLT_INC] * 5]
    with bench_switch(STAR, "s1", BOLT.model_copy(update={"bolt_threshold_bytes": 100_000})) as switch:
        departures = send(switch, flags) + switch.run_dry()
        assert switch.register("bolt_pru_tokens", switch.port_of("h4")) == 0
    assert flags_of(departures)[5:] == [BOLT_INC] * 3 + [0] * 2


def test_each_of_the_two_grants_can_be_switched_off() -> None:
    """Two tokens are left. Of the packets at one instant, the spare time is enough for one."""
    bursts = {1_000: [BOLT_LAST] * 2, 3_000: [BOLT_INC] * 3, 5_000: [BOLT_INC], 7_000: [BOLT_INC]}
    granted = {}
    for name, change in (
        ("both", {}),
        ("supply", {"bolt_ramp_up": False}),
        ("ramp-up", {"bolt_supply_bytes": None}),
        ("none", {"bolt_ramp_up": False, "bolt_supply_bytes": None}),
    ):
        settings = BOLT.model_copy(update={"bolt_threshold_bytes": 100_000, **change})
        with bench_switch(STAR, "s1", settings) as switch:
            departures = [each for at_us, flags in bursts.items() for each in send(switch, flags, at_us)]
            departures += switch.run_dry()
        granted[name] = flags_of(departures).count(BOLT_INC)
    assert granted == {"both": 4, "supply": 3, "ramp-up": 2, "none": 0}


def test_acknowledgements_use_the_link_but_get_no_answer() -> None:
    """An ACK that arrives just before takes a part of the spare time, so that the request is refused."""
    spare_us = 2 * FRAME_US + 1
    for has_ack, flags in ((False, BOLT_INC), (True, 0)):
        with bench_switch(STAR, "s1", BOLT) as switch:
            departures = send(switch, [BOLT_INC], 1_000)
            if has_ack:
                switch.send(switch.data("h2", "h4", opcode=ACKNOWLEDGE, payload=4), switch.port_of("h2"), 1_000 * US)
            departures += send(switch, [BOLT_INC], 1_000 + spare_us) + switch.run_dry()
        assert flags_of(departures)[-1] == flags


def test_sfc_answers_before_bolt_and_ports_without_bolt_change_nothing() -> None:
    sfc = BOLT.model_copy(update={"bts": "ingress", "q_th_bytes": 20_000, "q_tg_bytes": 1_000})
    with bench_switch(CLOS, "tor1", sfc) as switch:
        port = switch.port_of("h1")
        frames = [switch.data("h1", "h2", qpn=qpn, flags=BOLT_INC) for qpn in range(1, 41)]
        departures = [each for frame in frames for each in switch.send(frame, port, 0)] + switch.run_dry()
    assert Counter(each.bts.cause for each in signals(departures)) == {BtsCause.SUB_RTT: 17, BtsCause.QUEUE: 20}
    assert flags_of(departures)[3:] == [BOLT_DEC] * 17 + [0] * 20
    with bench_switch(STAR, "s1", SwitchSettings()) as switch:
        departures = send(switch, [BOLT_INC, BOLT_LAST] * 200) + switch.run_dry()
        assert not signals(departures)
    assert flags_of(departures) == [BOLT_INC, BOLT_LAST] * 200
