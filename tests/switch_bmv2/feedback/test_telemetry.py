# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of in-band telemetry: a hop pushes a record with the exact state of the switch at the packet's dequeue."""

from __future__ import annotations

import struct

from tests.switch_bmv2.bench_switch import FRAME_OVERHEAD, US, BenchSwitch, bench_switch
from topologies.settings import SwitchSettings
from topologies.shapes import shape

STAR = shape("star", {"hosts": 4}).build()
INT = SwitchSettings(int_telemetry=True)
INT_UDP_PORT = 49792
UDP_END = 42
RECORD = struct.Struct(">IIII")
FRAME = 1000 + FRAME_OVERHEAD + 4


def _with_int(frame: bytes, *, hops: int = 0, flags: int = 0, records: bytes = b"") -> bytes:
    """Insert an INT header between UDP and BTH of a data frame, and correct lengths and IPv4 checksum."""
    shim = bytes((hops, flags, 0, 0)) + records
    total = int.from_bytes(frame[16:18], "big") + len(shim)
    udp = int.from_bytes(frame[38:40], "big") + len(shim)
    ip = bytearray(frame[14:34])
    ip[2:4] = total.to_bytes(2, "big")
    ip[10:12] = b"\0\0"
    value = sum(int.from_bytes(ip[i : i + 2], "big") for i in range(0, 20, 2))
    while value >> 16:
        value = (value & 0xFFFF) + (value >> 16)
    ip[10:12] = (value ^ 0xFFFF).to_bytes(2, "big")
    ports = frame[34:36] + INT_UDP_PORT.to_bytes(2, "big") + udp.to_bytes(2, "big") + frame[40:42]
    return frame[:14] + bytes(ip) + ports + shim + frame[UDP_END:]


def _records(frame: bytes) -> list[tuple[int, ...]]:
    return [RECORD.unpack_from(frame, UDP_END + 4 + 16 * turn) for turn in range(frame[UDP_END])]


def _frame(switch: BenchSwitch, qpn: int) -> bytes:
    return _with_int(switch.data("h1", "h4", qpn=qpn))


def test_each_packet_carries_rate_time_bytes_and_queue_of_its_dequeue() -> None:
    """Four packets arrive at once and leave one after the other."""
    with bench_switch(STAR, "s1", INT) as switch:
        departures = [departure for qpn in range(1, 5) for departure in switch.send(_frame(switch, qpn), 1, 7 * US)]
        departures += switch.run_dry()
    wire_us = (FRAME + 16) * 8 / 100
    behind = [0, 2, 1, 0]  # the first left before the others came
    for turn, departure in enumerate(departures):
        [(rate_kbps, time_us, tx_bytes, queue_bytes)] = _records(departure.frame)
        assert rate_kbps == 100_000
        assert time_us == int(7 + turn * wire_us)
        assert tx_bytes == turn * (FRAME + 16)
        assert queue_bytes == behind[turn] * FRAME


def test_a_record_changes_only_lengths_and_the_checksum() -> None:
    with bench_switch(STAR, "s1", INT) as switch:
        frame = _frame(switch, 1)
        [departure] = switch.send(frame, 1, 0)
    assert len(departure.frame) == len(frame) + 16
    for offset in (16, 38):
        assert int.from_bytes(departure.frame[offset : offset + 2], "big") == 16 + int.from_bytes(
            frame[offset : offset + 2], "big"
        )
    assert sum(int.from_bytes(departure.frame[i : i + 2], "big") for i in range(14, 34, 2)) % 0xFFFF == 0
    assert departure.frame[UDP_END + 20 :] == frame[UDP_END + 4 :]


def test_the_newest_hop_comes_first_and_a_sixth_hop_adds_no_record() -> None:
    older = RECORD.pack(1, 2, 3, 4)
    with bench_switch(STAR, "s1", INT) as switch:
        frame = _with_int(switch.data("h1", "h4"), hops=1, records=older)
        [departure] = switch.send(frame, 1, 0)
        assert [record[0] for record in _records(departure.frame)] == [100_000, 1]
        full = _with_int(switch.data("h1", "h4", qpn=2), hops=5, records=older * 5)
        [departure] = switch.send(full, 1, 1_000 * US)
        assert _records(departure.frame) == [(1, 2, 3, 4)] * 5


def test_echoes_and_packets_without_telemetry_get_no_record() -> None:
    with bench_switch(STAR, "s1", INT) as switch:
        echo = _with_int(switch.data("h1", "h4"), hops=1, flags=1, records=RECORD.pack(1, 2, 3, 4))
        plain = switch.data("h1", "h4", qpn=2)
        assert len(switch.send(echo, 1, 0)[0].frame) == len(echo)
        assert len(switch.send(plain, 1, 1_000 * US)[0].frame) == len(plain)


def test_a_switch_without_telemetry_forwards_the_header_unchanged() -> None:
    with bench_switch(STAR, "s1", SwitchSettings()) as switch:
        frame = _frame(switch, 1)
        [departure] = switch.send(frame, 1, 0)
    assert departure.frame[UDP_END:] == frame[UDP_END:]


def test_more_hops_than_the_header_holds_are_malformed() -> None:
    with bench_switch(STAR, "s1", INT) as switch:
        frame = _with_int(switch.data("h1", "h4"), hops=6, records=bytes(96))
        assert switch.send(frame, 1, 0) == []
        assert switch.counts().drops == {"malformed": 1}
