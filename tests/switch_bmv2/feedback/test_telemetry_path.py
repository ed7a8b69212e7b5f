# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of in-band telemetry over a whole path: the receiver's records match the switches' states at each dequeue."""

from __future__ import annotations

import heapq
from contextlib import ExitStack

from testbed.control_plane.settings import SwitchSettings
from tests.switch_bmv2.bench_switch import US, BenchSwitch, bench_switch
from topologies.shapes import shape
from wire.int_header import request, strip, unpack

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
        return frame[34:36] + frame[46 + 16 * frame[42] :]


def test_every_record_equals_the_state_of_its_hop() -> None:
    """Two bursts meet at the uplink and at the receiver's port, so that several hops have queues."""
    with ExitStack() as stack:
        switches = {name: stack.enter_context(bench_switch(CLOS, name, INT)) for name in PATH}
        path, shim = _Path(switches), request(telemetry=True, stamp_us=None)
        for turn in range(40):
            for sender, port in (("h1", 1), ("h2", 2)):
                payload_bytes = 200 + 13 * turn
                frame = switches["tor1"].data(sender, RECEIVER, qpn=turn + 1, payload=payload_bytes, shim=shim)
                path.arrive(turn * 20 * US, "tor1", port, frame)
        path.run()
    assert len(path.received) == 80
    queues_seen: set[int] = set()
    for frame in path.received:
        plain_and_shim = strip(frame)
        assert plain_and_shim is not None
        hops = unpack(plain_and_shim[1]).hops
        assert len(hops) == 3
        assert list(hops) == path.truth[_Path._body(frame)]
        queues_seen.update(hop.queue_bytes > 0 for hop in hops)
    assert queues_seen == {True, False}
