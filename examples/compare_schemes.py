# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Which scheme keeps the buffer small in an incast? Three schemes, one after the other, on one live network.

    sudo .venv/bin/python examples/compare_schemes.py

The fullest switch holds less with BTS from the congested switch, and least with the pause cache at the senders' switch.
The senders start within 40 us: a pause can only stop a sender whose first window is not sent yet.
"""

import sys
import time

import sfc_testbed as sfc


def main() -> None:
    with sfc.open_network("clos", scheme="irn", dilation=20_000, settings={"topology.hosts_per_tor": 8}) as net:
        for scheme in ("irn", "ingress-bts", "sfc"):
            net.set_scheme(scheme)
            messages = net.incast("h16", 15, 250_000, sync_us=40)
            deepest = 0
            while not net.wait(messages, seconds=0):
                deepest = max(deepest, sum(queue.held_bytes for queue in net.queues("tor2")))
                time.sleep(0.02)
            print(f"{net.scheme}: at most {deepest / 1000:.0f} KB in tor2")


if __name__ == "__main__":
    sys.exit(sfc.run_script(main))
