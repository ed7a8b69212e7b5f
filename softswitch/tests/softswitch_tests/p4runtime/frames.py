# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Frames for the program `controlled`: a header with table, key, address and color, and a payload."""

import struct
from typing import NamedTuple

from softswitch_tests.p4runtime.running import Served

EXACT, ROUTES, POLICIES, FIXED, SPREAD, PLAIN, DIGEST, ARRAYS = range(8)
PAYLOAD = bytes(range(50))


class Request(NamedTuple):
    """The header of a frame."""

    which: int
    key: int
    address: int
    color: int


def frame(which: int, key: int = 0, address: int = 0) -> bytes:
    return struct.pack(">BHHIB", which, key, address >> 32, address & 0xFFFFFFFF, 0) + PAYLOAD


def request_of(frame: bytes) -> Request:
    which, key, high, low, color = struct.unpack(">BHHIB", frame[:10])
    return Request(which, key, high << 32 | low, color)


def arrives(server: Served, port: int, which: int, key: int = 0, address: int = 0, *, enters: int = 1) -> Request:
    """Send a frame and return its header as it arrives at a port."""
    server.send(enters, frame(which, key, address))
    return request_of(server.receive(port))
