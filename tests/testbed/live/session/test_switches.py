# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a session reads from switches and sets on them, on engines in this process."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from testbed.live.session import switches as reading
from tests.switch_bmv2.bench_switch import DILATION, BenchSwitch, bench_switch
from tests.switch_bmv2.bts.test_pause_cache import CLOS, SFC, UPLINK, _remote_bts
from wire.constants import CLASS_DATA


class Live:
    """A bench switch as a session sees a switch."""

    def __init__(self, switch: BenchSwitch) -> None:
        self.name = switch.name
        self.bench = switch

    def command(self, line: str) -> str:
        return self.bench.engine.command(line)


@pytest.fixture
def live() -> Iterator[Live]:
    """tor1 with data waiting for h1 and a remembered pause."""
    with bench_switch(CLOS, "tor1", SFC) as switch:
        for qpn in range(1, 4):
            switch.send(switch.data("h2", "h1", qpn=qpn), 2, 0)
        switch.send(_remote_bts(), UPLINK, 0)
        yield Live(switch)


def test_queues_are_read_by_port_and_class(live: Live) -> None:
    """Bytes, with the port's neighbour."""
    queues = list(reading.queue_depths(CLOS, live))
    queue = next(each for each in queues if each.traffic_class == CLASS_DATA)
    assert (queue.port.number, queue.port.peer.node, queue.traffic_class, queue.held_bytes) == (1, "h1", 3, 2116)
    at_port = sum(each.held_bytes for each in queues if each.port.number == 1)
    assert reading.port_bytes(live, 1) == at_port
    assert reading.buffer_bytes(live) == sum(each.held_bytes for each in queues) >= at_port


class FillingLive(Live):
    """A frame joins a queue with every command."""

    def command(self, line: str) -> str:
        answer = super().command(line)
        self.bench.send(self.bench.data("h2", "h1", qpn=9), 2, 0)
        return answer


def test_a_queue_that_fills_while_it_is_read_is_read_once(live: Live) -> None:
    """Figures of two moments would not add up: all queues of a switch are read by one command."""
    before_bytes = reading.buffer_bytes(live)
    found = list(reading.queue_depths(CLOS, FillingLive(live.bench)))
    assert sum(each.held_bytes for each in found) == before_bytes
    assert reading.buffer_bytes(live) > before_bytes


def test_a_cached_pause_names_its_destination(live: Live) -> None:
    """Host, address and DSCP; what is left of it follows from the switch's clock."""
    found = reading.pause_cache(CLOS, live, DILATION, time.monotonic_ns())
    [entry] = found.entries
    assert (entry.host, str(entry.address), entry.dscp, found.most_entries) == ("h6", "10.2.0.3", 26, 1)
    assert entry.left_us <= DILATION.model_us(400_000)
    [later] = reading.pause_cache(CLOS, live, DILATION, time.monotonic_ns() - 10**9).entries
    assert later.left_us < 0


class TurningLive(Live):
    """Packets go through between two reads: each turns the ring of the cache by one."""

    def command(self, line: str) -> str:
        if line == "register_read cache_ring_ends 1":
            for qpn in (7, 8):
                self.bench.send(self.bench.data("h2", "h1", qpn=qpn), 2, 0)
        return super().command(line)


def test_an_entry_is_listed_once_while_the_ring_turns(live: Live) -> None:
    """The head that was read is older than the tail."""
    found = reading.pause_cache(CLOS, TurningLive(live.bench), DILATION, time.monotonic_ns())
    assert [entry.host for entry in found.entries] == ["h6"]


def test_a_rate_changes_wire_and_program(live: Live) -> None:
    """1 Gb/s of the model is 1 Mb/s at a dilation of 1000: the next frame takes that long."""
    port = next(port for port in CLOS.ports["tor1"] if port.number == 3)
    before = _entry_of(live, "congested_port", 3)
    reading.set_rate(live, port, DILATION.wall_bps(1e9))
    [seen] = [each for each in live.bench.send(live.bench.data("h2", "h3"), 2, 10**9) if each.port == 3]
    assert seen.due_ns == 10**9 + 1058 * 8_000
    assert before.endswith("port_speed 1342177 1")  # 0.08 us a byte at 100 Mb/s, in 2^-24 us
    assert _entry_of(live, "congested_port", 3).endswith("port_speed 134217728 1")


def test_compiler_made_tables_are_told_from_others(live: Live) -> None:
    """Those that somebody wrote have a name in a control."""
    written = [name for name, _ in reading.tables(live) if not reading.is_compiler_made(name)]
    assert "ipv4_lpm" in map(reading.short_name, written)
    assert all("." in name for name in written)
    assert len(written) < len(reading.tables(live))


def _entry_of(live: Live, table: str, key: int) -> str:
    [line] = [each for each in live.command(f"table_dump {table}").splitlines() if f": {key} =>" in each]
    return line
