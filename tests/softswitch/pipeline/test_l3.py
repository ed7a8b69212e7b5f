# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of a plain L3 program: parse, checksum, LPM and exact tables, counters, deparse."""

from __future__ import annotations

import struct

from tests.softswitch.pipeline.harness import Pipeline

PROGRAM = "l3"
NEXT_HOP = 0x0A000001


def checksum(header: bytes) -> int:
    """Return the checksum of RFC 1071, implemented independently of the code under test."""
    total: int = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4_frame(dst: int, ttl: int = 64, payload: bytes = b"payload", broken: bool = False) -> bytes:
    header = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(payload), 7, 0x4000, ttl, 17, 0, 0x0A0000FE, dst)
    total = checksum(header) ^ (1 if broken else 0)
    header = header[:10] + struct.pack(">H", total) + header[12:]
    return bytes(6) + bytes(6) + b"\x08\x00" + header + payload


def with_routes(pipeline: Pipeline) -> Pipeline:
    assert pipeline.add("routes", [(0x0A010000, 16)], "route", [3, NEXT_HOP]) == 0
    assert pipeline.add("routes", [(0x0A010200, 24)], "route", [4, NEXT_HOP]) == 1
    assert pipeline.add("neighbours", [NEXT_HOP], "rewrite", [0x020000000099]) == 0
    return pipeline


def test_packet_is_routed_and_rewritten(pipeline: Pipeline) -> None:
    sent = with_routes(pipeline).send(ipv4_frame(0x0A010101), port=1)
    assert sent is not None
    port, frame = sent
    assert port == 3
    assert frame[:6] == bytes.fromhex("020000000099")
    assert frame[6:12] == bytes([0, 0, 0, 0, 0, 3])
    assert frame[22] == 63
    assert checksum(frame[14:34]) == 0
    assert frame[34:] == b"payload"


def test_longest_prefix_wins_until_it_is_deleted(pipeline: Pipeline) -> None:
    """The /24 takes precedence; its deletion makes the /16 match again."""
    with_routes(pipeline)
    frame = ipv4_frame(0x0A010203)
    assert (pipeline.send(frame) or (0,))[0] == 4
    assert pipeline.lib.sw_table_delete(pipeline.handle, pipeline.table("routes"), 1) == 0
    assert (pipeline.send(frame) or (0,))[0] == 3


def test_miss_expired_ttl_bad_checksum_and_runt_are_dropped(pipeline: Pipeline) -> None:
    with_routes(pipeline)
    good = ipv4_frame(0x0A010101)
    assert pipeline.send(ipv4_frame(0x0B000001)) is None
    assert pipeline.send(ipv4_frame(0x0A010101, ttl=1)) is None
    assert pipeline.send(ipv4_frame(0x0A010101, broken=True)) is None
    assert pipeline.send(good[:33]) is None
    assert pipeline.send(good) is not None


def test_counters_count_packets_and_frame_bytes(pipeline: Pipeline) -> None:
    """The indexed counter counts every packet with a valid index, the direct counter every hit."""
    with_routes(pipeline)
    frame = ipv4_frame(0x0A010101)
    for port in (1, 1, 2, 9):
        pipeline.send(frame, port=port)
    assert pipeline.read_counter("by_port", 1) == (2, 2 * len(frame))
    assert pipeline.read_counter("by_port", 2) == (1, len(frame))
    assert pipeline.read_counter("by_route", 0) == (4, 4 * len(frame))
    assert pipeline.read_counter("by_route", 1) == (0, 0)
