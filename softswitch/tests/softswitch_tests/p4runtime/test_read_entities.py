# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of reading entities other than table entries: one test for each line of the specification, with its section."""

from typing import Any

import grpc
import pytest

from softswitch.p4runtime.messages import v1
from softswitch_tests.p4runtime.controller import (
    DEVICE_ID,
    INSERT,
    MODIFY,
    Controller,
    Names,
    codes,
    exact,
    lpm,
    refused,
    ternary,
    update,
)
from softswitch_tests.p4runtime.frames import ARRAYS, DIGEST, ROUTES, arrives
from softswitch_tests.p4runtime.running import Served, served
from softswitch_tests.p4runtime.test_arrays import RATES
from softswitch_tests.p4runtime.test_profiles import group, member
from softswitch_tests.p4runtime.test_replication import group as multicast
from softswitch_tests.p4runtime.test_replication import session

NAMES = Names("controlled")
Selection = dict[str, Any]
"""The fields of a request."""


def requests(*rows: tuple[str, Selection, Any]) -> pytest.MarkDecorator:
    """Return a mark that runs a test with each request, under the section of the specification."""
    return pytest.mark.parametrize(("selection", "expected"), [row[1:] for row in rows], ids=[row[0] for row in rows])


# 9.2 Members and groups


@pytest.fixture
def profiles(primary: Controller, names: Names) -> Controller:
    """Return the primary client; the profiles have members and groups."""
    primary.write(
        *(update(INSERT, action_profile_member=member(names, number, number)) for number in (1, 2)),
        update(INSERT, action_profile_member=member(names, 1, 3, "In.plain_members")),
        *(update(INSERT, action_profile_group=group(names, number, (1, 1), (2, 3))) for number in (2, 5)),
    )
    return primary


@requests(
    ("9.2.1 profile 0 and member 0", {}, [("In.members", 1), ("In.members", 2), ("In.plain_members", 1)]),
    (
        "9.2.1 a profile and member 0",
        {"action_profile_id": NAMES["In.members"]},
        [("In.members", 1), ("In.members", 2)],
    ),
    ("9.2.1 a profile and a member", {"action_profile_id": NAMES["In.members"], "member_id": 2}, [("In.members", 2)]),
    ("9.2.1 profile 0 and a member", {"member_id": 1}, [("In.members", 1), ("In.plain_members", 1)]),
    ("13.1 no such member", {"action_profile_id": NAMES["In.members"], "member_id": 9}, []),
)
def test_members(profiles: Controller, names: Names, selection: Selection, expected: list[tuple[str, int]]) -> None:
    by_id = {number: name for name, number in names.ids.items()}
    read = profiles.read(action_profile_member=selection)
    assert [(by_id[item.action_profile_id], item.member_id) for item in read] == expected
    assert all(item.action.action_id == names["In.forward"] for item in read)


@requests(
    ("9.2.2 profile 0 and group 0", {}, [2, 5]),
    ("9.2.2 a profile and group 0", {"action_profile_id": NAMES["In.members"]}, [2, 5]),
    ("9.2.2 a profile and a group", {"action_profile_id": NAMES["In.members"], "group_id": 5}, [5]),
    ("9.2.2 a profile without groups", {"action_profile_id": NAMES["In.plain_members"]}, []),
    ("13.1 no such group", {"action_profile_id": NAMES["In.members"], "group_id": 1}, []),
)
def test_groups(profiles: Controller, names: Names, selection: Selection, expected: list[int]) -> None:
    read = profiles.read(action_profile_group=selection)
    assert read == [group(names, number, (1, 1), (2, 3)) for number in expected]


def test_groups_are_read_as_written_whatever_the_state_of_ports(primary: Controller, names: Names) -> None:
    """8.2.1: watch ports do not change what is read. 8.3: the answer has the shortest byte strings."""
    primary.insert(action_profile_member=member(names, 1, 1))
    written = group(names, 7, (1, 4))
    written.max_size = 9
    written.members[0].watch_port = b"\x00\x00\x02"
    primary.insert(action_profile_group=written)
    written.members[0].watch_port = b"\x02"
    assert primary.read(action_profile_group={}) == [written]


# 9.3 Counters, 9.4 meters, 9.7 registers: cells of arrays


ARRAYS_OF_PROGRAM = [
    ("counter_entry", "counter_id", "In.by_port", 16),
    ("meter_entry", "meter_id", "In.by_key", 4),
    ("register_entry", "register_id", "In.addresses", 8),
]


