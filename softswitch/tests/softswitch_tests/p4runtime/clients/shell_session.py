# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A session of p4runtime-shell: `shell_session.py ADDRESS P4INFO JSON`. See test_clients.py for its other half."""

import json
import sys
from typing import Any

import p4runtime_sh.shell as sh

DEVICE_ID = 3
PATIENCE_S = 60


def exact(key: int, action: str, **params: int) -> Any:
    entry = sh.TableEntry("In.exact_match")(action=action)
    entry.match["hdr.h.key"] = str(key)
    for name, value in params.items():
        entry.action[name] = str(value)
    entry.insert()
    return entry


def configure() -> None:
    """Write an entity of each kind."""
    exact(1, "In.forward", port=2)
    exact(2, "In.punt", reason=5)
    exact(3, "In.flood", group=7)
    exact(4, "In.copy_to", session=50)
    route = sh.TableEntry("In.routes")(action="In.route")
    route.match["hdr.h.address"] = "00:00:00:00:00:05/48"
    route.action["port"] = "3"
    route.insert()
    sh.MulticastGroupEntry(7).add(2, 1).add(3, 1).insert()
    sh.CloneSessionEntry(50).add(3, 1).insert()
    sh.DigestEntry("learnt_t").insert()
    meter = sh.MeterEntry("In.by_key")
    meter.index, meter.cir, meter.cburst, meter.pir, meter.pburst = 1, 1000, 100, 2000, 200
    meter.modify()


def first(items: Any) -> Any:
    return next(iter(items))


def observed(packets: Any, digests: Any) -> dict[str, Any]:
    """Return what the switch reports after the frames of the test."""
    packet = first(packets.sniff(timeout=3)).packet
    digest = first(digests.sniff(timeout=3)).digest
    sh.PacketOut(payload=b"\x00" * 10 + b"from the shell", egress_port="2").send()
    counter = sh.CounterEntry("In.by_port")
    counter.index = 1
    direct = sh.DirectCounterEntry("In.routed")
    direct.table_entry.match["hdr.h.address"] = "00:00:00:00:00:05/48"
    meter = sh.MeterEntry("In.by_key")
    meter.index = 1
    return {
        "entries": len(list(sh.TableEntry("In.exact_match").read())),
        "packet_in": [packet.payload.hex(), [item.value.hex() for item in packet.metadata]],
        "digest": [member.bitstring.hex() for member in digest.data[0].struct.members],
        "counter": first(counter.read()).packet_count,
        "direct_counter": first(direct.read()).packet_count,
        "meter": first(meter.read()).pburst,
    }


def main() -> None:
    address, p4info, device_config = sys.argv[1:]
    config = sh.FwdPipeConfig(p4info, device_config)
    sh.setup(device_id=DEVICE_ID, grpc_addr=address, election_id=(0, 1), config=config, verbose=False)
    configure()
    packets, digests = sh.PacketIn(), sh.DigestList()
    print("configured", flush=True)
    input()
    print(json.dumps(observed(packets, digests)), flush=True)
    sh.teardown()


main()
