# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs a switch between two veth pairs under `unshare --net` and prints the results as JSON.

The namespace with all its interfaces disappears when this process ends.
"""

import json
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.softswitch.programs.steered import report, steer

RATE_BPS = 20_000_000
DELAY_NS = 3_000_000
FRAMES = 300
PATIENCE_S = 20.0


def make_pair(outer: str, inner: str) -> socket.socket:
    """Create a veth pair that is up and sends no frames itself; return a socket on its outer end."""
    subprocess.run(["ip", "link", "add", outer, "type", "veth", "peer", "name", inner], check=True)
    for name in (outer, inner):
        subprocess.run(["ip", "link", "set", name, "up"], check=True)
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    end.bind((outer, 0))
    end.settimeout(PATIENCE_S)
    return end


def sizes() -> list[int]:
    return [70 + (i * 389) % 1_430 for i in range(FRAMES)]


def run(executable: str, directory: Path) -> dict[str, object]:
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    left, right = make_pair("left", "switch-l"), make_pair("right", "switch-r")
    (directory / "commands").write_text(f"port_rate 2 {RATE_BPS}\nport_delay 2 {DELAY_NS}\n")
    counters = directory / "statistics"
    files = ["--commands", str(directory / "commands"), "--statistics", str(counters)]
    process = subprocess.Popen(
        [executable, "-i", "1@switch-l", "-i", "2@switch-r", *files], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    before_ns = time.monotonic_ns()
    for tag, size in enumerate(sizes()):
        left.send(steer(2, size, tag=tag % 256))
    frames = [right.recv(2_048) for _ in range(FRAMES)]
    took_ns = time.monotonic_ns() - before_ns
    right.send(steer(1, 100, tag=9))
    back = left.recv(2_048)
    process.terminate()
    status = process.wait(PATIENCE_S)
    return {
        "status": status,
        "lengths": [len(frame) for frame in frames],
        "tags": [frame[-1] for frame in frames],
        "egress_us": [report(frame).egress_us for frame in frames],
        "took_ns": took_ns,
        "back": back[-1],
        "statistics": json.loads(counters.read_text()),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        print(json.dumps(run(sys.argv[1], Path(directory))))
