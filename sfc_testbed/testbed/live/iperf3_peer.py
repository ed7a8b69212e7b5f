# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The client or the server of an iperf3 test, run by iperf3's Python binding.

`python -m sfc_testbed.testbed.live.iperf3_peer server|client ADDRESS PORT SECONDS [UDP_BITS_PER_S]`.

Runs inside a host's network namespace. Prints `ready` and, at the end, one line of JSON with what iperf3 measured.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import iperf3

_DATAGRAM_BYTES = 1448
"""The payload of a UDP datagram, which fits into one frame of every topology; the binding's default takes 46 frames."""


def serve(address: str, port: int) -> dict[str, object]:
    """Serve one test; return how many payload bytes arrived, and within which time."""
    server = iperf3.Server()
    server.bind_address = address
    server.port = port
    server.verbose = False
    print("ready", flush=True)
    result = server.run()
    if result.error:
        return {"error": result.error}
    return {"error": None, "received_bytes": _payload_bytes(result), "seconds": _seconds(result)}


def send(address: str, port: int, seconds: int, udp_bps: int | None = None) -> dict[str, object]:
    """Send to the server for some seconds of wall time, over UDP at `udp_bps` or else over TCP; return the figures.

    Rates are in bits per second of wall time. The sent bytes were accepted by the client's socket, but may still be
    in its buffer. Only the receiver's figures tell how many bytes crossed the network.
    """
    client = iperf3.Client()
    client.server_hostname = address
    client.port = port
    client.duration = seconds
    client.verbose = False
    if udp_bps is not None:
        client.protocol = "udp"
        client.bandwidth = udp_bps
        client.blksize = _DATAGRAM_BYTES
    print("ready", flush=True)
    result = client.run()
    if result.error:
        return {"error": result.error}
    if udp_bps is not None:
        return {"error": None, "sent_bytes": _payload_bytes(result), "lost_percent": result.lost_percent}
    return {
        "error": None,
        "received_bps": result.received_bps,
        "received_bytes": result.received_bytes,
        "sent_bytes": result.sent_bytes,
        "retransmits": result.retransmits,
    }


def _payload_bytes(result: Any) -> int:
    """Return what this end sent or received. The sums at the end of a UDP test differ between versions of iperf3."""
    return sum(interval["sum"]["bytes"] for interval in result.json["intervals"])


def _seconds(result: Any) -> float:
    return max((interval["sum"]["end"] for interval in result.json["intervals"]), default=0.0)


def main() -> int:
    role, address, port, seconds, *udp_bps = sys.argv[1:]
    if role == "server":
        measurement = serve(address, int(port))
    else:
        measurement = send(address, int(port), int(seconds), *map(int, udp_bps))
    print(json.dumps({"role": role, **measurement}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
