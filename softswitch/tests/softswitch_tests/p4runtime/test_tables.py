# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of table entries: their effect on packets, and what is read and refused."""

from typing import Any

from softswitch.p4runtime.messages import v1
from softswitch_tests.p4runtime.controller import (
    DELETE,
    INSERT,
    MODIFY,
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
from softswitch_tests.p4runtime.frames import EXACT, FIXED, POLICIES, ROUTES, arrives, frame
from softswitch_tests.p4runtime.running import Served

WHOLE = 0xFFFF


def test_an_entry_is_inserted_modified_read_and_deleted(server: Served, primary: Controller, names: Names) -> None:
    entry = names.entry("In.exact_match", [exact(7)], names.action("In.forward", 2), metadata=b"mine")
    primary.insert(table_entry=entry)
    assert arrives(server, 2, EXACT, 7).key == 7
    assert primary.read(table_entry=v1.TableEntry(table_id=entry.table_id)) == [entry]
    changed = names.entry("In.exact_match", [exact(7)], names.action("In.rewrite", 3, 0x0A0B), metadata=b"new")
    primary.modify(table_entry=changed)
    assert arrives(server, 3, EXACT, 7).address == 0x0A0B
    assert primary.read(table_entry=v1.TableEntry(table_id=entry.table_id, match=[exact(7)])) == [changed]
    primary.delete(table_entry=names.entry("In.exact_match", [exact(7)]))
    assert primary.read(table_entry=v1.TableEntry()) == FIXED_ENTRIES(names)
    assert refused(primary.delete, table_entry=entry) == ["NOT_FOUND"]
    assert refused(primary.modify, table_entry=entry) == ["NOT_FOUND"]


def FIXED_ENTRIES(names: Names) -> list[Any]:
    """Return the const entries of the program, which a read of all tables always includes."""
    actions = [names.action("In.forward", 3), names.action("In.drop")]
    return [
        names.entry("In.fixed", [exact(key)], action, is_const=True)
        for key, action in zip((1, 2), actions, strict=True)
    ]


def test_longest_prefix_wins_and_default_can_change(server: Served, primary: Controller, names: Names) -> None:
    primary.insert(table_entry=names.entry("In.routes", [lpm(0xAA0000000000, 8)], names.action("In.route", 1)))
    primary.insert(table_entry=names.entry("In.routes", [lpm(0xAABB00000000, 16)], names.action("In.route", 3)))
    assert arrives(server, 1, ROUTES, address=0xAA1111111111)
    assert arrives(server, 3, ROUTES, address=0xAABB11111111)
    assert arrives(server, 2, ROUTES, address=1)
    default = names.entry("In.routes", action=names.action("In.route", 3), is_default_action=True, metadata=b"d")
    primary.modify(table_entry=default)
    assert arrives(server, 3, ROUTES, address=1)
    request = v1.TableEntry(table_id=names["In.routes"], is_default_action=True)
    assert primary.read(table_entry=request) == [default]
    primary.modify(table_entry=request)
    [original] = primary.read(table_entry=request)
    assert (original.action.action, original.metadata) == (names.action("In.route", 2), b"")
    assert arrives(server, 2, ROUTES, address=1)


def test_higher_priority_wins_and_omitted_fields_match_everything(
    server: Served, primary: Controller, names: Names
) -> None:
    wide = names.entry("In.policies", [ternary(0x100, 0xF00)], names.action("In.police", 2), priority=5)
    narrow_match = [ternary(0x123, WHOLE), optional(0x44), between(1, 2)]
    narrow = names.entry("In.policies", narrow_match, names.action("In.police", 3), priority=9)
    everything = names.entry("In.policies", [], names.action("In.police", 1), priority=1)
    primary.write(*(update(INSERT, table_entry=entry) for entry in (wide, narrow, everything)))
    assert arrives(server, 3, POLICIES, 0x123, 0x44)
    assert arrives(server, 2, POLICIES, 0x123, 0x45)
    assert arrives(server, 2, POLICIES, 0x123, 0x44, enters=3)
    assert arrives(server, 1, POLICIES, 0x423, 0x44)
    assert primary.read(table_entry=names.entry("In.policies")) == [wide, narrow, everything]
    primary.write(update(DELETE, table_entry=narrow), update(DELETE, table_entry=wide))
    assert arrives(server, 1, POLICIES, 0x123, 0x44)


def test_values_are_read_without_leading_zeros(primary: Controller, names: Names) -> None:
    padded = names.entry("In.exact_match", [exact(0)], names.action("In.rewrite", 1, 5))
    padded.match[0].exact.value = b"\x00\x00\x00"
    padded.action.action.params[1].value = bytes(9) + b"\x05"
    primary.insert(table_entry=padded)
    [entry] = primary.read(table_entry=v1.TableEntry(table_id=padded.table_id))
    assert entry.match[0].exact.value == b"\x00"
    assert [param.value for param in entry.action.action.params] == [b"\x01", b"\x05"]


def test_const_entries_are_read_but_not_changed(server: Served, primary: Controller, names: Names) -> None:
    assert arrives(server, 3, FIXED, 1)
    entries = FIXED_ENTRIES(names)
    assert primary.read(table_entry=v1.TableEntry(table_id=names["In.fixed"])) == entries
    entry = names.entry("In.fixed", [exact(1)], names.action("In.forward", 1))
    for kind in (INSERT, MODIFY, DELETE):
        assert refused(primary.write, update(kind, table_entry=entry)) == ["PERMISSION_DENIED"]
    default = names.entry("In.fixed", action=names.action("In.forward", 1), is_default_action=True)
    assert refused(primary.modify, table_entry=default) == ["PERMISSION_DENIED"]


def test_the_updates_of_a_batch_follow_one_another(server: Served, primary: Controller, names: Names) -> None:
    """An error does not end a batch. A client that requires that is refused."""
    first, second = (names.entry("In.exact_match", [exact(1)], names.action("In.forward", port)) for port in (2, 3))
    other = names.entry("In.exact_match", [exact(2)], names.action("In.forward", 3), metadata=b"kept")
    wrong = names.entry("In.exact_match", [exact(3)], names.action("In.route", 2))
    steps = [
        (update(INSERT, table_entry=first), "OK"),
        (update(INSERT, table_entry=wrong), "INVALID_ARGUMENT"),
        (update(DELETE, table_entry=first), "OK"),
        (update(DELETE, table_entry=first), "NOT_FOUND"),
        (update(INSERT, table_entry=other), "OK"),
        (update(INSERT, table_entry=first), "OK"),
        (update(MODIFY, table_entry=second), "OK"),
        (update(INSERT, table_entry=other), "ALREADY_EXISTS"),
    ]
    updates, expected = zip(*steps, strict=True)
    assert refused(primary.write, *updates) == list(expected)
    assert arrives(server, 3, EXACT, 1)
    assert primary.read(table_entry=v1.TableEntry(table_id=names["In.exact_match"], metadata=b"kept")) == [other]
    for atomicity in (v1.WriteRequest.ROLLBACK_ON_ERROR, v1.WriteRequest.DATAPLANE_ATOMIC):
        assert refused(primary.write, update(DELETE, table_entry=other), atomicity=atomicity) == ["UNIMPLEMENTED"]
    assert arrives(server, 3, EXACT, 2)


def wrong_entries(names: Names) -> list[tuple[Any, str]]:
    forward, route, drop = names.action("In.forward", 2), names.action("In.route", 2), names.action("In.drop")
    two_args = names.action("In.forward", 2, 3)
    behind_prefix = v1.FieldMatch(field_id=1, lpm={"value": b"\x01", "prefix_len": 8})
    behind_mask = v1.FieldMatch(field_id=1, ternary={"value": b"\x03", "mask": b"\x01"})
    empty = v1.FieldMatch(field_id=1, exact={"value": b""})
    ours, group = v1.TableAction(action_profile_member_id=1), v1.TableAction(action_profile_group_id=1)
    return [
        (names.entry("In.exact_match", [exact(7)]), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [], forward), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(1 << 16)], forward), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(7), exact(8)], forward), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(7, field=2)], forward), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [lpm(7, 16)], forward), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [empty], forward), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(7)], names.action("In.forward")), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(7)], names.action("In.forward", 512)), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(7)], two_args), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(7)], route), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(7)], names.action("NoAction")), "PERMISSION_DENIED"),
        (names.entry("In.exact_match", [exact(7)], forward, priority=1), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(7)], forward, is_const=True), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(7)], forward, idle_timeout_ns=-1), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(7)], forward, time_since_last_hit={}), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(7)], forward, counter_data={}), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(7)], forward, meter_config={}), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(7)], forward, meter_counter_data={}), "UNIMPLEMENTED"),
        (names.entry("In.exact_match", [exact(7)], ours), "INVALID_ARGUMENT"),
        (names.entry("In.exact_match", [exact(7)], forward, is_default_action=True), "INVALID_ARGUMENT"),
        (names.entry("In.routes", [lpm(0, 0)], route), "INVALID_ARGUMENT"),
        (names.entry("In.routes", [lpm(0, 49)], route), "INVALID_ARGUMENT"),
        (names.entry("In.routes", [behind_prefix], route), "INVALID_ARGUMENT"),
        (names.entry("In.routes", [lpm(0xAA0000000000, 8)], route, idle_timeout_ns=1), "INVALID_ARGUMENT"),
        (names.entry("In.policies", [ternary(1, 1)], drop), "INVALID_ARGUMENT"),
        (names.entry("In.policies", [ternary(1, 1)], drop, priority=-1), "INVALID_ARGUMENT"),
        (names.entry("In.policies", [behind_mask], drop, priority=1), "INVALID_ARGUMENT"),
        (names.entry("In.policies", [between(5, 4)], drop, priority=1), "INVALID_ARGUMENT"),
        (names.entry("In.policies", [between(0, 511)], drop, priority=1), "INVALID_ARGUMENT"),
        (names.entry("In.spread", [exact(7)], forward), "INVALID_ARGUMENT"),
        (names.entry("In.spread", [exact(7)], ours), "NOT_FOUND"),
        (names.entry("In.spread", [exact(7)], group), "NOT_FOUND"),
        (v1.TableEntry(table_id=12345), "INVALID_ARGUMENT"),
    ]


def test_wrong_entries_are_refused_with_their_codes(server: Served, primary: Controller, names: Names) -> None:
    entries, expected = zip(*wrong_entries(names), strict=True)
    assert refused(primary.write, *(update(INSERT, table_entry=entry) for entry in entries)) == list(expected)
    assert primary.read(table_entry=v1.TableEntry()) == FIXED_ENTRIES(names)
    assert refused(primary.write, v1.Update(type=INSERT)) == ["INVALID_ARGUMENT"]
    assert refused(primary.write, update(v1.Update.UNSPECIFIED, table_entry=entries[0])) == ["INVALID_ARGUMENT"]
    for kind in (INSERT, DELETE):
        default = names.entry("In.routes", action=names.action("In.route", 1), is_default_action=True)
        assert refused(primary.write, update(kind, table_entry=default)) == ["INVALID_ARGUMENT"]
    table_only = names.entry("In.routes", action=names.action("In.drop"), is_default_action=True)
    assert refused(primary.modify, table_entry=table_only) == ["PERMISSION_DENIED"]
    server.send(1, frame(EXACT, 7))
    assert arrives(server, 2, ROUTES)
