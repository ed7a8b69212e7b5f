# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of in-band telemetry over a whole path: the receiver's records match the switches' states at each dequeue."""

from __future__ import annotations

import heapq
import itertools
from contextlib import ExitStack

import pytest

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.live.session.switches import set_rate
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire import int_slots
from sfc_testbed.wire.counters import IntEvent
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.int_header import next_path, path_of, request, strip, telemetry_bytes, unpack
from sfc_testbed.wire.int_slots import Slot
from tests.switch_bmv2.bench_switch import US, BenchSwitch, bench_switch
from tests.testbed.live.session.test_switches import Live

CLOS = shape("clos", {"hosts_per_tor": 3, "spines": 1, "fabric_rate_bps": 120_000_000_000}).build()
INT = SwitchSettings(int_telemetry=True)
PATH = ("tor1", "spine1", "tor2")
RECEIVER = "h6"
Truth = tuple[int, int, int, int]


def _ports_state(switch: BenchSwitch, port: int) -> tuple[int, int]:
    """Return the bytes sent and the bytes queued of a port, according to the traffic manager."""
    ports = switch.engine.statistics()["ports"]
    state = ports.get(str(port), {"tx_bytes": 0, "queued_bytes": 0})
    return state["tx_bytes"], state["queued_bytes"]


