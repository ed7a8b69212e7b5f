# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads pcap files, which tcpdump writes, of either byte order and time resolution."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from sfc_testbed.telemetry.captures.pcapng import CaptureError

_HEADER_BYTES, _RECORD_BYTES = 24, 16
_NS_PER_TICK = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}
"""Time unit in ns by magic number: microseconds or nanoseconds."""
_NS_PER_S = 1_000_000_000
_LONGEST_FRAME_BYTES = 1 << 20


def read_pcap(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the time (ns) and the bytes of each frame. A truncated last frame is left out.

    Raise CaptureError if the file is not a pcap file or is damaged, and OSError if it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(_HEADER_BYTES)
        if len(head) < _HEADER_BYTES:
            return
        for order in "<>":
            tick_ns = _NS_PER_TICK.get(struct.unpack_from(f"{order}I", head)[0])
            if tick_ns is not None:
                break
        else:
            raise CaptureError(f"{path}: not a pcap file")
        record = struct.Struct(f"{order}4I")
        while len(head := file.read(_RECORD_BYTES)) == _RECORD_BYTES:
            seconds, ticks, length, _ = record.unpack(head)
            if length > _LONGEST_FRAME_BYTES:
                raise CaptureError(f"{path}: damaged (a frame of {length} B)")
            frame = file.read(length)
            if len(frame) < length:
                return
            yield seconds * _NS_PER_S + ticks * tick_ns, frame
