# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What happens in the switch during an incast? Look into it on a live network while the messages are on their way.

    sudo .venv/bin/python examples/incast.py

The network is 10 000 times slower than the model. All times are times of the model.
"""

import sys
import time

import sfc_testbed as sfc


def main() -> None:
    with sfc.open_network("clos", scheme="sfc", dilation=10_000) as net:
        messages = net.incast("h8", 7, 250_000, sync_us=10)
        deepest = 0
        while not net.wait(messages, seconds=0):
            deepest = max([deepest, *(queue.held_bytes for queue in net.queues("tor2"))])
            time.sleep(0.02)
        print(f"deepest queue of tor2: {deepest} bytes")
        for message in messages:
            print(f"{message.flow.src}: {message.fct_us:.1f} us, slowdown {message.slowdown:.2f}")
        signals = net.signals_of_scheme()
        print(f"{sum(signal.obeyed for signal in signals)} of {len(signals)} BTS were obeyed")


if __name__ == "__main__":
    sys.exit(sfc.run_script(main))
