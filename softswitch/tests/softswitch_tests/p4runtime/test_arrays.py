# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of counters, meters and registers, of arrays and of table entries."""

from softswitch.p4runtime.messages import v1
from softswitch_tests.p4runtime.controller import DELETE, INSERT, MODIFY, Controller, Names, exact, lpm, refused, update
from softswitch_tests.p4runtime.frames import ARRAYS, POLICIES, ROUTES, arrives, frame
from softswitch_tests.p4runtime.running import Served

RATES = v1.MeterConfig(cir=1_234_567, cburst=10, pir=2_345_678, pburst=20)
LENGTH = len(frame(ARRAYS))


def test_counters_of_an_array(server: Served, primary: Controller, names: Names) -> None:
    counter = names["In.by_port"]
    for _ in range(3):
        arrives(server, 1, ARRAYS, enters=2)
    two = v1.CounterEntry(counter_id=counter, index={"index": 2})
    [value] = primary.read(counter_entry=two)
    assert (value.data.packet_count, value.data.byte_count) == (3, 3 * LENGTH)
    two.data.packet_count = 100
    primary.modify(counter_entry=two)
    arrives(server, 1, ARRAYS, enters=2)
    assert [item.data.packet_count for item in primary.read(counter_entry=v1.CounterEntry())] == [0, 0, 101, *[0] * 13]
    primary.modify(counter_entry=v1.CounterEntry(counter_id=counter, data={}))
    assert {item.data.packet_count for item in primary.read(counter_entry=v1.CounterEntry(counter_id=counter))} == {0}


def test_counter_of_an_entry(server: Served, primary: Controller, names: Names) -> None:
    key = [lpm(0xAA0000000000, 8)]
    entry = names.entry("In.routes", key, names.action("In.route", 1), counter_data={"packet_count": 40})
    primary.insert(table_entry=entry)
    arrives(server, 1, ROUTES, address=0xAA0000000001)
    direct = v1.DirectCounterEntry(table_entry=names.entry("In.routes", key))
    [value] = primary.read(direct_counter_entry=direct)
    assert (value.data.packet_count, value.data.byte_count) == (41, LENGTH)
    direct.data.packet_count = 7
    primary.modify(direct_counter_entry=direct)
    [read] = primary.read(table_entry=names.entry("In.routes", key, counter_data={}))
    assert read.counter_data.packet_count == 7


def test_meters_of_an_array_color_packets(server: Served, primary: Controller, names: Names) -> None:
    meter = v1.MeterEntry(meter_id=names["In.by_key"], index={"index": 1})
    assert arrives(server, 1, ARRAYS, 1).color == 0
    assert primary.read(meter_entry=meter) == [meter]
    meter.config.CopyFrom(RATES)
    primary.modify(meter_entry=meter)
    assert arrives(server, 1, ARRAYS, 1).color == 2
    assert primary.read(meter_entry=meter) == [meter]
    assert len(primary.read(meter_entry=v1.MeterEntry())) == 4
    meter.ClearField("config")
    primary.modify(meter_entry=meter)
    assert arrives(server, 1, ARRAYS, 1).color == 0
    primary.modify(meter_entry=v1.MeterEntry(meter_id=meter.meter_id, config=RATES))
    assert all(item.config == RATES for item in primary.read(meter_entry=v1.MeterEntry()))


def test_meter_of_an_entry(server: Served, primary: Controller, names: Names) -> None:
    rates = v1.MeterConfig(cir=1, cburst=1, pir=1, pburst=2)
    entry = names.entry("In.policies", [], names.action("In.police", 1), priority=1, meter_config=rates)
    primary.insert(table_entry=entry)
    assert [arrives(server, 1, POLICIES).color for _ in range(3)] == [0, 1, 2]
    request = names.entry("In.policies", priority=1, meter_config={})
    assert primary.read(table_entry=request) == [entry]
    direct = v1.DirectMeterEntry(table_entry=names.entry("In.policies", priority=1), config=RATES)
    primary.modify(direct_meter_entry=direct)
    assert primary.read(direct_meter_entry=v1.DirectMeterEntry(table_entry={})) == [direct]
    primary.modify(table_entry=names.entry("In.policies", [], names.action("In.police", 1), priority=1))
    assert primary.read(table_entry=request)[0].HasField("meter_config") is False
    assert [arrives(server, 1, POLICIES).color for _ in range(3)] == [0, 0, 0]


