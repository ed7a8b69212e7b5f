# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""PFC: whom a switch pauses and resumes, when, and that nothing is lost where the headroom suffices."""

from __future__ import annotations

from collections import Counter

from tests.switch_bmv2.bench_switch import FRAME_OVERHEAD, US, BenchSwitch, Seen, bench_switch
from topologies.features import headroom_bytes
from topologies.settings import SwitchSettings
from topologies.shapes import shape

STAR = shape("star", {"hosts": 4}).build()
FRAME = 1000 + FRAME_OVERHEAD
HEADROOM = sum(headroom_bytes(port) for port in STAR.ports["s1"])
BUFFER = 400_000
PFC = SwitchSettings(pfc=True, buffer_bytes=BUFFER, pfc_alpha=0.125, pfc_xon_offset_bytes=3_000)


def _pauses(seen: list[Seen]) -> list[tuple[int, tuple[int, int]]]:
    return [(each.port, each.pause) for each in seen if each.is_pause]


def _fill(switch: BenchSwitch, frames: int, *, src: str = "h1", at_ns: int = 0) -> list[Seen]:
    port = switch.port_of(src)
    return [each for qpn in range(frames) for each in switch.send(switch.data(src, "h4", qpn=qpn + 1), port, at_ns)]


def _xoff_frame() -> int:
    """The number of the frame of one sender that crosses alpha (B - headroom - used); the first never waits."""
    shareable = BUFFER - HEADROOM
    waiting = 0
    while (waiting + 1) * FRAME <= (shareable - waiting * FRAME) * 32 // 256:
        waiting += 1
    return waiting + 2


def test_the_packet_that_crosses_the_dynamic_threshold_pauses_its_sender() -> None:
    """Not one packet before; then a full-length pause of class 3 on the ingress port, once."""
    with bench_switch(STAR, "s1", PFC) as switch:
        crossing = _xoff_frame()
        assert _pauses(_fill(switch, crossing - 1)) == []
        assert _pauses(_fill(switch, 1)) == [(1, (3, 0xFFFF))]
        assert _pauses(_fill(switch, 20)) == []


def test_only_the_port_that_holds_too_much_is_paused() -> None:
    """Accounting is per ingress port: a sender below its share goes on."""
    with bench_switch(STAR, "s1", PFC) as switch:
        seen = _fill(switch, 5, src="h2") + _fill(switch, _xoff_frame() + 5)
        assert {port for port, _ in _pauses(seen)} == {1}


def test_the_sender_is_resumed_an_offset_below() -> None:
    """When the queue has drained, a pause of 0 quanta goes to the same port, after the Xoff and once."""
    with bench_switch(STAR, "s1", PFC) as switch:
        seen = _fill(switch, _xoff_frame() + 3) + switch.run_dry()
        assert _pauses(seen) == [(1, (3, 0xFFFF)), (1, (3, 0))]


def test_a_pause_is_sent_anew_while_it_must_go_on() -> None:
    """A queue that drains for longer than half of 65535 quanta keeps its neighbour paused by refreshes."""
    until_empty = PFC.model_copy(update={"pfc_xon_offset_bytes": 1_000_000})
    with bench_switch(STAR, "s1", until_empty, ("port_rate 4 300000",)) as switch:
        seen = _fill(switch, _xoff_frame() + 3)
        for step in range(120):
            seen += switch.run_to(step * 8_000 * US)
        quanta = [pause[1] for _, pause in _pauses(seen)]
    assert quanta.count(0xFFFF) >= 2
    assert quanta[-1] == 0


def test_what_arrives_within_the_headroom_is_not_dropped() -> None:
    """After Xoff a sender may still put its headroom on the wire: all of it is kept; far beyond, the buffer ends."""
    with bench_switch(STAR, "s1", PFC) as switch:
        after = headroom_bytes(STAR.ports["s1"][0]) // FRAME
        _fill(switch, _xoff_frame() + after)
        assert switch.counts().drops == Counter()
        _fill(switch, 600)
        assert switch.counts().drops["buffer_full"] > 0


def test_accounting_returns_to_zero() -> None:
    """What came in on a port has left when the switch is empty."""
    with bench_switch(STAR, "s1", PFC) as switch:
        _fill(switch, 50)
        _fill(switch, 50, src="h2")
        switch.run_dry()
        assert switch.register("pfc_held_bytes", 1 << 3 | 3) == 0
        assert switch.register("pfc_held_bytes", 2 << 3 | 3) == 0
        assert switch.register("pfc_is_paused", 1 << 3 | 3) == 0
