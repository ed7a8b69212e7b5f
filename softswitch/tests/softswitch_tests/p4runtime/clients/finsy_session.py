# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A session of finsy: `finsy_session.py ADDRESS P4INFO JSON`. See test_clients.py for its other half."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import finsy as fy

DEVICE_ID = 3
PATIENCE_S = 60


async def configure(switch: fy.Switch) -> None:
    """Write an entity of each kind."""
    actions = {
        1: fy.P4TableAction("In.forward", port=2),
        2: fy.P4TableAction("In.punt", reason=5),
        3: fy.P4TableAction("In.flood", group=7),
        4: fy.P4TableAction("In.copy_to", session=50),
    }
    await switch.insert(
        [
            fy.P4TableEntry("In.exact_match", match=fy.P4TableMatch({"hdr.h.key": key}), action=action)
            for key, action in actions.items()
        ]
    )
    await switch.insert(
        [
            fy.P4TableEntry("In.routes", match=route(), action=fy.P4TableAction("In.route", port=3)),
            fy.P4MulticastGroupEntry(7, replicas=[(2, 1), (3, 1)]),
            fy.P4CloneSessionEntry(50, replicas=[(3, 1)]),
            fy.P4DigestEntry("learnt_t", max_list_size=1, max_timeout_ns=0, ack_timeout_ns=10**9),
        ]
    )
    config = fy.P4MeterConfig(cir=1000, cburst=100, pir=2000, pburst=200)
    await switch.modify([fy.P4MeterEntry("In.by_key", index=1, config=config)])


def route() -> fy.P4TableMatch:
    return fy.P4TableMatch({"hdr.h.address": (5, 48)})


async def read_one(switch: fy.Switch, entity: Any) -> Any:
    return await anext(aiter(switch.read(entity)))


async def observed(switch: fy.Switch, packet: fy.P4PacketIn, digest: fy.P4DigestList) -> dict[str, Any]:
    """Return what the switch reports after the frames of the test."""
    await switch.write([fy.P4DigestListAck(digest.digest_id, digest.list_id)])
    await switch.write([fy.P4PacketOut(b"\x00" * 10 + b"from finsy", egress_port=2, unused=0)])
    entries = [entry async for entry in switch.read(fy.P4TableEntry("In.exact_match"))]
    counter = await read_one(switch, fy.P4CounterEntry("In.by_port", index=1))
    entry = fy.P4TableEntry("In.routes", match=route())
    direct = await read_one(switch, fy.P4DirectCounterEntry(table_entry=entry))
    meter = await read_one(switch, fy.P4MeterEntry("In.by_key", index=1))
    values = digest.data[0]
    return {
        "entries": len(entries),
        "packet_in": [packet.payload.hex(), [packet["ingress_port"], packet["reason"]]],
        "digest": list(values.values()) if isinstance(values, dict) else list(values),
        "counter": counter.data.packet_count,
        "direct_counter": direct.data.packet_count,
        "meter": meter.config.pburst,
    }


async def main() -> None:
    address, p4info, device_config = sys.argv[1:]
    options = fy.SwitchOptions(p4info=Path(p4info), p4blob=Path(device_config), device_id=DEVICE_ID)
    async with fy.Switch("switch", address, options) as switch:
        await configure(switch)
        packets = asyncio.ensure_future(anext(aiter(switch.read_packets())))
        digests = asyncio.ensure_future(anext(aiter(switch.read_digests("learnt_t"))))
        await asyncio.sleep(0)  # both queues are open
        print("configured", flush=True)
        await asyncio.to_thread(input)
        packet, digest = await asyncio.wait_for(asyncio.gather(packets, digests), PATIENCE_S)
        print(json.dumps(await observed(switch, packet, digest)), flush=True)


asyncio.run(main())
