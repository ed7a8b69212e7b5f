# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calls on tables: entries and default actions, with direct actions or with members and groups of a profile.

Methods have the names of the calls.
"""

from __future__ import annotations

from typing import Any

from softswitch.codegen.ir.blocks import Table
from softswitch.control import Commands
from softswitch.operations import tables
from softswitch.operations.tables import Entry, EntryAction, Group, Member
from softswitch.operations.values import has_priorities
from softswitch.thrift.interface import interface
from softswitch.thrift.program import Program
from softswitch.thrift.refusals import Refused, TableCode, refusing
from softswitch.thrift.values import action_call, data_bytes, key_pairs, match_of_pair

_NO_PRIORITY = -1
_PLACE = 0xFFFFFF
"""The bits of a handle that hold the entry's index; the upper bits count how often the index was reused."""
_ADDING = {
    "already": TableCode.DUPLICATE_ENTRY,
    "is full": TableCode.TABLE_FULL,
    "is const": TableCode.ENTRIES_ARE_CONST,
    "has no member": TableCode.INVALID_MEMBER,
    "has no group": TableCode.INVALID_GROUP,
}
_CHANGING = {
    "does not exist": TableCode.INVALID_HANDLE,
    "is const": TableCode.ENTRIES_ARE_CONST,
    "has no member": TableCode.INVALID_MEMBER,
    "has no group": TableCode.INVALID_GROUP,
}
_DEFAULT = {
    "is const": TableCode.DEFAULT_ACTION_IS_CONST,
    "member is not valid": TableCode.INVALID_MEMBER,
    "group is not valid": TableCode.INVALID_GROUP,
}


