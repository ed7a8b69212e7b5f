# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of reading table entries: one test for each line of the specification, with its section."""

import json
from typing import Any

import pytest

from softswitch.p4runtime.messages import v1
from softswitch_tests.p4runtime.controller import (
    INSERT,
    Controller,
    Names,
    between,
    exact,
    lpm,
    optional,
    refused,
    ternary,
    update,
)
from softswitch_tests.p4runtime.frames import PLAIN, ROUTES, arrives
from softswitch_tests.p4runtime.running import Served
from softswitch_tests.p4runtime.test_profiles import group, member, one_shot
from softswitch_tests.pipeline.harness import PROGRAMS

NAMES = Names("controlled")
RATES = {"cir": 1_234_567, "cburst": 10, "pir": 2_345_678, "pburst": 20}
COUNTS = {"packet_count": 7, "byte_count": 700}


@pytest.fixture
def entries(primary: Controller, names: Names) -> dict[str, Any]:
    """Return the entries of the switch by a short name; the entry `fixed` is one of the program."""
    everything = {
        "exact": names.entry("In.exact_match", [exact(7)], names.action("In.forward", 2), metadata=b"mine"),
        "timed": names.entry(
            "In.exact_match", [exact(8)], names.action("In.rewrite", 3, 9), idle_timeout_ns=10**15, metadata=b"other"
        ),
        "cookie": names.entry("In.exact_match", [exact(9)], names.action("In.forward", 3), controller_metadata=5),
        "any route": names.entry("In.routes", action=names.action("In.route", 1)),
        "route": names.entry("In.routes", [lpm(0xAA0000000000, 8)], names.action("In.route", 2), counter_data=COUNTS),
        "wide": names.entry("In.policies", [ternary(0x100, 0xF00)], names.action("In.police", 2), priority=11),
        "narrow": names.entry(
            "In.policies",
            [ternary(0x100, 0xF00), optional(0x44), between(1, 2)],
            names.action("In.police", 3),
            priority=12,
            meter_config=RATES,
        ),
        "any policy": names.entry("In.policies", action=names.action("In.drop"), priority=1),
        "low": names.entry("In.policies", [ternary(0x100, 0xF00)], names.action("In.police", 1), priority=1),
    }
    primary.write(*(update(INSERT, table_entry=entry) for entry in everything.values()))
    everything["fixed"] = names.entry("In.fixed", [exact(1)], names.action("In.forward", 3), is_const=True)
    everything["fixed 2"] = names.entry("In.fixed", [exact(2)], names.action("In.drop"), is_const=True)
    for entry in everything.values():  # a read has them on request only
        entry.ClearField("counter_data")
        entry.ClearField("meter_config")
    return everything


ALL = ["exact", "timed", "cookie", "any route", "route", "wide", "narrow", "any policy", "low", "fixed", "fixed 2"]
EXACT_TABLE = ["exact", "timed", "cookie"]

