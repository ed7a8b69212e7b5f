# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The objects of a P4Info by their ids, each joined with the object of that name in the compiled program.

A P4Info that does not describe the program is refused: controllers and switch would otherwise misunderstand each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from softswitch.codegen.ir.blocks import Array, Key, Profile, Program, Table
from softswitch.codegen.ir.nodes import Action
from softswitch.p4runtime import messages
from softswitch.p4runtime.status import Refusal, invalid

_SAME_KINDS = {("optional", "ternary")}
"""The kinds of a key in the P4Info and in the program that may differ, because p4c turns optional into ternary."""
_Object = TypeVar("_Object")


@dataclass(frozen=True)
class Field:
    """A match field: its id, its kind in the P4Info, and its key in the program."""

    id: int
    kind: str
    key: Key

    @property
    def bits(self) -> int:
        return self.key.ref.field.bits


@dataclass(frozen=True)
class ActionInfo:
    """An action with the ids of its parameters in the order of the program."""

    id: int
    action: Action
    params: tuple[int, ...]


@dataclass(frozen=True)
class ProfileInfo:
    """An action profile; `actions` are the actions of the tables that use it."""

    id: int
    profile: Profile
    actions: Mapping[int, ActionInfo]
    p4info: Any


@dataclass(frozen=True)
class TableInfo:
    """A table; `actions` and `scopes` are keyed by the id of the action."""

    id: int
    table: Table
    fields: tuple[Field, ...]
    actions: Mapping[int, ActionInfo]
    scopes: Mapping[int, int]
    profile: ProfileInfo | None
    p4info: Any

    @property
    def has_timeout(self) -> bool:
        return self.table.supports_timeout


@dataclass(frozen=True)
class ArrayInfo:
    """A register, counter or meter array."""

    id: int
    array: Array
    p4info: Any


@dataclass(frozen=True)
class DigestInfo:
    """A digest, with the widths of its fields."""

    id: int
    name: str
    widths: tuple[int, ...]
    p4info: Any


@dataclass(frozen=True)
class ValueSetInfo:
    """A parser value set; `fields` are the match fields of the P4Info, the first one in the highest bits of a value."""

    id: int
    name: str
    size: int
    fields: tuple[Any, ...]


class Info:
    """The objects of a program by id. Raise Refusal if the P4Info does not describe the program."""

    def __init__(self, p4info: Any, program: Program) -> None:
        self.p4info = p4info
        self._program = program
        self._action_names = {item.preamble.id: item for item in p4info.actions}
        self.direct_meters = {item.preamble.name: item for item in p4info.direct_meters}
        self.profiles = {item.preamble.id: self._profile(item) for item in p4info.action_profiles}
        self.tables = {item.preamble.id: self._table(item) for item in p4info.tables}
        self.registers = self._arrays(p4info.registers, program.registers, "register")
        self.counters = self._arrays(p4info.counters, program.counters, "counter")
        self.meters = self._arrays(p4info.meters, program.meters, "meter")
        self.digests = {item.preamble.id: self._digest(item) for item in p4info.digests}
        self.value_sets = {item.preamble.id: self._value_set(item) for item in p4info.value_sets}
        self.packet_headers = {item.preamble.name: item for item in p4info.controller_packet_metadata}

    def table(self, number: int) -> TableInfo:
        return find(self.tables, number, "table")

    def profile(self, number: int) -> ProfileInfo:
        return find(self.profiles, number, "action profile")

    def _table(self, item: Any) -> TableInfo:
        name = item.preamble.name
        table = next((table for table in self._program.tables if table.name == name), None)
        if table is None:
            raise _mismatch(f"table {name}")
        if len(item.match_fields) != len(table.keys):
            raise _mismatch(f"table {name} with {len(item.match_fields)} match fields")
        fields = tuple(_field(name, given, key) for given, key in zip(item.match_fields, table.keys, strict=True))
        if table.meter is not None and table.meter.name not in self.direct_meters:
            raise _mismatch(f"table {name} without its direct meter {table.meter.name}")
        profile = self.profiles.get(item.implementation_id)
        if (profile is None) != (table.profile is None):
            raise _mismatch(f"the implementation of table {name}")
        return TableInfo(
            id=item.preamble.id,
            table=table,
            fields=fields,
            actions=self._actions(item, table),
            scopes={ref.id: ref.scope for ref in item.action_refs},
            profile=profile,
            p4info=item,
        )

    def _actions(self, item: Any, table: Table) -> dict[int, ActionInfo]:
        by_name = {action.name: action for action in table.actions}
        actions = {}
        for ref in item.action_refs:
            given = self._action_names.get(ref.id)
            if given is None or given.preamble.name not in by_name:
                raise _mismatch(f"action {ref.id if given is None else given.preamble.name} of table {table.name}")
            action = by_name[given.preamble.name]
            if len(given.params) != len(action.params):
                raise _mismatch(f"action {action.name} with {len(given.params)} parameters")
            actions[ref.id] = ActionInfo(ref.id, action, tuple(param.id for param in given.params))
        if len(actions) != len(by_name):
            raise _mismatch(f"table {table.name} with {len(actions)} actions")
        return actions

    def _profile(self, item: Any) -> ProfileInfo:
        name = item.preamble.name
        profile = next((profile for profile in self._program.profiles if profile.name == name), None)
        if profile is None:
            raise _mismatch(f"action profile {name}")
        actions: dict[int, ActionInfo] = {}
        for table in self.p4info.tables:
            if table.implementation_id == item.preamble.id:
                own = next((own for own in self._program.tables if own.name == table.preamble.name), None)
                if own is None:
                    raise _mismatch(f"table {table.preamble.name}")
                actions |= self._actions(table, own)
        return ProfileInfo(item.preamble.id, profile, actions, item)

    def _arrays(self, items: Any, arrays: Mapping[str, Array], kind: str) -> dict[int, ArrayInfo]:
        found = {}
        for item in items:
            array = arrays.get(item.preamble.name)
            if array is None or array.direct:
                raise _mismatch(f"{kind} {item.preamble.name}")
            found[item.preamble.id] = ArrayInfo(item.preamble.id, array, item)
        return found

    def _digest(self, item: Any) -> DigestInfo:
        name = item.preamble.name
        for digest in self._program.digests.values():
            if digest.name == name:
                return DigestInfo(item.preamble.id, name, tuple(ref.field.bits for ref in digest.fields), item)
        raise _mismatch(f"digest {name}")

    def _value_set(self, item: Any) -> ValueSetInfo:
        name, bits = item.preamble.name, sum(field.bitwidth for field in item.match)
        value_set = self._program.value_sets.get(name)
        if value_set is None or value_set.bits != bits or any(field.bitwidth <= 0 for field in item.match):
            raise _mismatch(f"value set {name} of {bits} bits")
        return ValueSetInfo(item.preamble.id, name, item.size, tuple(item.match))


def find(objects: Mapping[int, _Object], number: int, what: str) -> _Object:
    """Return the object with an id. Raise Refusal if there is none."""
    if number not in objects:
        raise invalid(f"no {what} {number} in the P4Info")
    return objects[number]


def _field(table: str, given: Any, key: Key) -> Field:
    kind = messages.config.MatchField.MatchType.Name(given.match_type).lower()
    if kind != key.kind and (kind, key.kind) not in _SAME_KINDS:
        raise _mismatch(f"match field {given.name} of table {table} of kind {kind} instead of {key.kind}")
    return Field(given.id, kind, key)


def _mismatch(what: str) -> Refusal:
    return invalid(f"the P4Info has {what}, and the device config does not: they belong to different programs")
