# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""One end of an iperf3 test, driven by its Python binding.

`python -m testbed.live.iperf3_peer server|client ADDRESS PORT SECONDS [UDP_BITS_PER_S]`.

Runs inside a host's network namespace. Prints `ready` and, at the end, one line of JSON with what iperf3 measured.
"""

from __future__ import annotations

import json
import sys

import iperf3


def serve(address: str, port: int) -> dict[str, object]:
    """Serves one test."""
    server = iperf3.Server()
    server.bind_address = address
    server.port = port
    server.verbose = False
    print("ready", flush=True)
    return {"error": server.run().error}


def send(address: str, port: int, seconds: int, udp_bps: int | None = None) -> dict[str, object]:
    """Sends for so long (wall) to the server, TCP unless there is a rate of UDP; bits per second on the wall clock."""
    client = iperf3.Client()
    client.server_hostname = address
    client.port = port
    client.duration = seconds
    client.verbose = False
    if udp_bps is not None:
        client.protocol = "udp"
        client.bandwidth = udp_bps
    print("ready", flush=True)
    result = client.run()
    if result.error:
        return {"error": result.error}
    if udp_bps is not None:
        return {"error": None, "sent_bps": result.bps, "lost_percent": result.lost_percent}
    return {
        "error": None,
        "sent_bps": result.sent_bps,
        "received_bps": result.received_bps,
        "sent_bytes": result.sent_bytes,
        "retransmits": result.retransmits,
    }


def main() -> int:
    role, address, port, seconds, *udp_bps = sys.argv[1:]
    if role == "server":
        found = serve(address, int(port))
    else:
        found = send(address, int(port), int(seconds), *map(int, udp_bps))
    print(json.dumps({"role": role, **found}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
