# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The controls of the Tofino 2 program that any target can run give the testbed's own numbers and frames."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfc_testbed.testbed.control_plane.tofino2 import CELL_BYTES, RATE_CODES, TICK_NS
from sfc_testbed.wire import bts, pfc, tcp_signal
from sfc_testbed.wire.bts import BackToSender
from sfc_testbed.wire.constants import BtsCause
from softswitch.build import build_library
from softswitch.engine import SwitchEngine
from tests.testbed import running

PROGRAM = running.ROOT / "switch-tofino2" / "artifacts" / "vectors.json"
MAC_OF_SENDER, MAC_OF_SWITCH, MAC_OF_PORT = 0x060000010001, 0x0600000A0001, 0x0600000A0002
SENDER, CONGESTED = 0x0A010001, 0x0A020008
MOST_CELLS = (1 << 18) - 1
"""The traffic manager reports a depth in 18 bits."""
UDP, TCP, ICMP, ROCE_PORT = 17, 6, 1, 4791
PORT = 1
exactly = settings(max_examples=300, deadline=None)


@pytest.fixture(scope="module")
def engine() -> Iterator[SwitchEngine]:
    switch = SwitchEngine(build_library(PROGRAM))
    switch.command(f"port_rate {PORT} 100000000000")
    yield switch
    switch.close()


def _answer(engine: SwitchEngine, frame: bytes) -> bytes:
    frames = [departure[2] for departure in engine.step(PORT, frame, (engine.next_timer_ns() or 0) + 1)]
    while not frames:
        timer_ns = engine.next_timer_ns()
        assert timer_ns is not None
        frames = [departure[2] for departure in engine.advance(timer_ns)]
    [answer] = frames
    return answer


class Numbers(NamedTuple):
    """Inputs of the calculations, in the order of `numbers_h`."""

    excess_cells: int = 0
    depth_cells: int = 0
    rate: int = 0
    bts_pause_us: int = 0
    over_cells: int = 0
    stale: int = 0
    cached_us: int = 0
    estimate_us: int = 0
    packet_bytes: int = 0


class Results(NamedTuple):
    """Their results."""

    pause_us: int
    depth_bytes: int
    ticks: int
    cause: int
    longest_us: int
    length_q8: int


def _results(engine: SwitchEngine, numbers: Numbers) -> Results:
    header = bytes(12) + b"\x88\xb5" + struct.pack(">IIBIIHIII", *numbers)
    return Results(*struct.unpack_from(">IIIBII", _answer(engine, header + bytes(21)), len(header)))


@exactly
@given(excess_cells=st.integers(0, MOST_CELLS), gbps=st.sampled_from(sorted(RATE_CODES)))
def test_pause_is_the_time_in_which_the_queue_drains(engine: SwitchEngine, excess_cells: int, gbps: int) -> None:
    pause_us = _results(engine, Numbers(excess_cells=excess_cells, rate=RATE_CODES[gbps])).pause_us
    exact_us = Fraction(excess_cells * CELL_BYTES * 8, gbps * 1000)
    assert exact_us - 1 <= pause_us <= exact_us * Fraction(10014, 10000)


@exactly
@given(depth_cells=st.integers(0, MOST_CELLS))
def test_depth_in_bytes_is_exact(engine: SwitchEngine, depth_cells: int) -> None:
    assert _results(engine, Numbers(depth_cells=depth_cells)).depth_bytes == depth_cells * CELL_BYTES


def test_a_port_of_an_unknown_rate_pauses_nobody(engine: SwitchEngine) -> None:
    assert _results(engine, Numbers(excess_cells=MOST_CELLS, rate=7)).pause_us == 0


@exactly
@given(pause_us=st.integers(0, 65535))
def test_pause_in_ticks_is_less_than_two_ticks_too_long(engine: SwitchEngine, pause_us: int) -> None:
    too_long = _results(engine, Numbers(bts_pause_us=pause_us)).ticks - Fraction(pause_us * 1000, TICK_NS)
    assert 0 <= too_long < 2


@exactly
@given(packet_bytes=st.integers(20, 65535))
def test_length_of_a_packet_is_in_parts_of_a_cell(engine: SwitchEngine, packet_bytes: int) -> None:
    length_q8 = _results(engine, Numbers(packet_bytes=packet_bytes)).length_q8
    exact_q8 = Fraction(packet_bytes * 256, CELL_BYTES)
    assert exact_q8 * Fraction(9990, 10000) - 1 <= length_q8 <= exact_q8 + 2


some_us = st.one_of(st.just(0), st.integers(0, 1 << 18))


