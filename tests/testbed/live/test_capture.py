# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The end of a live capture, tested with a program that answers like tcpdump."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sfc_testbed.testbed.live.capture import _wait_for_kernel
from sfc_testbed.testbed.system.child import RunChild

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