@pytest.mark.parametrize(("kind", "id_field", "name", "size"), ARRAYS_OF_PROGRAM, ids=["9.3.2", "9.4.2", "9.7"])
def test_cells_of_arrays(primary: Controller, names: Names, kind: str, id_field: str, name: str, size: int) -> None:
    """All cells exist without being written."""

    def indexes(**fields: Any) -> list[int]:
        return [item.index.index for item in primary.read(**{kind: fields}) if getattr(item, id_field) == names[name]]

    number = names[name]
    assert indexes(**{id_field: number}) == list(range(size))  # an unset index selects all cells
    assert indexes(**{id_field: number, "index": {}}) == [0]  # 8.1.2: a set index of 0 selects one
    assert indexes(**{id_field: number, "index": {"index": size - 1}}) == [size - 1]
    assert indexes() == list(range(size))  # the id 0 selects all arrays
    assert indexes(index={"index": 1}) == list(range(size))  # and all their cells
    for fields, code in (
        ({id_field: number, "index": {"index": size}}, "OUT_OF_RANGE"),
        ({id_field: number, "index": {"index": -1}}, "INVALID_ARGUMENT"),
        ({id_field: 99}, "INVALID_ARGUMENT"),
        ({id_field: names["In.forward"]}, "INVALID_ARGUMENT"),
    ):
        assert refused(primary.read, **{kind: fields}) == [code]


def test_cells_have_defaults(primary: Controller) -> None:
    """9.3.2: 0; 9.4.2: the configuration that colors all packets green, which is unset; 9.7: 0."""
    assert {str(item.data) for item in primary.read(counter_entry={})} == {""}
    assert all(item.HasField("data") for item in primary.read(counter_entry={}))
    assert not any(item.HasField("config") for item in primary.read(meter_entry={}))
    assert {item.data.bitstring for item in primary.read(register_entry={})} == {b"\x00"}


def test_the_values_in_a_request_for_cells_are_ignored(server: Served, primary: Controller, names: Names) -> None:
    arrives(server, 1, ARRAYS, 1, 0x0A0B, enters=2)
    counter = {"counter_id": names["In.by_port"], "index": {"index": 2}, "data": {"packet_count": 99}}
    assert [item.data.packet_count for item in primary.read(counter_entry=counter)] == [1]
    meter = {"meter_id": names["In.by_key"], "index": {"index": 1}, "config": RATES}
    assert not primary.read(meter_entry=meter)[0].HasField("config")
    register = {"register_id": names["In.addresses"], "index": {"index": 1}, "data": {"bitstring": b"\x63"}}
    assert [item.data.bitstring for item in primary.read(register_entry=register)] == [b"\x0a\x0b"]


def test_cells_are_read_as_written(primary: Controller, names: Names) -> None:
    """8.2 and 8.3, with the specification's examples of signed values."""
    counter = v1.CounterEntry(counter_id=names["In.by_port"], index={"index": 3}, data={"byte_count": (1 << 63) - 1})
    meter = v1.MeterEntry(meter_id=names["In.by_key"], index={"index": 3}, config=RATES)
    primary.write(update(MODIFY, counter_entry=counter), update(MODIFY, meter_entry=meter))
    assert primary.read(counter_entry={"counter_id": counter.counter_id, "index": {"index": 3}}) == [counter]
    assert primary.read(meter_entry={"meter_id": meter.meter_id, "index": {"index": 3}}) == [meter]
    for name, written, read in (
        ("In.addresses", b"\x00\x63", b"\x63"),
        ("In.addresses", b"\x63", b"\x63"),
        ("In.addresses", b"\x00\x00", b"\x00"),
        ("In.addresses", b"\xff" * 6, b"\xff" * 6),
        ("In.signs", b"\x63", b"\x63"),
        ("In.signs", b"\x9d", b"\x9d"),
        ("In.signs", b"\xff\x9d", b"\x9d"),
        ("In.signs", b"\x00\x9d", b"\x00\x9d"),
        ("In.signs", b"\x00\x00", b"\x00"),
        ("In.signs", b"\x80\x00", b"\x80\x00"),
    ):
        cell = {"register_id": names[name], "index": {"index": 1}}
        primary.modify(register_entry={**cell, "data": {"bitstring": written}})
        assert [item.data.bitstring for item in primary.read(register_entry=cell)] == [read]


def test_counters_of_colors_are_unimplemented(primary: Controller, names: Names) -> None:
    """9.4.3"""
    assert refused(primary.read, meter_entry={"counter_data": {}}) == ["UNIMPLEMENTED"]
    assert refused(primary.read, meter_entry={"meter_id": names["In.by_key"], "counter_data": {}}) == ["UNIMPLEMENTED"]
    assert refused(primary.read, direct_meter_entry={"counter_data": {}}) == ["UNIMPLEMENTED"]


