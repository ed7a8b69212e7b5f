# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of in-band telemetry: a hop pushes a record with the exact state of the switch at the packet's dequeue."""

from __future__ import annotations

import struct

from testbed.control_plane.settings import SwitchSettings
from tests.switch_bmv2.bench_switch import FRAME_OVERHEAD, STAR, US, BenchSwitch, bench_switch
from wire.ipv4 import checksum

INT = SwitchSettings(int_telemetry=True)
INT_UDP_PORT = 49792
UDP_END = 42
RECORD = struct.Struct(">IIII")
FRAME = 1000 + FRAME_OVERHEAD + 4


def _with_int(frame: bytes) -> bytes:
    """Insert an INT header between UDP and BTH of a data frame, and correct lengths and IPv4 checksum."""
    shim = bytes(4)
    total = int.from_bytes(frame[16:18], "big") + len(shim)
    udp = int.from_bytes(frame[38:40], "big") + len(shim)
    ip = bytearray(frame[14:34])
    ip[2:4] = total.to_bytes(2, "big")
    ip[10:12] = b"\0\0"
    ip[10:12] = checksum(bytes(ip)).to_bytes(2, "big")
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
