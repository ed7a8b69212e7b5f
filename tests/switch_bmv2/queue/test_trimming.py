# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of NDP's switch.

Packets that find the data queue full are cut to their headers. Headers overtake data, and a header that finds the queue
of headers full returns to its sender.
"""

from __future__ import annotations

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.wire.addresses import parse_mac
from sfc_testbed.wire.constants import DSCP_RETURNED, TRIMMED_FRAME_BYTES
from sfc_testbed.wire.counters import TrimEvent
from sfc_testbed.wire.ipv4 import unpack_header
from sfc_testbed.wire.roce.packets import IP_OFFSET
from tests.switch_bmv2.bench_switch import FRAME, STAR, BenchSwitch, Departure, bench_switch

HEADER_QUEUE = 1_200
TRIMMING = SwitchSettings(trim_queue_bytes=2 * FRAME, header_queue_bytes=HEADER_QUEUE)
MOST_HEADERS = HEADER_QUEUE // TRIMMED_FRAME_BYTES
WHOLE = 1 + 2
"""Frames that are not trimmed: one on the wire and two in the data queue."""


def _dscp(departure: Departure) -> int:
    ip = unpack_header(departure.frame, IP_OFFSET)
    assert ip is not None
    return ip.tos >> 2


def _trim_events(switch: BenchSwitch) -> tuple[int, int]:
    counts = switch.counts().by_table[TrimEvent]
    return counts[TrimEvent.TRIMMED], counts[TrimEvent.RETURNED]


def test_packets_beyond_the_data_queue_are_trimmed_and_overtake_data() -> None:
    """The headers follow the frame on the wire in order. The data that was queued before them comes last."""
    with bench_switch(STAR, "s1", TRIMMING) as switch:
        departures = switch.burst("h1", "h4", 8) + switch.run_dry()
        sizes = [len(departure.frame) for departure in departures]
        assert sizes == [FRAME] + [TRIMMED_FRAME_BYTES] * 5 + [FRAME] * 2
        assert {departure.port for departure in departures} == {4}
        assert _trim_events(switch) == (5, 0)
        assert switch.counts().drops == {}
        assert switch.register("buffer_bytes") == 0


def test_a_header_that_finds_its_queue_full_returns_to_its_sender() -> None:
    """Source and destination address are swapped."""
    returned_count = 5
    with bench_switch(STAR, "s1", TRIMMING) as switch:
        departures = switch.burst("h1", "h4", WHOLE + MOST_HEADERS + returned_count) + switch.run_dry()
        returned_headers = [departure for departure in departures if departure.port == 1]
        assert [_dscp(departure) for departure in returned_headers] == [DSCP_RETURNED] * returned_count
        assert _trim_events(switch) == (MOST_HEADERS + returned_count, returned_count)
        host, source = STAR.host["h1"], STAR.host["h4"]
        for departure in returned_headers:
            ip = unpack_header(departure.frame, IP_OFFSET)
            assert ip is not None
            assert (ip.source, ip.destination) == (int(source.ip), int(host.ip))
            assert len(departure.frame) == TRIMMED_FRAME_BYTES
            assert departure.frame[:6] == parse_mac(host.mac).to_bytes(6, "big")
        assert len(departures) == WHOLE + MOST_HEADERS + returned_count
        assert switch.counts().drops == {}
        assert switch.register("buffer_bytes") == 0


def test_packets_that_cannot_be_trimmed_are_dropped() -> None:
    """A packet in the data class that is not RoCE has no header that a receiver could answer."""
    with bench_switch(STAR, "s1", TRIMMING) as switch:
        frame = bytearray(switch.data("h2", "h4"))
        frame[36:38] = (9).to_bytes(2, "big")
        switch.burst("h1", "h4", WHOLE)
        switch.send(bytes(frame), 2, 0)
        assert switch.counts().drops == {"data_queue_full": 1}
