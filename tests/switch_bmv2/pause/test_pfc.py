# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of PFC: pausing and resuming neighbours, and no loss as long as the headroom suffices."""

from __future__ import annotations

from collections import Counter

from testbed.control_plane.features import headroom_bytes
from testbed.control_plane.settings import SwitchSettings
from tests.switch_bmv2.bench_switch import FRAME, STAR, US, Departure, bench_switch

HEADROOM = sum(headroom_bytes(port) for port in STAR.ports["s1"])
BUFFER = 400_000
PFC = SwitchSettings(pfc=True, buffer_bytes=BUFFER, pfc_alpha=0.125, pfc_xon_offset_bytes=3_000)


def _pauses(departures: list[Departure]) -> list[tuple[int, tuple[int, int]]]:
    return [(departure.port, departure.pause) for departure in departures if departure.is_pause]


def _xoff_frame() -> int:
    """Return the number, from 1, of the frame with which one sender crosses alpha (B - headroom - used).

    The first frame is on the wire at once and never waits.
    """
    shareable = BUFFER - HEADROOM
    waiting = 0
    while (waiting + 1) * FRAME <= (shareable - waiting * FRAME) * 32 // 256:
        waiting += 1
    return waiting + 2


def test_the_packet_that_crosses_the_dynamic_threshold_pauses_its_sender() -> None:
    """The ingress port sends exactly one pause of class 3 with the maximum of quanta."""
    with bench_switch(STAR, "s1", PFC) as switch:
        crossing = _xoff_frame()
        assert _pauses(switch.burst("h1", "h4", crossing - 1)) == []
        assert _pauses(switch.burst("h1", "h4", 1)) == [(1, (3, 0xFFFF))]
        assert _pauses(switch.burst("h1", "h4", 20)) == []


def test_only_the_port_that_holds_too_much_is_paused() -> None:
    """Bytes are counted per ingress port, so a sender below its share is not paused."""
    with bench_switch(STAR, "s1", PFC) as switch:
        departures = switch.burst("h2", "h4", 5) + switch.burst("h1", "h4", _xoff_frame() + 5)
        assert {port for port, _ in _pauses(departures)} == {1}


def test_the_sender_is_resumed_once_the_queue_has_drained() -> None:
    """The port that sent Xoff sends exactly one pause of 0 quanta."""
    with bench_switch(STAR, "s1", PFC) as switch:
        departures = switch.burst("h1", "h4", _xoff_frame() + 3) + switch.run_dry()
        assert _pauses(departures) == [(1, (3, 0xFFFF)), (1, (3, 0))]


def test_a_pause_is_refreshed_while_the_queue_drains() -> None:
    """The queue takes longer to drain than half of 65535 quanta."""
    until_empty = PFC.model_copy(update={"pfc_xon_offset_bytes": 1_000_000})
    with bench_switch(STAR, "s1", until_empty, ("port_rate 4 300000",)) as switch:
        departures = switch.burst("h1", "h4", _xoff_frame() + 3)
        for step in range(120):
            departures += switch.run_to(step * 8_000 * US)
        quanta = [pause[1] for _, pause in _pauses(departures)]
    assert quanta.count(0xFFFF) >= 2
    assert quanta[-1] == 0


def test_frames_within_the_headroom_are_not_dropped() -> None:
    """A sender may still send the bytes of the headroom after Xoff. Much more than that fills the buffer."""
    with bench_switch(STAR, "s1", PFC) as switch:
        after = headroom_bytes(STAR.ports["s1"][0]) // FRAME
        switch.burst("h1", "h4", _xoff_frame() + after)
        assert switch.counts().drops == Counter()
        switch.burst("h1", "h4", 600)
        assert switch.counts().drops["buffer_full"] > 0


def test_accounting_returns_to_zero() -> None:
    with bench_switch(STAR, "s1", PFC) as switch:
        switch.burst("h1", "h4", 50)
        switch.burst("h2", "h4", 50)
        switch.run_dry()
        assert switch.register("pfc_held_bytes", 1 << 3 | 3) == 0
        assert switch.register("pfc_held_bytes", 2 << 3 | 3) == 0
        assert switch.register("pfc_is_paused", 1 << 3 | 3) == 0
