# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of Backpressure Flow Control: queues of flows, thresholds, and pauses of single queues in both directions."""

from __future__ import annotations

from collections import defaultdict

import pytest

from sfc_testbed.testbed.control_plane.features import hop_rtt_ns
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.wire.constants import CLASS_DATA, PFC_MAX_QUANTA, QUEUE_PAUSE_QUANTA
from sfc_testbed.wire.counters import BfcEvent
from sfc_testbed.wire.queue_pause import QueuePause, pack_frame, unpack_frame
from tests.switch_bmv2.bench_switch import FRAME, STAR, US, BenchSwitch, Departure, bench_switch

BFC = SwitchSettings(bfc_queues=32)
PORT = STAR.ports["s1"][3]
"""The port towards h4, the receiver of all frames."""
HOP_BYTES = hop_rtt_ns(STAR, "s1") * PORT.rate_bps // 8_000_000_000
FRAMES_BELOW = HOP_BYTES // FRAME
"""Waiting frames of one flow that do not exceed Th if no other queue is active."""

NO_COLLISIONS = (f"table_set_default identity set_switch 1 {0x9E37_79B1} 1000",)
"""A salt with which no two flows of a burst share an entry of the flow table."""


def _pauses(departures: list[Departure]) -> list[tuple[int, QueuePause]]:
    decoded = [(departure.port, unpack_frame(departure.frame)) for departure in departures]
    return [(port, pause) for port, pause in decoded if pause is not None]


def _send(
    switch: BenchSwitch, frames: int, *, qpn: int = 1, queue: int = 5, src: str = "h1", at_ns: int = 0
) -> list[Departure]:
    """Send frames of one flow, which come from one queue of the previous hop."""
    frame = switch.data(src, "h4", qpn=qpn, queue=queue)
    return [departure for _ in range(frames) for departure in switch.send(frame, switch.port_of(src), at_ns)]


def _queues_by_flow(departures: list[Departure]) -> dict[int, set[int]]:
    """Return the queue numbers that the data frames of each UDP source port name for the next hop."""
    queues: dict[int, set[int]] = defaultdict(set)
    for departure in departures:
        if unpack_frame(departure.frame) is None:
            queues[int.from_bytes(departure.frame[34:36], "big")].add(departure.frame[7])
    return dict(queues)


def _events(switch: BenchSwitch, event: BfcEvent) -> int:
    return switch.counts().by_table[BfcEvent][event]


def test_flows_wait_in_queues_of_their_own_and_take_turns() -> None:
    with bench_switch(STAR, "s1", BFC) as switch:
        departures = _send(switch, 1, qpn=99)
        for qpn in (1, 2, 3):
            departures += _send(switch, 6, qpn=qpn)
        departures += switch.run_dry()
        queues = _queues_by_flow(departures)
        assert sorted(map(len, queues.values())) == [1, 1, 1, 1]
        assert len(set.union(*(queues[flow] for flow in list(queues)[1:]))) == 3
        data = [d for d in departures if unpack_frame(d.frame) is None][1:7]
        assert len({departure.frame[34:36] for departure in data}) == 3
        assert _events(switch, BfcEvent.QUEUE_SHARED) == 0


def test_flows_share_queues_when_none_is_free() -> None:
    with bench_switch(STAR, "s1", SwitchSettings(bfc_queues=2)) as switch:
        departures = _send(switch, 1, qpn=99)
        for qpn in range(1, 8):
            departures += _send(switch, 2, qpn=qpn)
        queues = _queues_by_flow(departures + switch.run_dry())
        assert set.union(*queues.values()) == {0, 1}
        assert all(len(used) == 1 for used in queues.values())
        assert (_events(switch, BfcEvent.ASSIGNED), _events(switch, BfcEvent.QUEUE_SHARED)) == (8, 5)


def test_128_queues_are_all_used() -> None:
    with bench_switch(STAR, "s1", SwitchSettings(bfc_queues=128), NO_COLLISIONS) as switch:
        switch.burst("h1", "h4", 130)
        assert switch.register("bfc_used_queues", PORT.number) == (1 << 128) - 1
        assert switch.register("bfc_active_queues", PORT.number) == 128
        assert _events(switch, BfcEvent.QUEUE_SHARED) == 1


def test_queues_are_free_after_the_last_packet() -> None:
    with bench_switch(STAR, "s1", BFC) as switch:
        departures = switch.burst("h1", "h4", 20)
        assert switch.register("bfc_active_queues", PORT.number) == 19
        departures += switch.run_dry()
        assert switch.register("bfc_used_queues", PORT.number) == 0
        assert switch.register("bfc_active_queues", PORT.number) == 0
        assert "1" not in switch.engine.command("register_read bfc_flow_packets").partition("=")[2]
        assert _events(switch, BfcEvent.DEQUEUE_SIGNAL) == len(departures) == 20


