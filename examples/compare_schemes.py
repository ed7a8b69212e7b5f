# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""An incast of all hosts to one under several schemes, one after the other on one network that stays up.

The fullest switch holds less with BTS from the congested switch, and least with the pause cache at the senders' switch.

sudo .venv/bin/python examples/compare_schemes.py
"""

from __future__ import annotations

import sys
import time

import sfc_testbed as sfc


def deepest_buffer(net: sfc.Network, switch: str) -> int:
    """Return the most bytes that a switch held during an incast of 15 hosts to h16.

    The senders start within 40 us: a pause can only stop a sender whose first window is not sent yet.
    """
    messages = net.incast("h16", 15, 250_000, sync_us=40)
    deepest = 0
    while not net.wait(messages, seconds=0):
        deepest = max([deepest, sum(queue.held_bytes for queue in net.queues(switch))])
        time.sleep(0.02)
    return deepest


def main() -> None:
    with sfc.open_network("clos", scheme="irn", dilation=20_000, settings={"topology.hosts_per_tor": 8}) as net:
        for scheme in ("irn", "ingress-bts", "sfc"):
            net.set_scheme(scheme)
            print(f"{net.scheme}: at most {deepest_buffer(net, 'tor2') / 1000:.0f} KB in tor2")


if __name__ == "__main__":
    sys.exit(sfc.run_script(main))
