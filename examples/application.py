# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How does an ordinary program fare beside an incast? A TCP client and its server, unchanged, on hosts of the network.

    sudo .venv/bin/python examples/application.py

The hosts are Mininet's: `popen` starts any program in a host's network. Programs see the slowed-down network, here
10 000 times slower, so a round trip of 10 us takes 0.1 s.
"""

import subprocess
import sys

import sfc_testbed as sfc

SERVER = """
import socket
with socket.create_server(("", 5000)) as server:
    print("ready", flush=True)
    while True:
        connection, _ = server.accept()
        with connection:
            connection.sendall(connection.recv(100))
"""
CLIENT = """
import socket, sys, time
start = time.monotonic()
with socket.create_connection((sys.argv[1], 5000)) as connection:
    connection.sendall(b"a question")
    connection.recv(100)
print(f"{time.monotonic() - start:.3f}")
"""


def main() -> None:
    with sfc.open_network("clos", scheme="sfc", dilation=10_000) as net:
        server = net.node("h8").popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
        server.stdout.readline()
        for name in ("idle network", "beside an incast"):
            messages = net.incast("h8", 6, 250_000) if name != "idle network" else []
            client = net.node("h1").popen(
                [sys.executable, "-c", CLIENT, str(net.host("h8").ip)], stdout=subprocess.PIPE, text=True
            )
            answer, _ = client.communicate(timeout=60)
            print(f"{name}: connected, asked and answered in {float(answer) * 1e6 / 10_000:.1f} us of model time")
            net.wait(messages)


if __name__ == "__main__":
    sys.exit(sfc.run_script(main))
