# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compares hashes and checksums with independent implementations."""

import struct
import zlib
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softswitch.engine import SwitchEngine
from softswitch_tests.pipeline.harness import crc16, sent
from softswitch_tests.pipeline.test_l3 import checksum

PROGRAM = "hashing"


def request(which: int, a: int, b: int, c: int, d: int, e: int = 0, check: int = 0, rest: bytes = b"") -> bytes:
    return struct.pack(">BHIBQH", which, a << 12 | b, c, d << 5 | e, 0, check) + rest


def packed(a: int, b: int, c: int, d: int) -> bytes:
    """Return the input of the hashes: 51 bits, padded with zeros at the end."""
    return struct.pack(">HIB", a << 12 | b, c, d << 5)


def even(data: bytes) -> bytes:
    return data + bytes(len(data) % 2)


def xor16(data: bytes) -> int:
    result = 0
    for (word,) in struct.iter_unpack(">H", even(data)):
        result ^= word
    return result


HASHES: dict[int, Callable[[bytes], int]] = {
    0: crc16,
    1: zlib.crc32,
    2: lambda data: checksum(even(data)),
    3: xor16,
    4: lambda data: int.from_bytes(data, "big"),
    5: crc16,
    6: zlib.crc32,
    7: lambda data: 1000 + zlib.crc32(data) % 7,
    8: lambda data: 5,
    9: lambda data: 5 + zlib.crc32(data) % 29,
}


@pytest.mark.parametrize("which", HASHES)
@given(st.integers(0, 15), st.integers(0, 4095), st.integers(0, 0xFFFFFFFF), st.integers(0, 7))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hash_of_packed_bits(switch: SwitchEngine, which: int, a: int, b: int, c: int, d: int) -> None:
    """The result is (hash mod maximum) + base; a maximum of zero counts as one."""
    _, frame = sent(switch, request(which, a, b, c, d, e=29 if which == 9 else 0))
    assert int.from_bytes(frame[8:16], "big") == HASHES[which](packed(a, b, c, d))


def test_fields_of_invalid_headers_are_left_out(switch: SwitchEngine) -> None:
    """The checksum covers only fields of valid headers, as in BMv2."""
    _, frame = sent(switch, request(22, 0, 0, 0x01020304, 0, rest=b"rest"))
    assert int.from_bytes(frame[16:18], "big") == checksum(b"\1\2\3\4rest")


@pytest.mark.parametrize("payload", [b"", b"x", b"odd", b"even", bytes(range(255))])
def test_checksum_over_the_payload_is_updated_and_verified(switch: SwitchEngine, payload: bytes) -> None:
    """A payload of odd length is padded with a zero byte."""
    _, updated = sent(switch, request(20, 0, 0, 0xA0B0C0D0, 0, rest=b"\x11\x22" + payload))
    check = int.from_bytes(updated[16:18], "big")
    assert check == checksum(even(b"\xa0\xb0\xc0\xd0\x11\x22" + payload))
    for wrong in (0, 1):
        frame = request(21, 0, 0, 0xA0B0C0D0, 0, check=check ^ wrong, rest=b"\x11\x22" + payload)
        assert sent(switch, frame)[0] == 1 + wrong