# 9.3.1 and 9.4.1 Direct counters and meters


@pytest.fixture
def direct(server: Served, primary: Controller, names: Names) -> Controller:
    """Return the primary client; the tables with direct resources have entries."""
    route, police, counts = names.action("In.route", 2), names.action("In.police", 1), {"packet_count": 5}
    entries = [
        names.entry("In.routes", action=names.action("In.route", 1)),
        names.entry("In.routes", [lpm(0xAA0000000000, 8)], route, counter_data=counts, metadata=b"m"),
        names.entry("In.policies", [], police, priority=1),
        names.entry("In.policies", [ternary(1, 1)], police, priority=1),
        names.entry("In.policies", [ternary(1, 1)], police, priority=2, meter_config=RATES),
        names.entry("In.exact_match", [exact(1)], names.action("In.forward", 1)),
    ]
    primary.write(*(update(INSERT, table_entry=entry) for entry in entries))
    arrives(server, 1, ROUTES, address=1)
    return primary


@requests(
    ("9.3.1 an unset table entry selects all", {}, [1, 5]),
    ("9.3.1 table 0 selects all", {"table_entry": {}}, [1, 5]),
    ("9.3.1 a table", {"table_entry": NAMES.entry("In.routes")}, [1, 5]),
    ("9.3.1 an entry", {"table_entry": NAMES.entry("In.routes", [lpm(0xAA0000000000, 8)])}, [5]),
)
def test_direct_counters(direct: Controller, names: Names, selection: Selection, expected: list[int]) -> None:
    read = direct.read(direct_counter_entry=selection)
    assert [item.data.packet_count for item in read] == expected
    keys = [names.entry("In.routes"), names.entry("In.routes", [lpm(0xAA0000000000, 8)])]
    assert [item.table_entry for item in read] == keys[-len(expected) :]  # only the key of the entry


@requests(
    ("9.4.1 an unset table entry selects all", {}, [("any", 1), ("odd", 1), ("odd", 2)]),
    ("9.4.1 a table", {"table_entry": NAMES.entry("In.policies")}, [("any", 1), ("odd", 1), ("odd", 2)]),
    ("9.4.1 an entry", {"table_entry": NAMES.entry("In.policies", [ternary(1, 1)], priority=2)}, [("odd", 2)]),
    (
        "9.1.6 the priority of a don't-care entry",
        {"table_entry": NAMES.entry("In.policies", priority=1)},
        [("any", 1), ("odd", 1)],
    ),
)
def test_direct_meters(direct: Controller, selection: Selection, expected: list[tuple[str, int]]) -> None:
    read = direct.read(direct_meter_entry=selection)
    found = [("odd" if item.table_entry.match else "any", item.table_entry.priority) for item in read]
    assert found == expected
    for item in read:  # every entry has a meter; the default configuration is unset
        assert item.HasField("config") == (item.table_entry.priority == 2)


def test_a_direct_resource_is_read_with_the_shortest_key(direct: Controller, names: Names) -> None:
    padded = v1.FieldMatch(field_id=1, lpm={"value": b"\x00\xaa\x00\x00\x00\x00\x00", "prefix_len": 8})
    request = {"table_entry": names.entry("In.routes", [padded], names.action("In.route", 3), metadata=b"ignored")}
    [item] = direct.read(direct_counter_entry=request)
    assert item.table_entry == names.entry("In.routes", [lpm(0xAA0000000000, 8)])


@pytest.mark.parametrize("kind", ["direct_counter_entry", "direct_meter_entry"])
def test_wrong_requests_for_direct_resources(direct: Controller, names: Names, kind: str) -> None:
    table = "In.routes" if kind == "direct_counter_entry" else "In.policies"
    other = "In.policies" if kind == "direct_counter_entry" else "In.routes"
    no_entry = [lpm(0xBB0000000000, 8)] if table == "In.routes" else [ternary(2, 2)]
    priority = 0 if table == "In.routes" else 1
    for entry, code in (
        (names.entry(table, no_entry, priority=priority), "NOT_FOUND"),
        (names.entry(other), "INVALID_ARGUMENT"),  # another direct resource
        (names.entry("In.exact_match", [exact(1)]), "INVALID_ARGUMENT"),  # no direct resource
        (v1.TableEntry(table_id=99), "INVALID_ARGUMENT"),
        (v1.TableEntry(match=no_entry), "INVALID_ARGUMENT"),  # table 0 has no filter
        (v1.TableEntry(priority=1), "INVALID_ARGUMENT"),
        (names.entry(table, is_default_action=True), "UNIMPLEMENTED"),
        (v1.TableEntry(is_default_action=True), "UNIMPLEMENTED"),
    ):
        assert refused(direct.read, **{kind: {"table_entry": entry}}) == [code]


