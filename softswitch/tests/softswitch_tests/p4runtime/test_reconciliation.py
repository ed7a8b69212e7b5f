# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the forwarding state that RECONCILE_AND_COMMIT keeps."""

import json
from typing import Any

from softswitch.p4runtime.messages import config, v1
from softswitch_tests.p4runtime.controller import Controller, Names, exact, lpm, refused
from softswitch_tests.p4runtime.frames import ARRAYS, EXACT, POLICIES, ROUTES, SPREAD, arrives
from softswitch_tests.p4runtime.running import Served
from softswitch_tests.p4runtime.test_profiles import one_shot
from softswitch_tests.p4runtime.test_replication import group
from softswitch_tests.pipeline.harness import PROGRAMS


def test_reconciliation_keeps_the_forwarding_state(server: Served, primary: Controller, names: Names) -> None:
    entry = names.entry("In.exact_match", [exact(1)], names.action("In.flood", 4), metadata=b"kept")
    spread = names.entry("In.spread", [exact(1)], one_shot(names, (3, 1)))
    primary.insert(table_entry=entry)
    primary.insert(table_entry=spread)
    primary.insert(packet_replication_engine_entry=group(4, [(2, 0)]))
    primary.set_pipeline("controlled", "RECONCILE_AND_COMMIT")
    assert primary.read(table_entry=v1.TableEntry(table_id=entry.table_id)) == [entry]
    assert arrives(server, 2, EXACT, 1)
    assert arrives(server, 3, SPREAD, 1)
    assert refused(primary.set_pipeline, "l3", "RECONCILE_AND_COMMIT") == ["INVALID_ARGUMENT"]
    assert arrives(server, 2, EXACT, 1)


def count_write_and_limit(server: Served, primary: Controller, names: Names) -> None:
    """Give each counter, register and direct meter of the program another state than its initial one."""
    route = names.entry("In.routes", [lpm(5, 48)], names.action("In.route", 3))
    primary.insert(table_entry=route)
    assert arrives(server, 3, ROUTES, address=5)
    assert arrives(server, 1, ARRAYS, 2, address=6, enters=3)
    rates = v1.MeterConfig(cir=1, cburst=1, pir=1, pburst=2)
    police = names.entry("In.policies", [], names.action("In.police", 1), priority=1, meter_config=rates)
    primary.insert(table_entry=police)


def state(primary: Controller) -> dict[str, Any]:
    """Return what the switch has counted, stored and configured."""
    return {
        "by_port": [item.data.packet_count for item in primary.read(counter_entry=v1.CounterEntry())],
        "registers": [item.data.bitstring for item in primary.read(register_entry=v1.RegisterEntry())],
        "routed": primary.read(direct_counter_entry=v1.DirectCounterEntry(table_entry={})),
        "policed": primary.read(direct_meter_entry=v1.DirectMeterEntry(table_entry={})),
    }


def test_reconciliation_keeps_counters_registers_and_direct_resources(
    server: Served, primary: Controller, names: Names
) -> None:
    count_write_and_limit(server, primary, names)
    before = state(primary)
    assert before["by_port"][3] == before["routed"][0].data.packet_count == 1
    assert before["registers"][2] == b"\x06"
    assert before["registers"][-2:] == [b"\xfe", b"\x00"]
    assert before["policed"][0].HasField("config")
    primary.set_pipeline("controlled", "RECONCILE_AND_COMMIT")
    assert state(primary) == before
    assert [arrives(server, 1, POLICIES).color for _ in range(3)] == [0, 1, 2]


def test_reconciliation_resets_what_the_new_program_declares_otherwise(
    server: Served, primary: Controller, names: Names
) -> None:
    count_write_and_limit(server, primary, names)
    before = state(primary)
    program, p4info = json.loads((PROGRAMS / "controlled.json").read_bytes()), Names("controlled").p4info
    [register] = [item for item in p4info.registers if item.preamble.name == "In.addresses"]
    [array] = [item for item in program["register_arrays"] if item["name"] == "In.addresses"]
    register.size = array["size"] = 6
    [meter] = p4info.direct_meters
    meter.spec.unit = config.MeterSpec.BYTES
    source = json.dumps(program).encode()
    primary.set_pipeline("controlled", "RECONCILE_AND_COMMIT", p4info=p4info, p4_device_config=source)
    after = state(primary)
    assert (after["by_port"], after["routed"]) == (before["by_port"], before["routed"])
    assert after["registers"] == [b"\x00"] * 6 + [b"\xfe", b"\x00"]
    assert [item.HasField("config") for item in after["policed"]] == [False]
