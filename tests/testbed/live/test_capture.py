# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Live captures: their end, folders with shell or markup characters in their names, and captures of one flow."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from sfc_testbed.telemetry.captures.pcapng import Direction, read_capture
from sfc_testbed.testbed.live.capture import _wait_for_kernel
from sfc_testbed.testbed.system.child import RunChild
from tests.testbed import running

SMALL = ("incast", "--dilation", "10000", "--set", "message_bytes=20000")
SLOW = """
import os, signal
requests = 0
def answer(*_):
    global requests
    requests += 1
    counts = f"{requests} packets captured, {requests + 2} packets received by filter, 0 packets dropped by kernel"
    os.write(1, f"tcpdump: {counts}\\n".encode())  # print would fail when the signal interrupts the print below
signal.signal(signal.SIGUSR1, answer)
print("listening on h1-eth0", flush=True)
while True:
    signal.pause()
"""
"""A fake tcpdump that takes one packet per request, while the kernel always has two more packets."""


def test_a_capture_ends_with_the_packets_that_the_kernel_had_at_first(tmp_path: Path) -> None:
    """The kernel had three packets at the first request; later packets are not waited for."""
    log = tmp_path / "log.txt"
    child = RunChild("a slow tcpdump", [sys.executable, "-c", SLOW], "run", log, merges_stderr=True)
    try:
        child.wait_for_line("listening on", 30)
        _wait_for_kernel({child: 10.0})
    finally:
        child.stop()
    captured = [int(number) for number in re.findall(r"(\d+) packets captured", log.read_text())]
    assert captured == list(range(1, len(captured) + 1))
    assert 3 <= len(captured) < 30
    _wait_for_kernel({child: 10.0})  # returns, although the program has ended


@running.needs_mininet
@pytest.mark.parametrize(
    "name",
    ["two words", 'it\'s "$HOME"; exit 1', "q;id>X;", "$(touch X)`touch X`"],
    ids=["blank", "quotes", "separator", "substitution"],
)
def test_captures_are_written_below_any_folder(name: str, tmp_path: Path) -> None:
    out = tmp_path / name
    result = running.result_of(*SMALL, "--set", "degree=2", "--pcap", "h1,tor1:h1", "--out", str(out))
    assert result["flows"]["completed"] == 2
    [folder] = out.iterdir()
    host, port = (list(read_capture(folder / "pcaps" / f"{name}.pcapng")) for name in ("h1-eth0", "tor1-eth1"))
    for direction in (Direction.IN, Direction.OUT):
        other = Direction.OUT if direction is Direction.IN else Direction.IN
        frames = sorted(record.frame for record in host if record.direction is direction)
        assert frames == sorted(record.frame for record in port if record.direction is other)
        assert frames
    clocks = {record.interface.clock for record in (*host, *port)}
    assert all(clock is not None and clock.model_us(host[0].time_ns) is not None for clock in clocks)
    assert [path.name for path in (folder / "pcaps").iterdir() if path.suffix != ".pcapng"] == []
    assert "packets captured" in (folder / "logs" / "tcpdump-h1.log").read_text()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert not (running.ROOT / "X").exists()


@running.needs_mininet
def test_a_capture_of_a_flow_has_its_packets_on_all_hops(tmp_path: Path) -> None:
    """`trace` derives the flow's history from the capture."""
    result = running.result_of(*SMALL, "--set", "degree=3", "--pcap", "flow:2", "--out", str(tmp_path))
    assert result["flows"]["completed"] == 3
    [folder] = tmp_path.iterdir()
    frames = {path.name: [record.frame for record in read_capture(path)] for path in (folder / "pcaps").iterdir()}
    [source] = [name for name in frames if name.startswith("h") and name != "h16-eth0.pcapng"]
    assert len(frames[source]) == len(frames["h16-eth0.pcapng"]) >= 40
    assert len({frame[26:30] for frame in frames[source]}) == 2
    done = running.run("trace", "2", "--run", str(folder))
    assert done.returncode == 0, done.stderr
    assert "lost" not in done.stdout
    for event in ("sent", "queued", "arrived", "ACK sent", "ACK queued", "acknowledged"):
        assert event in done.stdout