# 9.5 Packet replication


def test_multicast_groups_and_clone_sessions(primary: Controller) -> None:
    """9.5.1 and 9.5.2: the id 0 selects all of the kind; only the id is considered; 8.3: shortest ports."""
    groups = [multicast(3, [(1, 1), (2, 2)], metadata=b"m"), multicast(9, [])]
    sessions = [session(3, [(1, 1)], packet_length_bytes=60), session(4, [(2, 0)])]
    padded = v1.PacketReplicationEngineEntry()
    padded.CopyFrom(groups[0])
    padded.multicast_group_entry.replicas[0].port = b"\x00\x00\x01"
    written = [padded, groups[1], *sessions]
    primary.write(*(update(INSERT, packet_replication_engine_entry=entry) for entry in written))
    for request, expected in (
        ({"multicast_group_entry": {}}, groups),
        ({"multicast_group_entry": {"multicast_group_id": 9}}, groups[1:]),
        ({"multicast_group_entry": {"multicast_group_id": 4}}, []),
        ({"multicast_group_entry": {"replicas": [{"instance": 7}], "metadata": b"other"}}, groups),
        ({"clone_session_entry": {}}, sessions),
        ({"clone_session_entry": {"session_id": 4}}, sessions[1:]),
        ({"clone_session_entry": {"session_id": 9}}, []),
        ({"clone_session_entry": {"class_of_service": 7, "packet_length_bytes": 1}}, sessions),
    ):
        assert primary.read(packet_replication_engine_entry=request) == expected
    assert refused(primary.read, packet_replication_engine_entry={}) == ["INVALID_ARGUMENT"]


# 9.6 Value sets


def test_value_sets(primary: Controller) -> None:
    """All sets exist without being written, and are empty."""
    names = Names("sets")
    primary.set_pipeline("sets")
    sets = {item.preamble.id for item in names.p4info.value_sets}
    read = primary.read(value_set_entry={})
    assert {item.value_set_id for item in read} == sets
    assert not any(item.members for item in read)
    padded = v1.FieldMatch(field_id=1, exact={"value": b"\x00\x00\x07"})
    written = {"value_set_id": names["P.values"], "members": [{"match": [padded]}]}
    primary.modify(value_set_entry=written)
    request = {"value_set_id": names["P.values"], "members": [{"match": [exact(9)]}]}
    [item] = primary.read(value_set_entry=request)
    assert [list(one.match) for one in item.members] == [[exact(7)]]
    assert refused(primary.read, value_set_entry={"value_set_id": 99}) == ["INVALID_ARGUMENT"]


# 9.8 Digests


def test_digests(server: Served, primary: Controller, names: Names) -> None:
    """The configuration of a digest exists once a client has enabled it."""
    number = names["learnt_t"]
    assert primary.read(digest_entry={}) == primary.read(digest_entry={"digest_id": number}) == []
    for config in ({"max_timeout_ns": 5, "max_list_size": 6, "ack_timeout_ns": 7}, {}, None):
        entry = v1.DigestEntry(digest_id=number, config=config)
        primary.insert(digest_entry=entry)
        assert primary.read(digest_entry={}) == primary.read(digest_entry={"digest_id": number}) == [entry]
        assert primary.read(digest_entry={"digest_id": number, "config": {"max_list_size": 1}}) == [entry]
        primary.delete(digest_entry=entry)
    assert refused(primary.read, digest_entry={"digest_id": 99}) == ["INVALID_ARGUMENT"]
    arrives(server, 1, DIGEST, address=1)
    assert primary.is_silent


# 9.9 Externs


def test_externs(primary: Controller) -> None:
    """13.2: an empty entry selects the externs of all supported types, which are none."""
    assert primary.read(extern_entry={}) == []
    assert refused(primary.read, extern_entry={"extern_type_id": 0x81}) == ["UNIMPLEMENTED"]
    assert refused(primary.write, update(INSERT, extern_entry={})) == ["UNIMPLEMENTED"]


# 13 Read RPC


