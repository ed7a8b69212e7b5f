# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of PFC: pausing and resuming neighbours, and no loss as long as the headroom suffices."""

from __future__ import annotations

from collections import Counter

from sfc_testbed.testbed.control_plane.features import headroom_bytes
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from tests.switch_bmv2.bench_switch import FRAME, STAR, US, Departure, bench_switch

HEADROOM = sum(headroom_bytes(port) for port in STAR.ports["s1"])
BUFFER = 400_000
RESERVE = 4_096
SHAREABLE = BUFFER - HEADROOM - RESERVE * len(STAR.ports["s1"])
PFC = SwitchSettings(pfc=True, buffer_bytes=BUFFER, pfc_alpha=0.125, pfc_xon_offset_bytes=3_000)


def _pauses(departures: list[Departure]) -> list[tuple[int, tuple[int, int]]]:
    return [(departure.port, departure.pause) for departure in departures if departure.is_pause]


class _Admission:
    """Counts bytes towards Xoff as the HPCC simulator does: without the headroom and the reserve of each port."""

    def __init__(self) -> None:
        self.shared_bytes = 0
        self._held_bytes: Counter[int] = Counter()

    def pauses(self, port: int) -> bool:
        """Return whether a waiting frame that arrives on a port pauses its sender."""
        before = self._shared_of(port)
        new = max(0, self._held_bytes[port] + FRAME - RESERVE)
        if new > self._xoff():
            return True  # the frame goes to the headroom
        self._held_bytes[port] += FRAME
        self.shared_bytes += new - before
        return new >= self._xoff()

    def _shared_of(self, port: int) -> int:
        return max(0, self._held_bytes[port] - RESERVE)

    def _xoff(self) -> int:
        return (SHAREABLE - self.shared_bytes) * 32 // 256


def _xoff_frame(admission: _Admission | None = None, *, waits: bool = False) -> int:
    """Return the number, from 1, of the frame with which h1 crosses Xoff.

    The first frame is on the wire at once and never waits, unless the wire is busy (`waits`).
    """
    admission = admission or _Admission()
    number = 1 if waits else 2
    while not admission.pauses(1):
        number += 1
    return number


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


def test_the_headroom_of_another_port_does_not_lower_the_threshold() -> None:
    """Frames of h2 beyond its Xoff take no part of what is shared, so h1 crosses Xoff as if they had not come."""
    admission = _Admission()
    with bench_switch(STAR, "s1", PFC) as switch:
        others = 1
        while not admission.pauses(2):
            others += 1
        switch.burst("h2", "h4", others + 1 + 20)
        crossing = _xoff_frame(admission, waits=True)
        assert _pauses(switch.burst("h1", "h4", crossing - 1)) == []
        assert _pauses(switch.burst("h1", "h4", 1)) == [(1, (3, 0xFFFF))]
        assert switch.register("pfc_headroom_bytes", 2 << 3 | 3) >= 20 * FRAME
        assert switch.register("pfc_shared_bytes", 0) == admission.shared_bytes


def test_the_reserve_of_a_port_is_not_shared() -> None:
    with bench_switch(STAR, "s1", PFC) as switch:
        switch.burst("h1", "h4", 1 + RESERVE // FRAME)
        assert switch.register("pfc_held_bytes", 1 << 3 | 3) == RESERVE // FRAME * FRAME
        assert switch.register("pfc_shared_bytes", 0) == 0
        switch.burst("h1", "h4", 1)
        assert switch.register("pfc_shared_bytes", 0) == FRAME - RESERVE % FRAME


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


def test_a_pause_is_refreshed_by_the_packets_of_other_ports() -> None:
    """No packet of the paused port moves, because its queue is blocked. Its neighbour must not send again."""
    blocked = ("port_rate 4 1",)
    with bench_switch(STAR, "s1", PFC, blocked) as switch:
        pauses = _pauses(switch.burst("h1", "h4", _xoff_frame() + 3))
        assert pauses == [(1, (3, 0xFFFF))]
        for step in range(1, 121):
            pauses += _pauses(switch.burst("h2", "h3", 1, at_ns=step * 8_000 * US))
    assert set(pauses) == {(1, (3, 0xFFFF))}
    assert len(pauses) >= 3


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
        switch.burst("h1", "h4", 150)
        switch.burst("h2", "h4", 150)
        switch.run_dry()
        assert switch.register("pfc_held_bytes", 1 << 3 | 3) == 0
        assert switch.register("pfc_held_bytes", 2 << 3 | 3) == 0
        assert switch.register("pfc_headroom_bytes", 1 << 3 | 3) == 0
        assert switch.register("pfc_shared_bytes", 0) == 0
        assert switch.register("pfc_is_paused", 1 << 3 | 3) == 0