class Tables:
    """The entries and default actions of a switch."""

    def __init__(self, control: Commands, program: Program) -> None:
        self._control = control
        self._program = program

    def bm_mt_get_num_entries(self, context: int, table: str) -> int:
        known = self._program.table(table)
        with refusing(TableCode.ERROR):
            return tables.count(self._control, known)

    def bm_mt_clear_entries(self, context: int, table: str, reset_default: bool) -> None:
        known = self._program.table(table)
        with refusing(TableCode.ERROR, _CHANGING):
            tables.clear(self._control, known)
        if reset_default:
            self._reset_default(known)

    def bm_mt_add_entry(
        self, context: int, table: str, keys: list[Any], action: str, data: list[bytes], options: Any
    ) -> int:
        known = self._program.direct_table(table)
        return self._add(known, keys, action_call(known.actions, action, data), options)

    def bm_mt_set_default_action(self, context: int, table: str, action: str, data: list[bytes]) -> None:
        known = self._program.direct_table(table)
        self._set_default(known, action_call(known.actions, action, data))

    def bm_mt_reset_default_entry(self, context: int, table: str) -> None:
        self._reset_default(self._program.direct_table(table))

    def bm_mt_delete_entry(self, context: int, table: str, entry: int) -> None:
        self._delete(self._program.direct_table(table), entry)

    def bm_mt_modify_entry(self, context: int, table: str, entry: int, action: str, data: list[bytes]) -> None:
        known = self._program.direct_table(table)
        self._modify(known, entry, action_call(known.actions, action, data))

    def bm_mt_indirect_add_entry(self, context: int, table: str, keys: list[Any], member: int, options: Any) -> int:
        known = self._program.indirect_table(table, has_groups=False)
        return self._add(known, keys, Member(unsigned_handle(member)), options)

    def bm_mt_indirect_modify_entry(self, context: int, table: str, entry: int, member: int) -> None:
        known = self._program.indirect_table(table, has_groups=False)
        self._modify(known, entry, Member(unsigned_handle(member)))

    def bm_mt_indirect_ws_add_entry(self, context: int, table: str, keys: list[Any], group: int, options: Any) -> int:
        known = self._program.indirect_table(table, has_groups=True)
        return self._add(known, keys, Group(unsigned_handle(group)), options)

    def bm_mt_indirect_ws_modify_entry(self, context: int, table: str, entry: int, group: int) -> None:
        known = self._program.indirect_table(table, has_groups=True)
        self._modify(known, entry, Group(unsigned_handle(group)))

    def bm_mt_indirect_delete_entry(self, context: int, table: str, entry: int) -> None:
        self._delete(self._program.indirect_table(table, has_groups=False), entry)

    def bm_mt_indirect_set_default_member(self, context: int, table: str, member: int) -> None:
        known = self._program.indirect_table(table, has_groups=False)
        self._set_default(known, Member(unsigned_handle(member)))

    def bm_mt_indirect_ws_set_default_group(self, context: int, table: str, group: int) -> None:
        known = self._program.indirect_table(table, has_groups=True)
        self._set_default(known, Group(unsigned_handle(group)))

    def bm_mt_indirect_reset_default_entry(self, context: int, table: str) -> None:
        known = self._program.indirect_table(table, has_groups=False)
        raise Refused(TableCode.ERROR, f"the default of {known.name} stays a member or a group")

    def bm_mt_get_entries(self, context: int, table: str) -> list[Any]:
        """Return the entries in the order of their indexes, like BMv2."""
        known = self._program.table(table)
        return [_entry(known, entry) for entry in sorted(self._entries(known), key=lambda e: e.handle & _PLACE)]

    def bm_mt_get_entry(self, context: int, table: str, entry: int) -> Any:
        known = self._program.table(table)
        for candidate in self._entries(known):
            if candidate.handle == unsigned_handle(entry):
                return _entry(known, candidate)
        raise Refused(TableCode.INVALID_HANDLE, f"no entry {entry} in {known.name}")

    def bm_mt_get_entry_from_key(self, context: int, table: str, keys: list[Any], options: Any) -> Any:
        known = self._program.table(table)
        if not keys:
            default = self.bm_mt_get_default_entry(context, table)
            return interface().Entry([], interface().EntryOptions(_NO_PRIORITY), 0, default)
        wanted = tuple(key_pairs(known.keys, keys)), _priority(known, options)
        for candidate in self._entries(known):
            if (candidate.pairs, candidate.priority) == wanted:
                return _entry(known, candidate)
        raise Refused(TableCode.BAD_MATCH_KEY, f"no entry with that key in {known.name}")

    def bm_mt_get_default_entry(self, context: int, table: str) -> Any:
        known = self._program.table(table)
        with refusing(TableCode.ERROR):
            return _entry_action(tables.default(self._control, known))

    def _add(self, table: Table, keys: list[Any], action: EntryAction, options: Any) -> int:
        if not table.keys:
            raise Refused(TableCode.NO_TABLE_KEY, f"table {table.name} has no key")
        pairs, priority = key_pairs(table.keys, keys), _priority(table, options)
        with refusing(TableCode.ERROR, _ADDING):
            return signed_handle(tables.add(self._control, table, pairs, priority, action))

    def _modify(self, table: Table, entry: int, action: EntryAction) -> None:
        with refusing(TableCode.ERROR, _CHANGING):
            tables.modify(self._control, table, unsigned_handle(entry), action)

    def _delete(self, table: Table, entry: int) -> None:
        with refusing(TableCode.ERROR, _CHANGING):
            tables.delete(self._control, table, unsigned_handle(entry))

    def _set_default(self, table: Table, action: EntryAction) -> None:
        with refusing(TableCode.ERROR, _DEFAULT):
            tables.set_default(self._control, table, action)

    def _reset_default(self, table: Table) -> None:
        """Restore the program's default action; refused for a table of members and groups."""
        if table.profile is not None or table.default is None:
            raise Refused(TableCode.NO_DEFAULT_ENTRY, f"the program has no default action for {table.name}")
        self._set_default(table, table.default)

    def _entries(self, table: Table) -> list[Entry]:
        with refusing(TableCode.ERROR):
            return list(tables.entries(self._control, table))


def unsigned_handle(handle: int) -> int:
    """Return the unsigned handle of a control command for a handle of the protocol (signed, 32 bits)."""
    return handle & 0xFFFFFFFF


def signed_handle(handle: int) -> int:
    """Return the signed handle of the protocol for an unsigned handle."""
    return handle - (1 << 32) if handle >> 31 else handle


def _priority(table: Table, options: Any) -> int | None:
    """Return the priority of an entry; 0 if missing, None if entries of the table have none."""
    if not has_priorities(table):
        return None
    priority = getattr(options, "priority", None) or 0
    if priority < 0:
        raise Refused(TableCode.ERROR, f"a priority of {priority}")
    return int(priority)


def _entry(table: Table, entry: Entry) -> Any:
    matches = [match_of_pair(key, pair) for key, pair in zip(table.keys, entry.pairs, strict=True)]
    priority = _NO_PRIORITY if entry.priority is None else entry.priority
    options = interface().EntryOptions(priority)
    return interface().Entry(matches, options, signed_handle(entry.handle), _entry_action(entry.action))


def _entry_action(action: EntryAction | None) -> Any:
    types = interface().EntryActionType
    if action is None:
        return interface().EntryAction(types.NONE)
    if isinstance(action, Member):
        return interface().EntryAction(types.MEMBER, member=action.handle)
    if isinstance(action, Group):
        return interface().EntryAction(types.GROUP, group=action.handle)
    return interface().EntryAction(types.ACTION, action.action.name, data_bytes(action))