def read_all(client: Controller, entities: list[dict[str, Any]], **fields: Any) -> tuple[list[str], list[str]]:
    """Return the kinds of the entities that a Read of several requests yields, and the codes of the requests."""
    request = v1.ReadRequest(**{"device_id": DEVICE_ID, "entities": entities, **fields})
    kinds: list[str] = []
    try:
        for answer in client.calls["Read"](request):
            kinds += [item.WhichOneof("entity") for item in answer.entities]
    except grpc.RpcError as error:
        return kinds, codes(error) if error.code() is grpc.StatusCode.UNKNOWN else [error.code().name]
    return kinds, []


EVERYTHING: list[dict[str, Any]] = [
    {"extern_entry": {}},
    {"table_entry": {}},
    {"action_profile_member": {}},
    {"action_profile_group": {}},
    {"meter_entry": {}},
    {"direct_meter_entry": {}},
    {"counter_entry": {}},
    {"direct_counter_entry": {}},
    {"packet_replication_engine_entry": {"multicast_group_entry": {}}},
    {"packet_replication_engine_entry": {"clone_session_entry": {}}},
    {"value_set_entry": {}},
    {"register_entry": {}},
    {"digest_entry": {}},
]


def test_the_entire_state_is_read(primary: Controller) -> None:
    """13.2, in a switch that no client has written to."""
    kinds, refusals = read_all(primary, EVERYTHING)
    assert refusals == []
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    assert counts == {"table_entry": 2, "meter_entry": 4, "counter_entry": 16, "register_entry": 10}


def test_an_empty_entity_is_refused(primary: Controller) -> None:
    """13.2"""
    assert read_all(primary, [{}]) == ([], ["INVALID_ARGUMENT"])


def test_a_read_without_requests_is_empty(primary: Controller) -> None:
    assert read_all(primary, []) == ([], [])


def test_a_wrong_request_does_not_stop_the_others(primary: Controller, names: Names) -> None:
    """13.3: one error for each request, at its place; the entities of valid requests are returned."""
    one = {"counter_entry": {"counter_id": names["In.by_port"], "index": {}}}
    wrong = {"counter_entry": {"counter_id": names["In.by_port"], "index": {"index": 99}}}
    kinds, refusals = read_all(primary, [one, wrong, {}, one, {"table_entry": {"meter_counter_data": {}}}])
    assert kinds == ["counter_entry"] * 2
    assert refusals == ["OK", "OUT_OF_RANGE", "INVALID_ARGUMENT", "OK", "UNIMPLEMENTED"]


def test_the_same_request_twice_yields_the_entity_twice(primary: Controller, names: Names) -> None:
    """13.3.1"""
    one = {"counter_entry": {"counter_id": names["In.by_port"], "index": {}}}
    assert read_all(primary, [one, one]) == (["counter_entry"] * 2, [])


def test_a_read_needs_the_device_and_a_pipeline(primary: Controller) -> None:
    """13: NOT_FOUND, and FAILED_PRECONDITION before a config was set; neither a stream nor an election id is needed."""
    assert read_all(primary, [{"table_entry": {}}], device_id=99) == ([], ["NOT_FOUND"])
    with served() as server:
        client = Controller(server.address)
        assert read_all(client, [{"table_entry": {}}]) == ([], ["FAILED_PRECONDITION"])
        client.close()


def test_a_role_sees_all_entities(primary: Controller) -> None:
    """13: the role is a filter, and every role may use the whole pipeline."""
    assert read_all(primary, EVERYTHING, role="unknown") == read_all(primary, EVERYTHING)


def test_a_read_shows_the_state_at_one_moment(primary: Controller, names: Names) -> None:
    """13.4: a Write during a Read changes no part of its answer. The answer is longer than gRPC takes at once."""
    action = names.action("In.forward", 2)
    for first in range(0, 4096, 1024):
        entries = [
            names.entry("In.exact_match", [exact(key)], action, metadata=bytes(4096))
            for key in range(first, first + 1024)
        ]
        primary.write(*(update(INSERT, table_entry=entry) for entry in entries))
    cell = {"counter_id": names["In.by_port"], "index": {"index": 1}}
    requests = [{"table_entry": names.entry("In.exact_match")}, {"counter_entry": cell}]
    call = primary.calls["Read"](v1.ReadRequest(device_id=DEVICE_ID, entities=requests))
    received = list(next(call).entities)
    primary.modify(counter_entry={**cell, "data": {"packet_count": 9}})
    received += [item for answer in call for item in answer.entities]
    assert len(received) == 4097
    assert received[-1].counter_entry.data.packet_count == 0
    [after] = primary.read(counter_entry=cell)
    assert after.data.packet_count == 9
