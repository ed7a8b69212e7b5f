# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The same incast under several schemes, one after the other on one network that stays up.

sudo .venv/bin/python examples/compare_schemes.py
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # the tree, wherever this is started

from testbed.live.session.script import run_script
from testbed.live.session.session import LiveSession, open_network


def deepest_buffer(net: LiveSession, switch: str) -> int:
    """The most that a switch held during an incast of everybody to h1, who start within 40 us.

    All at one instant would have sent their windows before anybody can tell them to wait.
    """
    messages = net.incast("h1", 8, 250_000, sync_us=40)
    deepest = 0
    while not net.wait(messages, seconds=0):
        deepest = max([deepest, sum(queue.held_bytes for queue in net.queues(switch))])
        time.sleep(0.02)
    return deepest


def main() -> None:
    with open_network("star", scheme="irn", dilation=10_000, settings=["topology.hosts=9"]) as net:
        for scheme in ("irn", "ingress-bts", "sfc+none", "pfc"):
            net.set_scheme(scheme)
            print(f"{net.scheme}: at most {deepest_buffer(net, 's1') / 1000:.0f} KB in s1")


if __name__ == "__main__":
    sys.exit(run_script(main))
