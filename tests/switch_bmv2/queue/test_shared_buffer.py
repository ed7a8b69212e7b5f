# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the shared buffer with its dynamic threshold, exact to the byte, and of the queue state at ingress."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.wire.counters import QueueEvent
from tests.switch_bmv2.bench_switch import FRAME, STAR, bench_switch

QUEUE_OF_H4 = 4 << 3 | 3


@pytest.mark.parametrize(("slack", "accepted"), [(0, 5), (-1, 4)])
def test_a_single_queue_stops_at_the_dynamic_threshold_to_the_byte(slack: int, accepted: int) -> None:
    """A frame is admitted if q + len <= B - q (alpha 1). The fourth waiting frame fits the buffer to the byte.

    The first frame is on the wire at once, so one frame more than the waiting ones is accepted.
    """
    buffer_bytes = (2 * 4 - 1) * FRAME + slack  # the fourth waiting frame fits if 3 f + f <= B - 3 f
    with bench_switch(STAR, "s1", SwitchSettings(buffer_bytes=buffer_bytes)) as switch:
        assert len(switch.burst("h1", "h4", 11) + switch.run_dry()) == accepted
        assert switch.counts().drops == {"dynamic_threshold": 11 - accepted}


def test_the_whole_buffer_is_never_exceeded() -> None:
    """A large alpha makes the end of the buffer the limit, which has its own drop reason."""
    buffer_bytes = 3 * FRAME
    with bench_switch(STAR, "s1", SwitchSettings(buffer_bytes=buffer_bytes, alpha=200)) as switch:
        switch.burst("h1", "h4", 11)
        assert switch.register("buffer_bytes") == buffer_bytes
        assert switch.counts().drops["buffer_full"] == 11 - 1 - 3


def test_two_full_queues_share_as_the_formula_says() -> None:
    """Two saturated queues each hold a third of the buffer with alpha 1, within one frame."""
    buffer_bytes = 300_000
    with bench_switch(STAR, "s1", SwitchSettings(buffer_bytes=buffer_bytes)) as switch:
        for qpn in range(1, 400):
            for host in ("h3", "h4"):
                switch.send(switch.data("h1", host, qpn=qpn), 1, 0)
        for port in (3, 4):
            assert abs(switch.register("queue_bytes", port << 3 | 3) - buffer_bytes / 3) <= FRAME


@given(st.lists(st.tuples(st.integers(2, 4), st.integers(1, 1400), st.integers(0, 200_000)), max_size=60))
@settings(max_examples=25, deadline=None)
def test_ingress_sees_exactly_what_the_traffic_manager_holds(frames: list[tuple[int, int, int]]) -> None:
    """The P4 program counts the same bytes as the target's queues at every moment, and its counts end at zero."""
    with bench_switch(STAR, "s1", SwitchSettings(buffer_bytes=20_000)) as switch:
        now_ns = 0
        for qpn, (host, payload, gap_ns) in enumerate(frames, start=1):
            now_ns += gap_ns
            switch.send(switch.data("h1", f"h{host}", qpn=qpn, payload=payload), 1, now_ns)
            assert switch.register("buffer_bytes") == switch.engine.statistics()["queued_bytes"]
        switch.run_dry()
        assert switch.register("buffer_bytes") == 0
        assert not any(switch.register("queue_bytes", port << 3 | 3) for port in range(1, 5))


@pytest.mark.parametrize("register", ["queue_bytes", "port_bytes", "buffer_bytes"])
def test_a_register_reset_under_queued_packets_leaves_no_ghost_bytes(register: str) -> None:
    """A packet that leaves after a reset must not be subtracted again. Depths end at 0, and each case is counted."""
    with bench_switch(STAR, "s1", SwitchSettings(buffer_bytes=100_000)) as switch:
        switch.burst("h1", "h4", 3)
        switch.engine.command(f"register_reset {register}")
        assert len(switch.run_dry()) == 2  # the first frame had left before
        depths = ("queue_bytes", QUEUE_OF_H4), ("port_bytes", 4), ("buffer_bytes", 0)
        assert [switch.register(name, index) for name, index in depths] == [0, 0, 0]
        switch.burst("h1", "h4", 5, first_qpn=4, at_ns=10**9)
        assert switch.counts().drops == {}
        assert len(switch.run_dry()) == 4
        assert switch.counted("queue_events", QueueEvent.QUEUE_UNDERFLOW) == 2


def test_a_reset_of_the_bytes_held_for_pfc_does_not_pause_the_neighbour_for_ever() -> None:
    """The subtraction saturates at 0; otherwise the port would seem to hold 4 GB."""
    with bench_switch(STAR, "s1", SwitchSettings(pfc=True, buffer_bytes=1_000_000)) as switch:
        switch.burst("h1", "h4", 3)
        switch.engine.command("register_reset pfc_held_bytes")
        switch.run_dry()
        assert switch.register("pfc_held_bytes", 1 << 3 | 3) == 0
        assert switch.counted("queue_events", QueueEvent.PFC_UNDERFLOW) == 2
        departures = switch.send(switch.data("h1", "h4", qpn=4), 1, 10**9) + switch.run_dry()
        assert not [departure for departure in departures if departure.is_pause]
