# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""In-band telemetry: the record that a hop pushes is the switch's state at that dequeue, exactly."""

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
    """A data frame with an INT header between UDP and BTH, lengths and IPv4 checksum right."""
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
    """Four packets at once: the k-th leaves after k - 1 others, with the rest behind it."""
    with bench_switch(STAR, "s1", INT) as switch:
        seen = [each for qpn in range(1, 5) for each in switch.send(_frame(switch, qpn), 1, 7 * US)]
        seen += switch.run_dry()
    wire_us = (FRAME + 16) * 8 / 100
    behind = [0, 2, 1, 0]  # the first left before the others came
    for turn, each in enumerate(seen):
        [(rate_kbps, time_us, tx_bytes, queue_bytes)] = _records(each.frame)
        assert rate_kbps == 100_000
        assert time_us == int(7 + turn * wire_us)
        assert tx_bytes == turn * (FRAME + 16)
        assert queue_bytes == behind[turn] * FRAME


def test_lengths_follow_and_the_rest_is_untouched() -> None:
    """IPv4 and UDP lengths grow by the record, the checksum is right, BTH and payload are the sender's."""
    with bench_switch(STAR, "s1", INT) as switch:
        frame = _frame(switch, 1)
        [seen] = switch.send(frame, 1, 0)
    assert len(seen.frame) == len(frame) + 16
    for offset in (16, 38):
        assert int.from_bytes(seen.frame[offset : offset + 2], "big") == 16 + int.from_bytes(
            frame[offset : offset + 2], "big"
        )
    assert sum(int.from_bytes(seen.frame[i : i + 2], "big") for i in range(14, 34, 2)) % 0xFFFF == 0
    assert seen.frame[UDP_END + 20 :] == frame[UDP_END + 4 :]


def test_newest_hop_stands_first_and_five_are_the_most() -> None:
    """A second switch pushes before the first one's record; a sixth hop pushes nothing."""
    older = RECORD.pack(1, 2, 3, 4)
    with bench_switch(STAR, "s1", INT) as switch:
        frame = _with_int(switch.data("h1", "h4"), hops=1, records=older)
        [seen] = switch.send(frame, 1, 0)
        assert [record[0] for record in _records(seen.frame)] == [100_000, 1]
        full = _with_int(switch.data("h1", "h4", qpn=2), hops=5, records=older * 5)
        [seen] = switch.send(full, 1, 1_000 * US)
        assert _records(seen.frame) == [(1, 2, 3, 4)] * 5


def test_an_echo_and_plain_packets_are_left_alone() -> None:
    """A record that travels back to the sender is not added to; a packet without the header gets none."""
    with bench_switch(STAR, "s1", INT) as switch:
        echo = _with_int(switch.data("h1", "h4"), hops=1, flags=1, records=RECORD.pack(1, 2, 3, 4))
        plain = switch.data("h1", "h4", qpn=2)
        assert len(switch.send(echo, 1, 0)[0].frame) == len(echo)
        assert len(switch.send(plain, 1, 1_000 * US)[0].frame) == len(plain)


def test_off_by_default() -> None:
    """A switch without telemetry forwards the header as it came."""
    with bench_switch(STAR, "s1", SwitchSettings()) as switch:
        frame = _frame(switch, 1)
        [seen] = switch.send(frame, 1, 0)
    assert seen.frame[UDP_END:] == frame[UDP_END:]


def test_more_hops_than_the_header_holds_are_malformed() -> None:
    """Six records cannot be: counted and dropped."""
    with bench_switch(STAR, "s1", INT) as switch:
        frame = _with_int(switch.data("h1", "h4"), hops=6, records=bytes(96))
        assert switch.send(frame, 1, 0) == []
        assert switch.counts().drops == {"malformed": 1}
