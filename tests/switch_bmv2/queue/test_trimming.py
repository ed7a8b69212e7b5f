# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""NDP's switch: packets cut to headers beyond a short data queue, headers first, back to the sender where none fits."""

from __future__ import annotations

import pytest

from tests.switch_bmv2.bench_switch import FRAME_OVERHEAD, BenchSwitch, Seen, bench_switch
from topologies.settings import SwitchSettings
from topologies.shapes import shape
from wire.addresses import parse_mac
from wire.constants import DSCP_RETURNED, TRIMMED_FRAME_BYTES
from wire.counters import TrimEvent
from wire.ipv4 import unpack_header
from wire.roce.packets import IP_OFFSET

STAR = shape("star", {"hosts": 4}).build()
CLOS = shape("clos", {"tors": 2, "spines": 4, "hosts_per_tor": 2}).build()
FRAME = 1000 + FRAME_OVERHEAD
HEADER_QUEUE = 1_200
TRIMMING = SwitchSettings(trim_queue_bytes=2 * FRAME, header_queue_bytes=HEADER_QUEUE)
MOST_HEADERS = HEADER_QUEUE // TRIMMED_FRAME_BYTES
WHOLE = 1 + 2
"""On the wire and in the data queue."""


def _dscp(seen: Seen) -> int:
    ip = unpack_header(seen.frame, IP_OFFSET)
    assert ip is not None
    return ip.tos >> 2


def _burst(switch: BenchSwitch, count: int) -> list[Seen]:
    return [each for qpn in range(1, count + 1) for each in switch.send(switch.data("h1", "h4", qpn=qpn), 1, 0)]


def _trim_events(switch: BenchSwitch) -> tuple[int, int]:
    found = switch.counts().by_table[TrimEvent]
    return found[TrimEvent.TRIMMED], found[TrimEvent.RETURNED]


def test_what_finds_the_data_queue_full_goes_on_as_a_header_and_first() -> None:
    """The frame on the wire ends; then the headers, in order, and after them the data that waited before them."""
    with bench_switch(STAR, "s1", TRIMMING) as switch:
        seen = _burst(switch, 8) + switch.run_dry()
        sizes = [len(each.frame) for each in seen]
        assert sizes == [FRAME] + [TRIMMED_FRAME_BYTES] * 5 + [FRAME] * 2
        assert {each.port for each in seen} == {4}
        assert _trim_events(switch) == (5, 0)
        assert switch.counts().drops == {}
        assert switch.register("buffer_bytes") == 0


def test_a_header_that_finds_its_queue_full_goes_back_to_its_sender() -> None:
    """Addresses change places; it leaves by the port of the host that sent it."""
    too_many = 5
    with bench_switch(STAR, "s1", TRIMMING) as switch:
        seen = _burst(switch, WHOLE + MOST_HEADERS + too_many) + switch.run_dry()
        back = [each for each in seen if each.port == 1]
        assert [_dscp(each) for each in back] == [DSCP_RETURNED] * too_many
        assert _trim_events(switch) == (MOST_HEADERS + too_many, too_many)
        host, source = STAR.host["h1"], STAR.host["h4"]
        for each in back:
            ip = unpack_header(each.frame, IP_OFFSET)
            assert ip is not None
            assert (ip.source, ip.destination) == (int(source.ip), int(host.ip))
            assert (len(each.frame), each.frame[:6]) == (TRIMMED_FRAME_BYTES, parse_mac(host.mac).to_bytes(6, "big"))
        assert len(seen) == WHOLE + MOST_HEADERS + too_many
        assert switch.counts().drops == {}
        assert switch.register("buffer_bytes") == 0


def test_what_cannot_be_trimmed_is_dropped() -> None:
    """A packet of a program in the class of data has no header that a receiver could answer."""
    with bench_switch(STAR, "s1", TRIMMING) as switch:
        frame = bytearray(switch.data("h2", "h4"))
        frame[36:38] = (9).to_bytes(2, "big")
        _burst(switch, WHOLE)
        switch.send(bytes(frame), 2, 0)
        assert switch.counts().drops == {"data_queue_full": 1}


@pytest.mark.parametrize(("spraying", "ports"), [(False, 1), (True, 4)])
def test_packets_of_a_flow_are_sprayed_over_all_paths_or_keep_one(spraying: bool, ports: int) -> None:
    """Forty packets of one queue pair across four spines."""
    with bench_switch(CLOS, "tor1", SwitchSettings(spraying=spraying)) as switch:
        frame = switch.data("h1", "h4")
        seen = [each for number in range(40) for each in switch.send(frame, 1, number * 1_000_000)]
        assert len({each.port for each in seen + switch.run_dry()}) == ports
