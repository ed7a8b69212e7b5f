# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""When a capture may end: a program that answers as tcpdump does stands for it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from testbed.live.capture import _wait_for_kernel
from testbed.system.child import Child

SLOW = """
import signal
asked = 0
def answer(*_):
    global asked
    asked += 1
    counts = f"{asked} packets captured, {asked + 2} packets received by filter, 0 packets dropped by kernel"
    print(f"tcpdump: {counts}", flush=True)
signal.signal(signal.SIGUSR1, answer)
print("listening on h1-eth0", flush=True)
while True:
    signal.pause()
"""
"""Takes a packet whenever it is asked, and always has two yet to come."""


def test_a_capture_ends_with_what_the_kernel_had_taken_for_it(tmp_path: Path) -> None:
    """Three packets when it was first asked: it is asked until it has them, and not until there are no more."""
    log = tmp_path / "log.txt"
    child = Child("a slow tcpdump", [sys.executable, "-c", SLOW], "run", log, errors_are_lines=True)
    try:
        child.wait_for_line("listening on", 30)
        _wait_for_kernel({child: 10.0})
    finally:
        child.stop()
    captured = [int(number) for number in re.findall(r"(\d+) packets captured", log.read_text())]
    assert captured == list(range(1, len(captured) + 1))
    assert 3 <= len(captured) < 30
    _wait_for_kernel({child: 10.0})  # one that has ended is not asked
