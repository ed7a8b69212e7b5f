# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of capture files: writing and reading, truncated files, and files of other kinds."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from sfc_testbed.telemetry.captures.clock import CaptureClock, clock_in
from sfc_testbed.telemetry.captures.pcap import read_pcap
from sfc_testbed.telemetry.captures.pcapng import CaptureError, CaptureWriter, Direction, read_capture

CALENDAR_NS = 1_793_000_000_123_456_789
CLOCK = CaptureClock(1000, start_ns=CALENDAR_NS - 5_000_000, switch_epoch_ns=CALENDAR_NS - 9_000_000)
FRAMES = [(CALENDAR_NS + number, bytes(range(60 + number)), Direction(number % 3)) for number in range(5)]
SECTION = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)


def _capture(folder: Path) -> Path:
    path = folder / "tor1-eth3.pcapng"
    with CaptureWriter(path, "tor1-eth3", CLOCK) as writer:
        for frame in FRAMES:
            writer.write(*frame)
    return path


@pytest.mark.parametrize(
    "clock", [CLOCK, CaptureClock(1), CaptureClock(7, start_ns=0), CaptureClock(10_000_000, switch_epoch_ns=3)]
)
def test_a_clock_is_read_from_its_line(clock: CaptureClock) -> None:
    """The explanation for people may follow the line. Other lines describe no clock."""
    assert clock_in(clock.describe()) == clock
    assert clock_in(clock.explain()) == clock
    assert clock_in(f"x {clock.describe()}") is None
    assert clock_in("sfc-testbed dilation=0") is None


def test_a_written_capture_can_be_read(tmp_path: Path) -> None:
    frames = list(read_capture(_capture(tmp_path)))
    assert [(frame.time_ns, frame.frame, frame.direction) for frame in frames] == FRAMES
    assert {(frame.interface.name, frame.interface.clock) for frame in frames} == {("tor1-eth3", CLOCK)}
    assert CLOCK.model_us(frames[0].time_ns) == 5.0


def test_the_complete_frames_of_a_truncated_capture_are_read(tmp_path: Path) -> None:
    path = _capture(tmp_path)
    whole = path.read_bytes()
    counts = []
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        counts.append(len(list(read_capture(path))))
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, len(FRAMES) - 1)


def test_pcapng_files_of_other_programs_are_read(tmp_path: Path) -> None:
    """The file has big-endian byte order, times in microseconds and a block of an unknown type."""
    blocks = [
        (0x0A0D0D0A, struct.pack(">IHHq", 0x1A2B3C4D, 1, 0, -1)),
        (1, struct.pack(">HHI", 1, 0, 0)),
        (5, bytes(8)),
        (6, struct.pack(">5I", 0, 0, 7, 3, 3) + b"abc\0"),
    ]
    sizes = [struct.pack(">I", len(body) + 12) for _, body in blocks]
    pairs = zip(blocks, sizes, strict=True)
    path = tmp_path / "merged.pcapng"
    path.write_bytes(b"".join(struct.pack(">I", kind) + size + body + size for (kind, body), size in pairs))
    [(interface, time_ns, direction, frame)] = read_capture(path)
    assert (interface.clock, time_ns, direction, frame) == (None, 7000, Direction.UNKNOWN, b"abc")


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(("magic", "tick_ns"), [(0xA1B2C3D4, 1000), (0xA1B23C4D, 1)])
def test_files_of_tcpdump_are_read(order: str, magic: int, tick_ns: int, tmp_path: Path) -> None:
    """A truncated frame at the end is left out."""
    path = tmp_path / "h1-eth0.pcap"
    head = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, 1)
    records = [struct.pack(f"{order}4I", 3, tick, 4, 4) + b"abcd" for tick in (5, 6)]
    path.write_bytes(head + b"".join(records)[:-1])
    assert list(read_pcap(path)) == [(3_000_000_000 + 5 * tick_ns, b"abcd")]
    path.write_bytes(head[:10])
    assert list(read_pcap(path)) == []


@pytest.mark.parametrize(
    "content",
    [
        b"no capture at all, but long enough",
        b"\x0a\x0d\x0d\x0a" + bytes(24),
        SECTION + struct.pack("<3I", 6, 0x7FFFFFFC, 0),
        SECTION + struct.pack("<8I", 6, 32, 3, 0, 0, 0, 0, 32),
    ],
    ids=["text", "order", "size", "interface"],
)
def test_files_that_are_not_captures_are_refused(content: bytes, tmp_path: Path) -> None:
    """The message of both readers contains the name of the file."""
    path = tmp_path / "strange"
    path.write_bytes(content)
    for read in (read_capture, read_pcap):
        with pytest.raises(CaptureError, match="strange: "):
            list(read(path))