def test_the_packet_that_exceeds_the_threshold_pauses_its_upstream_queue() -> None:
    """The first frame is on the wire at once, so that it does not wait."""
    with bench_switch(STAR, "s1", BFC) as switch:
        assert _pauses(_send(switch, 1 + FRAMES_BELOW)) == []
        assert _pauses(_send(switch, 1)) == [(1, QueuePause(CLASS_DATA, 5, PFC_MAX_QUANTA))]
        assert _pauses(_send(switch, 10)) == []


def test_the_upstream_queue_resumes_when_the_last_packet_above_the_threshold_leaves() -> None:
    with bench_switch(STAR, "s1", BFC) as switch:
        _send(switch, 1 + FRAMES_BELOW + 3)
        departures = switch.run_dry()
        assert _pauses(departures) == [(1, QueuePause(CLASS_DATA, 5, 0))]
        resumed_at = next(place for place, d in enumerate(departures) if unpack_frame(d.frame) is not None)
        assert resumed_at >= FRAMES_BELOW + 2
        assert switch.register("bfc_pause_packets", 1 << 8 | 5) == 0


def test_upstream_queues_of_different_flows_are_paused_alone() -> None:
    """Flows of two upstream queues share a queue here, so both exceed the threshold, one after the other."""
    with bench_switch(STAR, "s1", SwitchSettings(bfc_queues=1)) as switch:
        _send(switch, 1 + FRAMES_BELOW)
        _send(switch, 1, qpn=2, queue=200, src="h2")
        departures = _send(switch, 1, qpn=2, queue=200, src="h2") + _send(switch, 1)
        assert _pauses(departures) == [
            (2, QueuePause(CLASS_DATA, 200, PFC_MAX_QUANTA)),
            (1, QueuePause(CLASS_DATA, 5, PFC_MAX_QUANTA)),
        ]


@pytest.mark.parametrize("flows", [2, 4])
def test_the_threshold_is_divided_by_the_active_queues(flows: int) -> None:
    with bench_switch(STAR, "s1", BFC) as switch:
        _send(switch, 1, qpn=99)
        for qpn in range(2, flows + 1):
            _send(switch, 1, qpn=qpn)
        below = HOP_BYTES // flows // FRAME
        assert _pauses(_send(switch, below)) == []
        assert len(_pauses(_send(switch, 1))) == 1


def test_a_flow_with_one_packet_is_never_paused() -> None:
    with bench_switch(STAR, "s1", SwitchSettings(bfc_queues=1), NO_COLLISIONS) as switch:
        assert _pauses(switch.burst("h1", "h4", 4 * FRAMES_BELOW)) == []


def test_upstream_queues_of_one_queue_resume_in_intervals() -> None:
    """A departure resumes the first one. The others wait until the port is idle, so their frames name times."""
    upstream = range(10, 14)
    with bench_switch(STAR, "s1", SwitchSettings(bfc_queues=1)) as switch:
        departures = _send(switch, 1 + FRAMES_BELOW)
        for queue in upstream:
            departures += _send(switch, 2, qpn=queue, queue=queue)
        frames = [pause for _, pause in _pauses(departures + switch.run_dry())]
    assert frames[:4] == [QueuePause(CLASS_DATA, queue, PFC_MAX_QUANTA) for queue in upstream]
    resumes = frames[4:]
    assert [resume.queue for resume in resumes] == [*upstream]
    unit_ns = QUEUE_PAUSE_QUANTA * 512 * 1_000_000_000 / PORT.rate_bps
    turn_units = hop_rtt_ns(STAR, "s1") / 2 / unit_ns
    assert [resume.units for resume in resumes[:2]] == [0, 0]
    for number, resume in enumerate(resumes[1:]):
        assert resume.units == pytest.approx(number * turn_units, abs=1)


@pytest.mark.parametrize("queues", [1, 2, 8, 128])
def test_every_paused_upstream_queue_resumes(queues: int) -> None:
    """No packet arrives after the pauses, so the last departures must serve all lists."""
    with bench_switch(STAR, "s1", SwitchSettings(bfc_queues=queues)) as switch:
        upstream = range(10, 70)
        departures = [
            departure
            for _ in range(4)
            for queue in upstream
            for departure in _send(switch, 1, qpn=queue, queue=queue, src="h1" if queue % 2 else "h2")
        ]
        frames = _pauses(departures + switch.run_dry())
        paused = {pause.queue for _, pause in frames if pause.units == PFC_MAX_QUANTA}
        last = {pause.queue: pause.units for _, pause in frames}
        assert len(paused) > 40
        assert {queue for queue, units in last.items() if units == PFC_MAX_QUANTA} == set()
        assert switch.register("bfc_waiting_lists", PORT.number) == 0