SELECTED: list[tuple[str, Any, list[str]]] = [
    ("9.1.6 table_id: the default selects all tables, const ones included", v1.TableEntry(), ALL),
    ("9.1.6 table_id", NAMES.entry("In.exact_match"), EXACT_TABLE),
    ("9.1.6 table_id of a const table", NAMES.entry("In.fixed"), ["fixed", "fixed 2"]),
    ("9.1.6 table_id of a table without entries", NAMES.entry("In.plain"), []),
    ("9.1.6 match", NAMES.entry("In.exact_match", [exact(8)]), ["timed"]),
    ("9.1.6 match without an entry", NAMES.entry("In.exact_match", [exact(1)]), []),
    ("9.1.6 match is exact", NAMES.entry("In.routes", [lpm(0xAA0000000000, 16)]), []),
    ("9.1.6 match", NAMES.entry("In.routes", [lpm(0xAA0000000000, 8)]), ["route"]),
    ("9.1.6 match of a don't-care entry: the request selects all", NAMES.entry("In.routes"), ["any route", "route"]),
    ("9.1.6 match without priority", NAMES.entry("In.policies", [ternary(0x100, 0xF00)]), ["wide", "low"]),
    ("9.1.6 match and priority", NAMES.entry("In.policies", [ternary(0x100, 0xF00)], priority=1), ["low"]),
    ("9.1.6 priority", NAMES.entry("In.policies", priority=11), ["wide"]),
    ("9.1.6 priority of a don't-care entry", NAMES.entry("In.policies", priority=1), ["any policy", "low"]),
    ("9.1.6 priority without an entry", NAMES.entry("In.policies", priority=99), []),
    ("9.1.6 priority in a table without", NAMES.entry("In.exact_match", priority=1), []),
    (
        "9.1.6 action: the id of an action",
        NAMES.entry("In.exact_match", action=NAMES.action("In.forward")),
        ["exact", "cookie"],
    ),
    ("9.1.6 action: an id without entries", NAMES.entry("In.exact_match", action=NAMES.action("In.punt")), []),
    (
        "9.1.6 action: arguments do not filter",
        NAMES.entry("In.exact_match", action=NAMES.action("In.forward", 3)),
        ["exact", "cookie"],
    ),
    ("9.1.6 action: an unset id does not filter", NAMES.entry("In.exact_match", action=v1.Action()), EXACT_TABLE),
    ("9.1.6 action in a const table", NAMES.entry("In.fixed", action=NAMES.action("In.drop")), ["fixed 2"]),
    ("9.1.6 controller_metadata", NAMES.entry("In.exact_match", controller_metadata=5), ["cookie"]),
    ("9.1.6 controller_metadata", NAMES.entry("In.exact_match", controller_metadata=6), []),
    ("9.1.6 metadata", NAMES.entry("In.exact_match", metadata=b"mine"), ["exact"]),
    ("9.1.6 metadata", NAMES.entry("In.exact_match", metadata=b"min"), []),
    ("9.1.6 two filters", NAMES.entry("In.exact_match", action=NAMES.action("In.rewrite"), metadata=b"mine"), []),
    ("9.1.8 idle_timeout_ns is no filter", NAMES.entry("In.exact_match", idle_timeout_ns=1), EXACT_TABLE),
    ("9.1 is_const is no filter", NAMES.entry("In.exact_match", is_const=True), EXACT_TABLE),
]


@pytest.mark.parametrize(("wanted", "expected"), [row[1:] for row in SELECTED], ids=[row[0] for row in SELECTED])
def test_a_request_selects_entries(
    primary: Controller, entries: dict[str, Any], wanted: Any, expected: list[str]
) -> None:
    """The direct resources and the time since the last hit are unset, because the requests do not have them."""
    read = primary.read(table_entry=wanted)
    assert sorted(read, key=str) == sorted((entries[name] for name in expected), key=str)


DEFAULTS: list[tuple[str, Any, list[str]]] = [
    ("9.1.3 the default entry is always set", NAMES.entry("In.exact_match"), ["NoAction of In.exact_match"]),
    ("9.1.3 of the program", NAMES.entry("In.routes"), ["In.route of In.routes"]),
    ("9.1.3 const", NAMES.entry("In.fixed"), ["In.drop of In.fixed"]),
    ("9.1.3 of an indirect table", NAMES.entry("In.spread"), ["NoAction of In.spread"]),
    (
        "9.1.6 is_default_action of all tables",
        v1.TableEntry(),
        [
            "In.drop of In.fixed",
            "In.drop of In.policies",
            "In.route of In.routes",
            "NoAction of In.exact_match",
            "NoAction of In.plain",
            "NoAction of In.spread",
        ],
    ),
    ("9.1.6 is_default_action and action", NAMES.entry("In.policies", action=NAMES.action("In.police")), []),
    ("9.1.6 is_default_action and metadata", NAMES.entry("In.routes", metadata=b"x"), []),
    ("9.1.7 meter_config of a default entry", NAMES.entry("In.policies", meter_config={}), ["In.drop of In.policies"]),
    (
        "9.1.7 counter_data of a default entry, which has none",
        NAMES.entry("In.routes", counter_data={}),
        ["In.route of In.routes"],
    ),
]


