# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A session of p4net's client: `p4net_session.py ADDRESS P4INFO JSON`. See test_clients.py for its other half."""

import json
import queue
import sys
from pathlib import Path
from typing import Any

from p4net.control import P4RuntimeClient

DEVICE_ID = 3
PATIENCE_S = 60.0


def configure(client: P4RuntimeClient) -> None:
    """Write an entity of each kind that p4net knows."""
    actions: list[tuple[int, str, dict[str, object]]] = [
        (1, "In.forward", {"port": 2}),
        (2, "In.punt", {"reason": 5}),
        (3, "In.flood", {"group": 7}),
    ]
    for key, action, params in actions:
        client.insert_table_entry("In.exact_match", {"hdr.h.key": key}, action, params, timeout=PATIENCE_S)
    route = {"hdr.h.address": "00:00:00:00:00:05/48"}
    client.insert_table_entry("In.routes", route, "In.route", {"port": 3}, timeout=PATIENCE_S)
    client.add_multicast_group(7, [2, 3], timeout=PATIENCE_S)


def observed(client: P4RuntimeClient, packets: "queue.Queue[tuple[bytes, dict[str, int]]]") -> dict[str, Any]:
    """Return what the switch reports after the frames of the test."""
    payload, metadata = packets.get(timeout=PATIENCE_S)
    client.send_packet_out(b"\x00" * 10 + b"from p4net", {"egress_port": 2, "unused": 0})
    return {
        "entries": len(client.list_table_entries("In.exact_match", timeout=PATIENCE_S)),
        "groups": client.list_multicast_groups(timeout=PATIENCE_S),
        "packet_in": [payload.hex(), [metadata["ingress_port"], metadata["reason"]]],
        "counter": client.read_counter("In.by_port", 1, timeout=PATIENCE_S).packet_count,
    }


def main() -> None:
    address, p4info, device_config = sys.argv[1:]
    packets: queue.Queue[tuple[bytes, dict[str, int]]] = queue.Queue()
    client = P4RuntimeClient(address, DEVICE_ID)
    client.connect(timeout=PATIENCE_S)
    with client:
        client.set_pipeline_config(bmv2_json=Path(device_config), p4info=Path(p4info), timeout=PATIENCE_S)
        client.on_packet_in(lambda *packet: packets.put(packet))
        configure(client)
        print("configured", flush=True)
        input()
        print(json.dumps(observed(client, packets)), flush=True)
        input()


main()
