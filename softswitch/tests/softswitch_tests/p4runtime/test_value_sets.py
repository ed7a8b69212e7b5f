# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of parser value sets."""

import struct
from typing import Any

import pytest

from softswitch.p4runtime.messages import v1
from softswitch_tests.p4runtime.controller import DELETE, INSERT, MODIFY, Controller, Names, exact, refused, update
from softswitch_tests.p4runtime.running import Served

BY_VALUE, BY_PAIR = 1, 2
FOUND = 1


@pytest.fixture
def names() -> Names:
    return Names("sets")


@pytest.fixture
def client(primary: Controller) -> Controller:
    primary.set_pipeline("sets")
    return primary


def state(server: Served, kind: int, value: int = 0, low: int = 0, high: int = 0) -> int:
    """Return the state that the parser wrote into a frame with these fields."""
    server.send(2, struct.pack(">BBHH", kind, 0, value, low << 13 | high) + bytes(17))
    return server.receive(1)[1]


def entry(number: int, *members: tuple[int, ...]) -> Any:
    """Return a value set whose members have these values of the match fields 1, 2, ..."""
    listed = [{"match": [exact(value, field) for field, value in enumerate(member, 1)]} for member in members]
    return v1.ValueSetEntry(value_set_id=number, members=listed)


def test_a_set_has_exactly_the_members_of_the_last_update(server: Served, client: Controller, names: Names) -> None:
    values = names["P.values"]
    assert client.read(value_set_entry={"value_set_id": values}) == [entry(values)]
    assert state(server, BY_VALUE, 0x22F3) == 0
    client.modify(value_set_entry=entry(values, (0x22F3,), (0x893B,)))
    assert [state(server, BY_VALUE, value) for value in (0x22F3, 0x893B, 0x22F4)] == [FOUND, FOUND, 0]
    client.modify(value_set_entry=entry(values, (0x22F4,)))
    assert [state(server, BY_VALUE, value) for value in (0x22F3, 0x893B, 0x22F4)] == [0, 0, FOUND]
    assert client.read(value_set_entry={"value_set_id": values}) == [entry(values, (0x22F4,))]
    client.modify(value_set_entry=entry(values))
    assert state(server, BY_VALUE, 0x22F4) == 0


def test_members_of_several_fields_are_read_as_they_were_written(
    server: Served, client: Controller, names: Names
) -> None:
    pairs = entry(names["P.pairs"], (2, 0x1FFF, 31), (5, 0x801, 3))
    wides = entry(names["P.wides"], (1 << 99, 1))
    client.write(update(MODIFY, value_set_entry=pairs), update(MODIFY, value_set_entry=wides))
    every = {answer.value_set_id: answer for answer in client.read(value_set_entry={})}
    assert (every[pairs.value_set_id], every[wides.value_set_id]) == (pairs, wides)
    assert set(every) == {names[name] for name in ("P.values", "P.pairs", "P.wides", "P.singles")}
    assert state(server, BY_PAIR, value=3, low=5, high=0x801) == FOUND
    assert state(server, BY_PAIR, value=3, low=4, high=0x801) == 0


def test_reconciliation_keeps_the_members(server: Served, client: Controller, names: Names) -> None:
    client.modify(value_set_entry=entry(names["P.values"], (0x22F3,)))
    client.set_pipeline("sets", "RECONCILE_AND_COMMIT")
    assert state(server, BY_VALUE, 0x22F3) == FOUND
    client.set_pipeline("sets")
    assert state(server, BY_VALUE, 0x22F3) == 0


def test_wrong_updates_change_nothing(client: Controller, names: Names) -> None:
    values, pairs = names["P.values"], names["P.pairs"]
    before = entry(values, (1,), (2,))
    client.modify(value_set_entry=before)
    twice = v1.ValueSetEntry(value_set_id=values, members=[{"match": [exact(1), exact(2)]}])
    prefix = v1.FieldMatch(field_id=1, lpm={"value": b"\x01", "prefix_len": 16})
    cases = [
        (INSERT, entry(values, (3,)), "INVALID_ARGUMENT"),
        (DELETE, entry(values), "INVALID_ARGUMENT"),
        (MODIFY, entry(1, (3,)), "INVALID_ARGUMENT"),
        (MODIFY, entry(values, (3,), (3,)), "ALREADY_EXISTS"),
        (MODIFY, entry(values, (3,), (4,), (5,), (6,), (7,)), "RESOURCE_EXHAUSTED"),
        (MODIFY, entry(values, (3,), (1 << 16,)), "INVALID_ARGUMENT"),
        (MODIFY, entry(pairs, (1, 2)), "INVALID_ARGUMENT"),
        (MODIFY, twice, "INVALID_ARGUMENT"),
        (MODIFY, v1.ValueSetEntry(value_set_id=values, members=[{"match": [prefix]}]), "INVALID_ARGUMENT"),
    ]
    updates = [update(kind, value_set_entry=message) for kind, message, _ in cases]
    assert refused(client.write, *updates) == [code for *_, code in cases]
    assert refused(lambda: client.read(value_set_entry={"value_set_id": 1})) == ["INVALID_ARGUMENT"]
    assert client.read(value_set_entry={"value_set_id": values}) == [before]