class _Path:
    """The three switches between two racks, advanced one event at a time."""

    def __init__(self, switches: dict[str, BenchSwitch]) -> None:
        self._switches = switches
        self._arrivals: list[tuple[int, int, str, int, bytes]] = []
        self._count = 0
        self.truth: dict[bytes, list[Truth]] = {}
        self.received: list[bytes] = []

    def arrive(self, time_ns: int, switch: str, port: int, frame: bytes) -> None:
        self._count += 1
        heapq.heappush(self._arrivals, (time_ns, self._count, switch, port, frame))

    def run(self) -> None:
        """Handle arrivals and timers in order of time until none is left."""
        while True:
            timers = [(s.engine.next_timer_ns(), name) for name, s in self._switches.items()]
            due = [(time_ns, name) for time_ns, name in timers if time_ns is not None]
            next_timer = min(due, default=None)
            if self._arrivals and (next_timer is None or self._arrivals[0][0] < next_timer[0]):
                time_ns, _, name, port, frame = heapq.heappop(self._arrivals)
                self._switches[name].engine.receive(port, frame, time_ns)
            elif next_timer is not None:
                self._advance(*next_timer)
            else:
                return

    def _advance(self, now_ns: int, name: str) -> None:
        switch = self._switches[name]
        ports = {port.number: port for port in CLOS.ports[name]}
        sent_before = {number: _ports_state(switch, number)[0] for number in ports}
        for departure in switch.run_to(now_ns):
            rate_kbps = ports[departure.port].rate_bps // 1000 // 1000
            truth = (rate_kbps, now_ns // US, sent_before[departure.port], _ports_state(switch, departure.port)[1])
            self.truth.setdefault(self._body(departure.frame), []).insert(0, truth)
            peer = ports[departure.port].peer
            if peer.node == RECEIVER:
                self.received.append(departure.frame)
            elif peer.node in self._switches:
                self.arrive(departure.due_ns, peer.node, peer.number, departure.frame)

    @staticmethod
    def _body(frame: bytes) -> bytes:
        """Return the parts of a frame that no hop changes: the UDP source port, the BTH and the payload."""
        return frame[34:36] + frame[42 + telemetry_bytes(frame[42], frame[43]) :]


def _after_two_bursts(shim: bytes) -> _Path:
    """Return the path after two bursts that met at the uplink and at the receiver's port, so that hops had queues."""
    with ExitStack() as stack:
        switches = {name: stack.enter_context(bench_switch(CLOS, name, INT)) for name in PATH}
        path = _Path(switches)
        for turn in range(40):
            for sender, port in (("h1", 1), ("h2", 2)):
                payload_bytes = 200 + 13 * turn
                frame = switches["tor1"].data(sender, RECEIVER, qpn=turn + 1, payload=payload_bytes, shim=shim)
                path.arrive(turn * 20 * US, "tor1", port, frame)
        path.run()
    assert len(path.received) == 80
    return path


@pytest.mark.parametrize("is_compact", [False, True])
def test_every_hop_reports_its_state(is_compact: bool) -> None:
    """In the compact layout the packet keeps its length. At a dilation of 1000, its unit of time is 1 us."""
    path = _after_two_bursts(request(telemetry=True, stamp_us=None, is_compact=is_compact))
    queues_seen: set[bool] = set()
    for frame in path.received:
        plain_and_shim = strip(frame)
        assert plain_and_shim is not None
        plain, shim = plain_and_shim
        states = path.truth[_Path._body(frame)]
        assert len(states) == 3
        if is_compact:
            assert len(frame) == len(plain) + 44
            assert list(int_slots.unpack(shim)) == [_slot_of(state) for state in states]
        else:
            assert list(unpack(shim).hops) == states
        queues_seen.update(queue_bytes > 0 for *_, queue_bytes in states)
    assert queues_seen == {True, False}


@pytest.mark.parametrize("is_compact", [False, True])
def test_a_packet_that_requests_it_names_its_path(is_compact: bool) -> None:
    """All packets take the same output ports, and no other field of their telemetry changes."""
    named = _after_two_bursts(request(telemetry=True, stamp_us=None, is_compact=is_compact, names_path=True))
    plain = _after_two_bursts(request(telemetry=True, stamp_us=None, is_compact=is_compact))
    expected = 0
    for switch, onward in itertools.pairwise((*PATH, RECEIVER)):
        [port] = [port.number for port in CLOS.ports[switch] if port.peer.node == onward]
        expected = next_path(expected, CLOS.switch[switch].switch_id, port)
    for with_name, without in zip(named.received, plain.received, strict=True):
        assert path_of(with_name[42:46]) == expected != 0
        assert path_of(without[42:46]) == 0
        assert with_name[46:] == without[46:]


def _slot_of(truth: Truth) -> Slot:
    rate_kbps, time_us, sent_bytes, queue_bytes = truth
    return Slot({100_000: 1, 120_000: 2}[rate_kbps], time_us, sent_bytes // 128, queue_bytes // 80)


def test_slots_of_five_hops_are_filled_and_a_sixth_hop_is_counted() -> None:
    """The packet passes through one switch again and again, which has another clock and byte count each time."""
    with bench_switch(CLOS, "tor1", INT) as switch:
        shim = request(telemetry=True, stamp_us=None, is_compact=True)
        frame = switch.data("h1", "h2", shim=shim)
        seen: list[Slot] = []
        for hop in range(1, 7):
            [departure] = switch.send(frame, 1, hop * 1_000 * US)
            assert len(departure.frame) == len(frame)
            frame = departure.frame
            slots = int_slots.unpack(frame[42:86])
            if hop <= 5:
                assert [slot.time for slot in slots] == [past * 1_000 for past in range(hop, 0, -1)]
                assert list(slots[1:]) == seen
                seen = list(slots)
        assert list(int_slots.unpack(frame[42:86])) == seen
        assert len({slot.sent for slot in seen}) == 5
        assert switch.counts().by_table[IntEvent][IntEvent.FULL] == 1


@pytest.mark.parametrize(("dilation", "unit_us"), [(1_000, 1), (2_000, 2), (20_000, 32)])
def test_the_unit_of_time_grows_with_the_dilation(dilation: int, unit_us: int) -> None:
    """The switch's clock has 48 bits. A slot has 24 bits of it, above the bits that are shifted out."""
    time_us = (1 << 24) * unit_us + 5 * unit_us + unit_us - 1
    with bench_switch(CLOS, "tor1", INT) as switch:
        [port] = [port for port in CLOS.ports["tor1"] if port.peer.node == "h2"]
        set_rate(CLOS, Live(switch), port, 100_000_000_000, Dilation(dilation), INT)
        shim = request(telemetry=True, stamp_us=None, is_compact=True)
        [departure] = switch.send(switch.data("h1", "h2", shim=shim), 1, time_us * US)
        [slot] = int_slots.unpack(departure.frame[42:86])
    assert slot.time == 5
