# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of `--pcap`: the frames of each port in files that other programs can read."""

from pathlib import Path

from scapy.utils import RawPcapReader

from tests.softswitch.process.running import running
from tests.softswitch.programs.steered import steer


def _read(path: Path) -> list[tuple[int, bytes]]:
    """Return (time in ns, bytes) of each frame, read by scapy."""
    with RawPcapReader(str(path)) as file:
        assert (file.nano, file.linktype) == (True, 1)
        return [(meta.sec * 10**9 + meta.usec, bytes(frame)) for frame, meta in file]


def test_capture_holds_the_frames_of_each_port(tmp_path: Path) -> None:
    sent = [steer(2, tag=tag) for tag in range(3)]
    with running("--pcap", tmp_path) as switch:
        for frame in sent:
            switch.send(1, frame)
        received = [switch.receive(2) for _ in sent]
        assert switch.stop() == (0, "")
    incoming, outgoing = ([_read(path) for path in tmp_path.glob(f"*_{way}.pcap")] for way in ("in", "out"))
    assert (sorted(map(len, incoming)), sorted(map(len, outgoing))) == ([0, 3], [0, 3])
    inwards, outwards = (max(files, key=len) for files in (incoming, outgoing))
    assert [frame for _, frame in inwards] == sent
    assert [frame for _, frame in outwards] == received
    assert all(before < after for (before, _), (after, _) in zip(inwards, outwards, strict=True))