@pytest.mark.parametrize(("wanted", "expected"), [row[1:] for row in DEFAULTS], ids=[row[0] for row in DEFAULTS])
def test_a_request_selects_default_entries(
    primary: Controller, names: Names, entries: dict[str, Any], wanted: Any, expected: list[str]
) -> None:
    by_id = {number: name for name, number in names.ids.items()}
    request = v1.TableEntry(is_default_action=True)
    request.MergeFrom(wanted)
    read = primary.read(table_entry=request)
    assert all(entry.is_default_action and not entry.match and not entry.priority for entry in read)
    assert all(not entry.HasField("counter_data") and not entry.HasField("meter_config") for entry in read)
    found = sorted(f"{by_id.get(e.action.action.action_id, 'nothing')} of {by_id[e.table_id]}" for e in read)
    assert found == expected


def test_a_default_entry_is_const_if_it_cannot_be_modified(primary: Controller, names: Names) -> None:
    """9.1: is_const is true if and only if the entry cannot be modified or deleted by the client."""
    read = primary.read(table_entry=v1.TableEntry(is_default_action=True))
    const = {entry.table_id for entry in read if entry.is_const}
    assert const == {names["In.fixed"], names["In.spread"], names["In.plain"]}


def test_a_modified_default_entry_is_read_and_reset(primary: Controller, names: Names) -> None:
    """9.1.3: a reset resets controller_metadata and metadata too."""
    request = v1.TableEntry(table_id=names["In.policies"], is_default_action=True)
    [original] = primary.read(table_entry=request)
    changed = names.entry(
        "In.policies", (), names.action("In.police", 3), is_default_action=True, metadata=b"m", controller_metadata=4
    )
    primary.modify(table_entry=changed)
    assert primary.read(table_entry=request) == [changed]
    request.metadata = b"m"
    assert primary.read(table_entry=request) == [changed]
    request.ClearField("metadata")
    primary.modify(table_entry=request)
    assert primary.read(table_entry=request) == [original]
    assert not original.metadata


REFUSED: list[tuple[str, Any]] = [
    ("9.1.6 table 0 with match", v1.TableEntry(match=[exact(7)])),
    ("9.1.6 table 0 with priority", v1.TableEntry(priority=11)),
    ("9.1.6 table 0 with action", v1.TableEntry(action={"action": NAMES.action("In.forward")})),
    ("9.1.6 table 0 with metadata", v1.TableEntry(metadata=b"mine")),
    ("9.1.6 table 0 with controller_metadata", v1.TableEntry(controller_metadata=5)),
    ("9.1.6 unknown table", v1.TableEntry(table_id=77)),
    ("9.1.6 an action as table", NAMES.entry("In.forward")),
    ("9.1.6 match with an unknown field", NAMES.entry("In.routes", [lpm(1, 48, 2)])),
    ("9.1.6 match of another kind", NAMES.entry("In.routes", [exact(1)])),
    ("9.1.6 match with a set don't-care", NAMES.entry("In.routes", [lpm(0, 0)])),
    ("9.1.6 match with a wide value", NAMES.entry("In.exact_match", [exact(1 << 16)])),
    ("9.1.2 action of another table", NAMES.entry("In.routes", action=NAMES.action("In.police"))),
    ("9.1.2 action of an indirect table", NAMES.entry("In.spread", action=NAMES.action("In.forward"))),
    ("9.1.3 default with match", NAMES.entry("In.exact_match", [exact(7)], is_default_action=True)),
    ("9.1.3 default with priority", NAMES.entry("In.policies", is_default_action=True, priority=1)),
    ("9.1.8 default with idle_timeout_ns", NAMES.entry("In.exact_match", is_default_action=True, idle_timeout_ns=1)),
    (
        "9.1.8 default with time_since_last_hit",
        NAMES.entry("In.exact_match", is_default_action=True, time_since_last_hit={}),
    ),
    ("9.1.8 time_since_last_hit without support", NAMES.entry("In.routes", time_since_last_hit={})),
    ("9.1.8 idle_timeout_ns without support", NAMES.entry("In.routes", idle_timeout_ns=1)),
]