def test_registers_are_read_and_written(server: Served, primary: Controller, names: Names) -> None:
    arrives(server, 1, ARRAYS, 3, 0x0A0B)
    cell = v1.RegisterEntry(register_id=names["In.addresses"], index={"index": 3})
    [value] = primary.read(register_entry=cell)
    assert value.data.bitstring == b"\x0a\x0b"
    [signed, _] = primary.read(register_entry=v1.RegisterEntry(register_id=names["In.signs"]))
    assert signed.data.bitstring == b"\xfe"
    cell.data.bitstring = b"\x07"
    primary.modify(register_entry=cell)
    values = [item.data.bitstring for item in primary.read(register_entry=v1.RegisterEntry())]
    assert values[:8] == [b"\x00"] * 3 + [b"\x07"] + [b"\x00"] * 4
    assert len(values) == 10


def test_wrong_cells_and_values_are_refused(primary: Controller, names: Names) -> None:
    counter, meter, register = names["In.by_port"], names["In.by_key"], names["In.addresses"]
    falling = v1.MeterConfig(cir=2, cburst=1, pir=1, pburst=1)
    key = names.entry("In.exact_match", [exact(1)])
    cases = [
        (update(INSERT, counter_entry={"counter_id": counter}), "INVALID_ARGUMENT"),
        (update(MODIFY, counter_entry={"counter_id": 0}), "INVALID_ARGUMENT"),
        (update(MODIFY, counter_entry={"counter_id": counter, "index": {"index": -1}}), "INVALID_ARGUMENT"),
        (update(MODIFY, counter_entry={"counter_id": counter, "index": {"index": 16}}), "OUT_OF_RANGE"),
        (update(MODIFY, counter_entry={"counter_id": counter, "data": {"byte_count": -1}}), "INVALID_ARGUMENT"),
        (update(DELETE, meter_entry={"meter_id": meter}), "INVALID_ARGUMENT"),
        (update(MODIFY, meter_entry={"meter_id": meter, "config": falling}), "INVALID_ARGUMENT"),
        (update(MODIFY, meter_entry={"meter_id": meter, "config": {"cir": -1}}), "INVALID_ARGUMENT"),
        (update(MODIFY, meter_entry={"meter_id": meter, "config": {"eburst": 1}}), "INVALID_ARGUMENT"),
        (update(MODIFY, meter_entry={"meter_id": meter, "config": {"pburst": 1 << 32}}), "OUT_OF_RANGE"),
        (update(MODIFY, meter_entry={"meter_id": meter, "counter_data": {}}), "UNIMPLEMENTED"),
        (
            update(MODIFY, register_entry={"register_id": register, "data": {"bitstring": bytes([1, *[0] * 6])}}),
            "INVALID_ARGUMENT",
        ),
        (update(MODIFY, register_entry={"register_id": register, "data": {"bool": True}}), "INVALID_ARGUMENT"),
        (update(MODIFY, register_entry={"register_id": 5}), "INVALID_ARGUMENT"),
        (update(MODIFY, direct_counter_entry={"table_entry": key}), "NOT_FOUND"),
        (update(INSERT, direct_meter_entry={"table_entry": key}), "INVALID_ARGUMENT"),
    ]
    updates, expected = zip(*cases, strict=True)
    assert refused(primary.write, *updates) == list(expected)
    assert refused(primary.read, direct_counter_entry={"table_entry": key}) == ["NOT_FOUND"]
