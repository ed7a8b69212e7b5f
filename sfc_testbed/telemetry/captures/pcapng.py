# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads and writes captures as pcapng files (draft-ietf-opsawg-pcapng).

Unlike pcap, pcapng has fields for a comment, the name of the interface and the direction of a frame. No library is
used, since the libraries for pcapng write neither the comment of a section nor the description of an interface.

Files that are written here have one section and one interface. Files that are read may have been merged, cut and saved
by Wireshark.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sfc_testbed.telemetry.captures.clock import CaptureClock, clock_in

_SECTION, _INTERFACE, _FRAME = 0x0A0D0D0A, 1, 6
_BYTE_ORDER = 0x1A2B3C4D
_ETHERNET = 1
_COMMENT, _IF_NAME, _IF_DESCRIPTION, _FLAGS, _APPLICATION, _IF_RESOLUTION = 1, 2, 3, 2, 4, 9
_NANOSECONDS = 9
_MICROSECONDS = 6
_BINARY_RESOLUTION = 0x80
_FINEST_RESOLUTION = 18
_NS_PER_S = 1_000_000_000
_LONGEST_BLOCK_BYTES = 1 << 24
_LEAST_BLOCK_BYTES = 12


class Direction(IntEnum):
    """The direction of a frame at an interface, with the numbers of pcapng."""

    UNKNOWN = 0
    IN = 1
    OUT = 2


class CaptureError(Exception):
    """A file is not a capture, or is damaged other than by truncation. The message is one line."""


@dataclass(frozen=True)
class Interface:
    """The interface at which frames were captured."""

    name: str
    clock: CaptureClock | None
    """Relation to model time. None if the file does not describe it."""
    ticks_per_s: int = _NS_PER_S


class CapturedFrame(NamedTuple):
    """A frame with the interface, time and direction of its capture."""

    interface: Interface
    time_ns: int
    direction: Direction
    frame: bytes


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    size = struct.pack("<I", len(body) + _LEAST_BLOCK_BYTES)
    return struct.pack("<I", kind) + size + body + size


class CaptureWriter:
    """A writer of the frames of one interface. Times are ns on the given clock and not negative."""

    def __init__(self, path: Path, interface: str, clock: CaptureClock) -> None:
        self._file = path.open("wb")
        section = _option(_COMMENT, clock.explain().encode()) + _option(_APPLICATION, b"SFC Testbed") + _option(0, b"")
        self._file.write(_block(_SECTION, struct.pack("<IHHq", _BYTE_ORDER, 1, 0, -1) + section))
        options = _option(_IF_NAME, interface.encode()) + _option(_IF_DESCRIPTION, clock.describe().encode())
        options += _option(_IF_RESOLUTION, bytes((_NANOSECONDS,))) + _option(0, b"")
        self._file.write(_block(_INTERFACE, struct.pack("<HHI", _ETHERNET, 0, 0) + options))

    def write(self, time_ns: int, frame: bytes, direction: Direction = Direction.UNKNOWN) -> None:
        head = struct.pack("<5I", 0, time_ns >> 32, time_ns & 0xFFFFFFFF, len(frame), len(frame))
        options = _option(_FLAGS, struct.pack("<I", direction)) + _option(0, b"") if direction else b""
        self._file.write(_block(_FRAME, head + frame + bytes(-len(frame) % 4) + options))

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> CaptureWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_capture(path: Path) -> Iterator[CapturedFrame]:
    """Yield the frames of a file in its order. A truncated last block is left out.

    Raise CaptureError if the file is not a pcapng file or is damaged, and OSError if it cannot be read.
    """
    with path.open("rb") as file:
        try:
            yield from _frames(file)
        except (struct.error, IndexError) as error:
            raise CaptureError(f"{path}: damaged ({error})") from error
        except CaptureError as error:
            raise CaptureError(f"{path}: {error}") from None


def _frames(file: BinaryIO) -> Iterator[CapturedFrame]:
    order = ""
    interfaces: list[Interface] = []
    while len(head := file.read(_LEAST_BLOCK_BYTES)) == _LEAST_BLOCK_BYTES:
        if head[:4] == struct.pack(">I", _SECTION):  # the same in both byte orders
            order = _byte_order(head[8:])
            interfaces = []
        elif not order:
            raise CaptureError("not a pcapng file")
        kind, size = struct.unpack_from(f"{order}II", head)
        if size % 4 or not _LEAST_BLOCK_BYTES <= size <= _LONGEST_BLOCK_BYTES:
            raise CaptureError(f"damaged (a block of {size} B)")
        rest = file.read(size - _LEAST_BLOCK_BYTES)
        if len(rest) < size - _LEAST_BLOCK_BYTES:
            return
        body = (head[8:] + rest)[:-4]
        if kind == _INTERFACE:
            interfaces.append(_interface(body, order))
        elif kind == _FRAME:
            yield _frame(body, order, interfaces)


def _byte_order(magic: bytes) -> str:
    for order in "<>":
        if magic == struct.pack(f"{order}I", _BYTE_ORDER):
            return order
    raise CaptureError("not a pcapng file")


def _options(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        code, size = struct.unpack_from(f"{order}HH", data, at)
        if code == 0:
            return
        yield code, data[at + 4 : at + 4 + size]
        at += 4 + size + -size % 4


def _interface(body: bytes, order: str) -> Interface:
    (link_type,) = struct.unpack_from(f"{order}H", body)
    if link_type != _ETHERNET:
        raise CaptureError(f"link type {link_type} is not Ethernet")
    options = dict(_options(body[8:], order))
    resolution = options.get(_IF_RESOLUTION, bytes((_MICROSECONDS,)))[0]
    if resolution & _BINARY_RESOLUTION or resolution > _FINEST_RESOLUTION:
        raise CaptureError(f"time resolution {resolution} is not supported")
    name = options.get(_IF_NAME, b"").decode(errors="replace")
    return Interface(name, clock_in(options.get(_IF_DESCRIPTION, b"").decode(errors="replace")), 10**resolution)


def _frame(body: bytes, order: str, interfaces: list[Interface]) -> CapturedFrame:
    number, high, low, length, _ = struct.unpack_from(f"{order}5I", body)
    if number >= len(interfaces) or length > len(body) - 20:
        raise CaptureError("damaged (a frame is longer than its block or names an unknown interface)")
    interface = interfaces[number]
    options = dict(_options(body[20 + length + -length % 4 :], order))
    flags = struct.unpack(f"{order}I", options[_FLAGS])[0] if _FLAGS in options else 0
    direction = Direction(flags & 3) if flags & 3 in (Direction.IN, Direction.OUT) else Direction.UNKNOWN
    ticks = high << 32 | low
    return CapturedFrame(interface, ticks * _NS_PER_S // interface.ticks_per_s, direction, body[20 : 20 + length])