@exactly
@given(over=some_us, stale=st.sampled_from([0, 0, 1, 0x3FFF]), cached_us=some_us, estimate_us=some_us)
def test_cause_is_that_of_the_program_for_v1model(
    engine: SwitchEngine, over: int, stale: int, cached_us: int, estimate_us: int
) -> None:
    results = _results(engine, Numbers(over_cells=over, stale=stale, cached_us=cached_us, estimate_us=estimate_us))
    valid_us = 0 if stale else cached_us
    remote = BtsCause.ESTIMATOR if estimate_us > valid_us else BtsCause.CACHE
    longest_us = max(valid_us, estimate_us)
    assert results.longest_us == longest_us
    assert results.cause == (BtsCause.QUEUE if over else remote if longest_us else BtsCause.UNKNOWN)


def _inputs(
    *,
    pause_frame: bool = False,
    classes: int = 0,
    quanta: int = 0,
    pause_us: int = 0,
    server: bool = False,
    depth: int = 0,
) -> bytes:
    """Return the header behind which a frame becomes a BTS or a pause frame."""
    source = MAC_OF_PORT.to_bytes(6, "big")
    return (
        bytes(12)
        + b"\x88\xb6"
        + struct.pack(">BBH6sHBI", pause_frame, classes, quanta, source, pause_us, server, depth)
    )


def _packet(protocol: int, source_port: int, port: int, qpn: int, dscp: int) -> bytes:
    """Return an Ethernet frame as it triggers a BTS: routed to this switch, with 100 bytes of data."""
    if protocol == TCP:
        transport = struct.pack(">HHIIBBHHH", source_port, port, 7, 8, 0x50, 0x18, 9, 10, 11)
    elif protocol == UDP:
        transport = struct.pack(">HHHH", source_port, port, 120, 0)
        transport += struct.pack(">BBHII", 4, 0, 0xFFFF, qpn, 5) if port == ROCE_PORT else b""
    else:
        transport = b""
    header = struct.pack(
        ">BBHHHBBHII", 0x45, dscp << 2 | 1, 20 + len(transport) + 100, 3, 0, 63, protocol, 0, SENDER, CONGESTED
    )
    macs = MAC_OF_SWITCH.to_bytes(6, "big") + MAC_OF_SENDER.to_bytes(6, "big")
    return macs + b"\x08\x00" + header + transport + bytes(100)


@exactly
@given(protocol=st.sampled_from([UDP, TCP, ICMP]), port=st.sampled_from([ROCE_PORT, 53, 5001]), data=st.data())
def test_bts_is_the_frame_that_hosts_read(engine: SwitchEngine, protocol: int, port: int, data: st.DataObject) -> None:
    def drawn(most: int) -> int:
        return data.draw(st.integers(0, most))

    source_port, qpn, dscp, pause_us = drawn(65535), drawn(0xFFFFFF), drawn(63), drawn(65535)
    traffic_class, depth_bytes, switch_id, stamp = drawn(7), drawn(MOST_CELLS * CELL_BYTES), drawn(65535), drawn(65535)
    cacheable = data.draw(st.booleans())
    cause = data.draw(st.sampled_from([BtsCause.QUEUE, BtsCause.CACHE, BtsCause.ESTIMATOR]))
    has_ports, has_queue_pair = protocol != ICMP, protocol == UDP and port == ROCE_PORT
    mirror = struct.pack(">BBHBIIIHH", 2, cause, PORT, traffic_class, 0, 0, 0, stamp, switch_id)
    inputs = _inputs(pause_us=pause_us, server=cacheable, depth=depth_bytes)
    frame = inputs + mirror + _packet(protocol, source_port, port, qpn, dscp)
    wanted = BackToSender(
        cause=cause,
        cacheable=cacheable,
        pause_us=pause_us,
        protocol=protocol,
        dscp=dscp,
        source_port=source_port if has_ports else 0,
        destination_port=port if has_ports else 0,
        destination_qpn=qpn if has_queue_pair else 0,
        traffic_class=traffic_class,
        queue_depth_bytes=depth_bytes,
        switch_id=switch_id,
        stamp=stamp,
    )
    pack = tcp_signal.pack_frame if protocol == TCP else bts.pack_frame
    expected = pack(
        wanted,
        destination_mac=MAC_OF_SENDER,
        source_mac=MAC_OF_SWITCH,
        congested_ip=CONGESTED,
        paused_ip=SENDER,
    )
    assert _answer(engine, frame) == expected


@exactly
@given(traffic_class=st.integers(0, 7), quanta=st.integers(0, 65535))
def test_pause_frame_pauses_the_class(engine: SwitchEngine, traffic_class: int, quanta: int) -> None:
    inputs = _inputs(pause_frame=True, classes=1 << traffic_class, quanta=quanta)
    mirror = struct.pack(">BBHBIIIHH", 2, 1, PORT, 0, 0, 0, 0, 0, 0)
    answer = _answer(engine, inputs + mirror + _packet(UDP, 1, ROCE_PORT, 1, 26))
    read = pfc.unpack_frame(answer)
    assert read is not None and len(answer) == 60
    assert answer[6:12] == MAC_OF_PORT.to_bytes(6, "big")
    assert dict(read.pause_quanta) == {traffic_class: quanta}
