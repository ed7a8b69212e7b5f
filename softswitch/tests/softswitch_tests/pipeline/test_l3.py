# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of a plain L3 program: parse, checksum, tables, counters, deparse. Also tests the bounds of a header stack."""

import struct

import pytest

from softswitch.engine import SwitchEngine
from softswitch_tests.pipeline.harness import sent, switch_with

PROGRAM = "l3"


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


@pytest.fixture
def router(switch: SwitchEngine) -> SwitchEngine:
    """Return the switch with routes for 10.1.0.0/16 to port 3 and for 10.1.2.0/24 to port 4."""
    switch.command("table_add routes route 10.1.0.0/16 => 3 10.0.0.1")
    switch.command("table_add routes route 10.1.2.0/24 => 4 10.0.0.1")
    switch.command("table_add neighbours rewrite 10.0.0.1 => 02:00:00:00:00:99")
    return switch


def test_packet_is_routed_and_rewritten(router: SwitchEngine) -> None:
    port, frame = sent(router, ipv4_frame(0x0A010101), port=1)
    assert port == 3
    assert frame[:6] == bytes.fromhex("020000000099")
    assert frame[6:12] == bytes([0, 0, 0, 0, 0, 3])
    assert frame[22] == 63
    assert checksum(frame[14:34]) == 0
    assert frame[34:] == b"payload"


@pytest.mark.parametrize(
    "frame",
    [
        ipv4_frame(0x0B000001),
        ipv4_frame(0x0A010101, ttl=1),
        ipv4_frame(0x0A010101, broken=True),
        ipv4_frame(0x0A010101)[:33],
    ],
    ids=["miss", "expired TTL", "bad checksum", "runt"],
)
def test_packet_is_dropped(router: SwitchEngine, frame: bytes) -> None:
    assert router.step(0, frame, 0) == []


def test_surplus_stack_element_is_a_parser_error_and_stays_payload() -> None:
    """The vector v1model/headers-kinds tests other headers and parser errors."""
    frame, stack_out_of_bounds = b"\x01\x00" + b"\x00\x00\x10\x40" * 4 + b"x", 102
    with switch_with("headers") as switch:
        assert sent(switch, frame) == (stack_out_of_bounds, frame)
