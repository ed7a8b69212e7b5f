# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reading switches and changing them from a session, on engines in this process."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.live.session import switches as reading
from sfc_testbed.wire.constants import CLASS_DATA
from tests.switch_bmv2.bench_switch import CLOS, DILATION, UPLINK, BenchSwitch, arriving_pause, bench_switch
from tests.switch_bmv2.bts.test_pause_cache import PAUSE_US, SFC
from tests.switch_bmv2.prototype.one_switch import prototype


class Live:
    """A bench switch with the interface of a session's switch."""

    def __init__(self, switch: BenchSwitch) -> None:
        self.name = switch.name
        self.bench = switch

    def command(self, line: str) -> str:
        return self.bench.engine.command(line)


@pytest.fixture
def live() -> Iterator[Live]:
    """Provide tor1 with data queued for h1 and a cached pause."""
    with bench_switch(CLOS, "tor1", SFC) as switch:
        for qpn in range(1, 4):
            switch.send(switch.data("h2", "h1", qpn=qpn), 2, 0)
        switch.send(arriving_pause(PAUSE_US), UPLINK, 0)
        yield Live(switch)


def test_queues_are_read_by_port_and_class(live: Live) -> None:
    queues = list(reading.queue_depths(CLOS, live))
    queue = next(queue for queue in queues if queue.traffic_class == CLASS_DATA)
    assert (queue.port.number, queue.port.peer.node, queue.traffic_class, queue.held_bytes) == (1, "h1", 3, 2116)
    at_port = sum(queue.held_bytes for queue in queues if queue.port.number == 1)
    assert reading.register(live, "port_bytes", 1) == at_port
    assert reading.register(live, "buffer_bytes", 0) == sum(queue.held_bytes for queue in queues) >= at_port


class FillingLive(Live):
    """A switch where every command also enqueues a frame."""

    def command(self, line: str) -> str:
        answer = super().command(line)
        self.bench.send(self.bench.data("h2", "h1", qpn=9), 2, 0)
        return answer


def test_queues_are_read_at_one_moment_while_they_fill(live: Live) -> None:
    """Depths of different moments would not add up, so one command reads all queues of a switch."""
    before_bytes = reading.register(live, "buffer_bytes", 0)
    depths = list(reading.queue_depths(CLOS, FillingLive(live.bench)))
    assert sum(depth.held_bytes for depth in depths) == before_bytes
    assert reading.register(live, "buffer_bytes", 0) > before_bytes


def test_a_cached_pause_names_its_destination(live: Live) -> None:
    cache = reading.pause_cache(CLOS, live, DILATION, time.monotonic_ns())
    [entry] = cache.entries
    assert (entry.host, str(entry.address), entry.dscp, cache.most_entries) == ("h6", "10.2.0.3", 26, 1)
    assert 0 < entry.left_us <= PAUSE_US
    [later] = reading.pause_cache(CLOS, live, DILATION, time.monotonic_ns() - 10**9).entries
    assert later.left_us < 0


class TurningLive(Live):
    """A switch where packets pass between two reads; each packet advances the cache's ring by one place."""

    def command(self, line: str) -> str:
        if line == "register_read cache_ring_ends 1":
            for qpn in (7, 8):
                self.bench.send(self.bench.data("h2", "h1", qpn=qpn), 2, 0)
        return super().command(line)


def test_an_entry_is_listed_once_while_the_ring_turns(live: Live) -> None:
    """The head is then read before the tail has moved on."""
    cache = reading.pause_cache(CLOS, TurningLive(live.bench), DILATION, time.monotonic_ns())
    assert [entry.host for entry in cache.entries] == ["h6"]


def test_a_rate_changes_wire_and_program(live: Live) -> None:
    """A model rate of 1 Gb/s is 1 Mb/s at a dilation of 1000, which sets the duration of the next frame."""
    port = next(port for port in CLOS.ports["tor1"] if port.number == 3)
    before = _entry_of_port_3(live)
    reading.set_rate(CLOS, live, port, 1_000_000_000, DILATION, SFC)
    [frame] = [frame for frame in live.bench.send(live.bench.data("h2", "h3"), 2, 10**9) if frame.port == 3]
    assert frame.due_ns == 10**9 + 1058 * 8_000
    assert before.endswith("port_speed 1342177 1")  # 0.08 us a byte at 100 Mb/s, in 2^-24 us
    assert _entry_of_port_3(live).endswith("port_speed 134217728 1")


def test_a_rate_keeps_the_prototypes_way_to_compute_pauses() -> None:
    """The prototype has shifts for five rates. Another rate is refused before the port changes."""
    with bench_switch(CLOS, "tor1", prototype()) as switch:
        live = Live(switch)
        port = next(port for port in CLOS.ports["tor1"] if port.number == 3)
        reading.set_rate(CLOS, live, port, 25_000_000_000, DILATION, prototype())
        assert _entry_of_port_3(live).endswith("port_shift 1 1000 1")
        with pytest.raises(UsageError, match="not of 10 Gb/s"):
            reading.set_rate(CLOS, live, port, 10_000_000_000, DILATION, prototype())
        [frame] = [frame for frame in switch.send(switch.data("h2", "h3"), 2, 10**9) if frame.port == 3]
        assert frame.due_ns == 10**9 + 1058 * 8 * 40


def test_a_rate_without_a_code_is_refused_with_compact_telemetry() -> None:
    compact = TransportSettings(link_rates_bps=(100_000_000_000, 400_000_000_000))
    reading.check_rates_have_codes(compact, [100, 400.0])
    reading.check_rates_have_codes(TransportSettings(), [50])
    with pytest.raises(
        UsageError, match="50 Gb/s has no code in compact telemetry; choose from 100, 400 Gb/s, or start"
    ):
        reading.check_rates_have_codes(compact, [100, 50])


def test_compiler_made_tables_are_distinguished(live: Live) -> None:
    written = [name for name, _ in reading.tables(live) if not reading.is_compiler_made(name)]
    assert all("." in name for name in written)
    assert len(written) < len(reading.tables(live))


def test_short_names_of_tables_are_accepted_by_commands(live: Live) -> None:
    names = [name for name, _ in reading.tables(live)]
    short_names = {name: reading.short_name(name, names) for name in names}
    assert {"ipv4_lpm", "dilation", "least_cached_pause"} <= set(short_names.values())
    for name, short_name in short_names.items():
        assert live.command(f"table_dump {short_name}") == live.command(f"table_dump {name}")


def _entry_of_port_3(live: Live) -> str:
    [line] = [line for line in live.command("table_dump congested_port").splitlines() if ": 3 =>" in line]
    return line