def test_the_threshold_of_a_paused_queue_is_divided_by_all_queues_that_hold_packets() -> None:
    with bench_switch(STAR, "s1", SwitchSettings(bfc_queues=2)) as switch:
        _send(switch, 1, qpn=99)
        for qpn in (2, 3):
            _send(switch, 1, qpn=qpn)
        for queue in (0, 1):
            switch.send(pack_frame(1, QueuePause(CLASS_DATA, queue, PFC_MAX_QUANTA)), PORT.number, 10)
        assert switch.register("bfc_active_queues", PORT.number) == 0
        below = HOP_BYTES // 2 // FRAME
        assert _pauses(_send(switch, below - 1, qpn=2, at_ns=20)) == []
        assert len(_pauses(_send(switch, 1, qpn=2, at_ns=20))) == 1


def test_a_pause_is_refreshed_before_it_ends() -> None:
    """The neighbour forgets a pause after 65535 units of 64 quanta."""
    with bench_switch(STAR, "s1", BFC) as switch:
        _send(switch, 2 + FRAMES_BELOW)
        wall_us_of_pause = PFC_MAX_QUANTA * QUEUE_PAUSE_QUANTA * 512 * 1_000 // (PORT.rate_bps // 1_000_000)
        switch.engine.command(f"port_rate {PORT.number} 1")
        assert _pauses(_send(switch, 1, at_ns=(wall_us_of_pause // 2 - 20) * US)) == []
        assert _pauses(_send(switch, 1, at_ns=(wall_us_of_pause // 2 + 5) * US)) == [
            (1, QueuePause(CLASS_DATA, 5, PFC_MAX_QUANTA))
        ]
        assert _events(switch, BfcEvent.REFRESH) == 1


def _queue_of_first(switch: BenchSwitch) -> int:
    """Let two frames of a flow wait in a queue, and return its number."""
    _send(switch, 1, qpn=99)
    _send(switch, 2, qpn=1)
    return switch.register("bfc_used_queues", PORT.number).bit_length() - 1


def test_a_queue_that_the_next_hop_pauses_waits_and_gets_no_new_flow() -> None:
    with bench_switch(STAR, "s1", SwitchSettings(bfc_queues=2)) as switch:
        queue = _queue_of_first(switch)
        switch.send(pack_frame(1, QueuePause(CLASS_DATA, queue, PFC_MAX_QUANTA)), PORT.number, 10)
        assert switch.register("bfc_active_queues", PORT.number) == 0
        departures = [departure for qpn in (2, 3, 4) for departure in _send(switch, 1, qpn=qpn, at_ns=20)]
        departures += switch.run_to(1_000 * US)
        assert next(iter(_queues_by_flow(departures).values())) == {1 - queue}
        assert switch.register("bfc_used_queues", PORT.number) == 1 << queue
        switch.send(pack_frame(1, QueuePause(CLASS_DATA, queue, 0)), PORT.number, 1_001 * US)
        assert {number for used in _queues_by_flow(switch.run_dry()).values() for number in used} == {queue}
        assert switch.register("bfc_paused_queues", PORT.number) == 0


def test_a_flow_without_packets_keeps_its_queue_for_three_hop_rtts() -> None:
    """Otherwise it would evade a pause of its queue."""
    keep_us = 3 * hop_rtt_ns(STAR, "s1")  # wall us are model ns here
    with bench_switch(STAR, "s1", BFC) as switch:
        _send(switch, 1)
        for at_us in (keep_us, 2 * keep_us, 3 * keep_us + 1):
            _send(switch, 1, at_ns=at_us * US)
        assert _events(switch, BfcEvent.ASSIGNED) == 2


def test_a_pause_that_ends_without_a_frame_is_forgotten_when_the_queue_sends() -> None:
    with bench_switch(STAR, "s1", BFC) as switch:
        queue = _queue_of_first(switch)
        switch.send(pack_frame(1, QueuePause(CLASS_DATA, queue, 100)), PORT.number, 10)
        assert switch.register("bfc_paused_queues", PORT.number) == 1 << queue
        assert len(_queues_by_flow(switch.run_dry())) == 1
        assert switch.register("bfc_paused_queues", PORT.number) == 0
        assert switch.register("bfc_active_queues", PORT.number) == 0


def test_without_bfc_frames_name_no_queue_and_the_mac_consumes_pauses() -> None:
    with bench_switch(STAR, "s1", SwitchSettings()) as switch:
        departures = switch.burst("h1", "h4", 5) + switch.run_dry()
        assert {departure.frame[7] for departure in departures} == {0}
        switch.send(pack_frame(1, QueuePause(CLASS_DATA, 3, 100)), PORT.number, 10**9)
        assert switch.engine.statistics()["drops"]["ingress"] == 0
        assert _events(switch, BfcEvent.ASSIGNED) == 0
