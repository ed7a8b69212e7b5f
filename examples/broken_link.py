# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Does a message survive a broken link? A link of a live network goes down while a message is on its way, and comes up.

    sudo .venv/bin/python examples/broken_link.py

The sender sends the lost packets again after a timeout.
"""

import sys
import time

import sfc_testbed as sfc


def main() -> None:
    with sfc.open_network("star", dilation=10_000, settings={"topology.hosts": 2}) as net:
        message = net.send("h1", "h2", 500_000)
        time.sleep(0.5)
        net.set_link("h2", "s1", up=False)
        print(f"done although the link is down: {net.wait([message], seconds=2)}")
        net.set_link("h2", "s1", up=True)
        print(f"done now: {net.wait([message], seconds=60)}")
        assert message.sent is not None
        print(f"{message.sent.figures.packets_resent} packets were sent again")


if __name__ == "__main__":
    sys.exit(sfc.run_script(main))