@pytest.mark.parametrize("wrong", [row[1] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_wrong_request_is_refused(primary: Controller, wrong: Any) -> None:
    assert refused(primary.read, table_entry=wrong) == ["INVALID_ARGUMENT"]


@pytest.mark.parametrize("table", ["", "In.policies", "In.exact_match"])
@pytest.mark.parametrize("is_default", [False, True])
def test_counters_of_colors_are_unimplemented(primary: Controller, names: Names, table: str, is_default: bool) -> None:
    """9.4.3: a target without these counters returns UNIMPLEMENTED if meter_counter_data is set in a read."""
    number = names[table] if table else 0
    entry = v1.TableEntry(table_id=number, meter_counter_data={}, is_default_action=is_default)
    assert refused(primary.read, table_entry=entry) == ["UNIMPLEMENTED"]


# 9.1.7 Direct resources


def test_direct_resources_are_read_on_request(server: Served, primary: Controller, entries: dict[str, Any]) -> None:
    arrives(server, 1, ROUTES, address=1)
    request = v1.TableEntry(counter_data={}, meter_config={})
    by_key = {(entry.table_id, str(entry.match), entry.priority): entry for entry in primary.read(table_entry=request)}
    assert len(by_key) == len(entries)

    def read(name: str) -> Any:
        return by_key[(entries[name].table_id, str(entries[name].match), entries[name].priority)]

    assert read("route").counter_data == v1.CounterData(**COUNTS)
    assert read("any route").counter_data.packet_count == 1
    assert read("narrow").meter_config == v1.MeterConfig(**RATES)
    assert not read("wide").HasField("meter_config")  # the default configuration
    for name in ("exact", "fixed", "narrow"):
        assert not read(name).HasField("counter_data")  # no direct counter
    assert not read("route").HasField("meter_config")  # no direct meter
    assert [read(name).metadata for name in ("exact", "timed")] == [b"mine", b"other"]


def test_the_values_of_direct_resources_in_a_request_are_ignored(
    primary: Controller, names: Names, entries: dict[str, Any]
) -> None:
    request = names.entry("In.routes", list(entries["route"].match), counter_data={"packet_count": 99})
    assert [entry.counter_data.packet_count for entry in primary.read(table_entry=request)] == [7]


def test_a_large_rate_is_read_as_written(primary: Controller, entries: dict[str, Any]) -> None:
    for rate in (1, 999_999, 1_000_001, 10**9 + 1, 10**12 + 1, 123_456_789_012_345):
        config = v1.MeterConfig(cir=rate, cburst=1, pir=rate + 1, pburst=(1 << 32) - 1)
        changed = v1.TableEntry()
        changed.CopyFrom(entries["wide"])
        changed.meter_config.CopyFrom(config)
        primary.modify(table_entry=changed)
        request = v1.TableEntry(table_id=changed.table_id, priority=11, meter_config={})
        assert primary.read(table_entry=request) == [changed]


# 9.1.8 Idle timeouts


def test_time_since_last_hit_is_read_on_request_even_without_a_timeout(
    primary: Controller, names: Names, entries: dict[str, Any]
) -> None:
    for fields in ({"table_id": names["In.exact_match"]}, {}):
        read = primary.read(table_entry=v1.TableEntry(time_since_last_hit={}, **fields))
        assert len(read) == (len(EXACT_TABLE) if fields else len(ALL))
        for entry in read:
            assert entry.HasField("time_since_last_hit") == (entry.table_id == names["In.exact_match"])
        assert {entry.idle_timeout_ns for entry in read} == {0, 10**15}


# 9.1.4 Constant tables


def const_policies(primary: Controller) -> None:
    """Load the program with three const entries in the table with priorities."""
    program = json.loads((PROGRAMS / "controlled.json").read_bytes())
    table = next(table for pipe in program["pipelines"] for table in pipe["tables"] if table["name"] == "In.policies")
    table["entries"] = [
        {
            "match_key": [
                {"match_type": "ternary", "key": f"{key:#06x}", "mask": "0xffff"},
                {"match_type": "ternary", "key": "0x000000000000", "mask": "0x000000000000"},
                {"match_type": "range", "start": "0x0000", "end": "0x01ff"},
            ],
            "action_entry": {"action_id": table["action_ids"][0], "action_data": [f"{port:#x}"]},
            "priority": priority,
        }
        for key, port, priority in ((1, 1, 1), (2, 2, 2), (3, 3, 3))
    ]
    p4info = Names("controlled").p4info
    next(item for item in p4info.tables if item.preamble.name == "In.policies").is_const_table = True
    primary.set_pipeline("controlled", p4_device_config=json.dumps(program).encode(), p4info=p4info)


def test_const_entries_have_priorities_that_fall_in_their_order(primary: Controller, names: Names) -> None:
    """9.1.4: from N for the first of N entries to 1 for the last; a request for direct resources names them."""
    const_policies(primary)
    read = primary.read(table_entry=v1.TableEntry(table_id=names["In.policies"]))
    assert [(list(entry.match), entry.priority, entry.is_const) for entry in read] == [
        ([ternary(1, 0xFFFF)], 3, True),
        ([ternary(2, 0xFFFF)], 2, True),
        ([ternary(3, 0xFFFF)], 1, True),
    ]
    assert [entry.action.action for entry in read] == [names.action("In.police", port) for port in (1, 2, 3)]
    request = v1.TableEntry(table_id=names["In.policies"], priority=2)
    assert primary.read(table_entry=request) == [read[1]]
    changed = names.entry("In.policies", [ternary(2, 0xFFFF)], priority=2, meter_config=RATES)
    primary.modify(table_entry=changed)
    request.meter_config.SetInParent()
    [after] = primary.read(table_entry=request)
    assert (after.meter_config, after.is_const) == (v1.MeterConfig(**RATES), True)
    wrong = names.entry("In.policies", [ternary(2, 0xFFFF)], priority=3, meter_config=RATES)
    assert refused(primary.modify, table_entry=wrong) == ["NOT_FOUND"]


# 8.2 Read-write symmetry and 8.3 byte strings


def test_indirect_entries_are_read_as_written(server: Served, primary: Controller, names: Names) -> None:
    primary.insert(action_profile_member=member(names, 3, 2))
    primary.insert(action_profile_group=group(names, 4, (3, 1)))
    primary.insert(action_profile_member=member(names, 3, 1, "In.plain_members"))
    written = [
        names.entry("In.spread", [exact(1)], v1.TableAction(action_profile_member_id=3), metadata=b"m"),
        names.entry("In.spread", [exact(2)], v1.TableAction(action_profile_group_id=4)),
        names.entry("In.plain", [exact(1)], v1.TableAction(action_profile_member_id=3)),
    ]
    primary.write(*(update(INSERT, table_entry=entry) for entry in written))
    assert [entry for entry in primary.read(table_entry={}) if not entry.is_const] == written
    by_group = names.entry("In.spread", (), v1.TableAction(action_profile_group_id=4))
    assert primary.read(table_entry=by_group) == written[:2]  # 9.1.6: members and groups do not filter
    assert arrives(server, 1, PLAIN, 1)


def test_one_shot_groups_are_read_as_written_with_the_shortest_values(primary: Controller, names: Names) -> None:
    """9.2.3: actions are neither merged nor replaced by members; 8.3: values have the shortest form."""
    shortest = names.entry("In.spread", [exact(1)], one_shot(names, (1, 2), (1, 2), (2, 1)))
    for item in shortest.action.action_profile_action_set.action_profile_actions:
        item.watch_port = b"\x01"
    padded = v1.TableEntry()
    padded.CopyFrom(shortest)
    padded.match[0].exact.value = b"\x00\x00\x01"
    for item in padded.action.action_profile_action_set.action_profile_actions:
        item.watch_port = b"\x00\x01"
        item.action.params[0].value = b"\x00\x00" + item.action.params[0].value
    primary.insert(table_entry=padded)
    assert primary.read(table_entry=v1.TableEntry(table_id=names["In.spread"])) == [shortest]
    assert primary.read(action_profile_member={}) == []
    assert primary.read(action_profile_group={}) == []


def test_a_padded_request_selects_the_entry(primary: Controller, names: Names, entries: dict[str, Any]) -> None:
    padded = v1.FieldMatch(field_id=1, exact={"value": b"\x00\x00\x00\x08"})
    assert primary.read(table_entry=names.entry("In.exact_match", [padded])) == [entries["timed"]]
