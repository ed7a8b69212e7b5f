# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calls on tables: entries and default actions, with direct actions or with members and groups of a profile.

Entries are read from `table_dump`, so entries from a commands file are included. Const entries are read from the
program. Methods have the names of the calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from softswitch.codegen.ir.blocks import Table
from softswitch.control import Commands
from softswitch.thrift.interface import interface
from softswitch.thrift.program import Program, action_of
from softswitch.thrift.refusals import Refused, TableCode, ask
from softswitch.thrift.values import (
    Pair,
    as_bytes,
    data_bytes,
    data_words,
    key_pairs,
    key_word,
    match_of_pair,
    pair_of_word,
)

NO_PRIORITY = -1
_PLACE = 0xFFFFFF
"""The bits of a handle that hold the entry's index; the upper bits count how often the index was reused."""
_ENTRY = re.compile(r"entry (\d+): (.*?) => (.*?)(?: priority (\d+))?")
_ADDING = {
    "already": TableCode.DUPLICATE_ENTRY,
    "is full": TableCode.TABLE_FULL,
    "is const": TableCode.ENTRIES_ARE_CONST,
    "has no member": TableCode.INVALID_MEMBER,
    "has no group": TableCode.INVALID_GROUP,
}
_CHANGING = {"does not exist": TableCode.INVALID_HANDLE, "is const": TableCode.ENTRIES_ARE_CONST}
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
        words = ["table_num_entries", self._program.table(table).name]
        return int(ask(self._control, words, TableCode.ERROR))

    def bm_mt_clear_entries(self, context: int, table: str, reset_default: bool) -> None:
        known = self._program.table(table)
        ask(self._control, ["table_clear", known.name], TableCode.ERROR, _CHANGING)
        if reset_default:
            self._reset_default(known)

    def bm_mt_add_entry(
        self, context: int, table: str, keys: list[Any], action: str, data: list[bytes], options: Any
    ) -> int:
        known = self._program.direct_table(table)
        called = action_of(known.actions, action)
        words = ["table_add", known.name, called.name, *_key_words(known, keys), "=>", *data_words(called, data)]
        return self._add(known, words, options)

    def bm_mt_set_default_action(self, context: int, table: str, action: str, data: list[bytes]) -> None:
        known = self._program.direct_table(table)
        called = action_of(known.actions, action)
        words = ["table_set_default", known.name, called.name, *data_words(called, data)]
        ask(self._control, words, TableCode.ERROR, _DEFAULT)

    def bm_mt_reset_default_entry(self, context: int, table: str) -> None:
        self._reset_default(self._program.direct_table(table))

    def bm_mt_delete_entry(self, context: int, table: str, entry: int) -> None:
        self._delete(self._program.direct_table(table), entry)

    def bm_mt_modify_entry(self, context: int, table: str, entry: int, action: str, data: list[bytes]) -> None:
        known = self._program.direct_table(table)
        called = action_of(known.actions, action)
        words = ["table_modify", known.name, called.name, handle_word(entry), "=>", *data_words(called, data)]
        ask(self._control, words, TableCode.ERROR, _CHANGING)

    def bm_mt_indirect_add_entry(self, context: int, table: str, keys: list[Any], member: int, options: Any) -> int:
        known = self._program.indirect_table(table, has_groups=False)
        words = ["table_indirect_add", known.name, *_key_words(known, keys), "=>", handle_word(member)]
        return self._add(known, words, options)

    def bm_mt_indirect_ws_add_entry(self, context: int, table: str, keys: list[Any], group: int, options: Any) -> int:
        known = self._program.indirect_table(table, has_groups=True)
        words = ["table_indirect_add_with_group", known.name, *_key_words(known, keys), "=>", handle_word(group)]
        return self._add(known, words, options)

    def bm_mt_indirect_delete_entry(self, context: int, table: str, entry: int) -> None:
        self._delete(self._program.indirect_table(table, has_groups=False), entry)

    def bm_mt_indirect_set_default_member(self, context: int, table: str, member: int) -> None:
        known = self._program.indirect_table(table, has_groups=False)
        words = ["table_indirect_set_default", known.name, handle_word(member)]
        ask(self._control, words, TableCode.ERROR, _DEFAULT)

    def bm_mt_indirect_ws_set_default_group(self, context: int, table: str, group: int) -> None:
        known = self._program.indirect_table(table, has_groups=True)
        words = ["table_indirect_set_default_with_group", known.name, handle_word(group)]
        ask(self._control, words, TableCode.ERROR, _DEFAULT)

    def bm_mt_indirect_reset_default_entry(self, context: int, table: str) -> None:
        known = self._program.indirect_table(table, has_groups=False)
        raise Refused(TableCode.ERROR, f"the default of {known.name} stays a member or a group")

    def bm_mt_get_entries(self, context: int, table: str) -> list[Any]:
        """Return the entries in the order of their indexes, like BMv2."""
        entries = [entry for entry, _ in self._entries(self._program.table(table))]
        return sorted(entries, key=lambda entry: entry.handle & _PLACE)

    def bm_mt_get_entry(self, context: int, table: str, entry: int) -> Any:
        known = self._program.table(table)
        for candidate, _ in self._entries(known):
            if candidate.handle == entry:
                return candidate
        raise Refused(TableCode.INVALID_HANDLE, f"no entry {entry} in {known.name}")

    def bm_mt_get_entry_from_key(self, context: int, table: str, keys: list[Any], options: Any) -> Any:
        known = self._program.table(table)
        if not keys:
            default = self.bm_mt_get_default_entry(context, table)
            return interface().Entry([], interface().EntryOptions(NO_PRIORITY), 0, default)
        wanted = key_pairs(known.keys, keys), _priority(known, options)
        for candidate, pairs in self._entries(known):
            if (pairs, candidate.options.priority) == wanted:
                return candidate
        raise Refused(TableCode.BAD_MATCH_KEY, f"no entry with that key in {known.name}")

    def bm_mt_get_default_entry(self, context: int, table: str) -> Any:
        known = self._program.table(table)
        answer = ask(self._control, ["table_dump", known.name], TableCode.ERROR)
        words = answer.splitlines()[-1].removeprefix("default: ").split()
        if words == ["none"]:
            return interface().EntryAction(interface().EntryActionType.NONE)
        if known.default is not None and words == [known.default.action.name]:
            return _const_action(known.default)
        return _entry_action(known, words)

    def _add(self, table: Table, words: list[str], options: Any) -> int:
        if not table.keys:
            raise Refused(TableCode.NO_TABLE_KEY, f"table {table.name} has no key")
        priority = _priority(table, options)
        words += [] if priority == NO_PRIORITY else [str(priority)]
        return signed_handle(int(ask(self._control, words, TableCode.ERROR, _ADDING).split()[-1]))

    def _delete(self, table: Table, entry: int) -> None:
        ask(self._control, ["table_delete", table.name, handle_word(entry)], TableCode.ERROR, _CHANGING)

    def _reset_default(self, table: Table) -> None:
        """Restore the program's default action; refused for a table of members and groups."""
        if table.profile is not None or table.default is None:
            raise Refused(TableCode.NO_DEFAULT_ENTRY, f"the program has no default action for {table.name}")
        action, args = table.default.action, table.default.args
        words = ["table_set_default", table.name, action.name, *(f"{value:#x}" for value in args)]
        ask(self._control, words, TableCode.ERROR, _DEFAULT)

    def _entries(self, table: Table) -> Iterator[tuple[Any, list[Pair]]]:
        """Yield each entry with its keys as pairs of numbers."""
        for handle, const in enumerate(table.entries):
            priority = const.priority if has_priorities(table) else NO_PRIORITY
            yield _entry(table, handle, list(const.keys), priority, _const_action(const.call))
        answer = ask(self._control, ["table_dump", table.name], TableCode.ERROR)
        for line in answer.splitlines():
            if match := _ENTRY.fullmatch(line):
                number, keys, action, priority_word = match.groups()
                pairs = [pair_of_word(key, word) for key, word in zip(table.keys, keys.split(), strict=True)]
                priority = NO_PRIORITY if priority_word is None else int(priority_word)
                yield _entry(table, signed_handle(int(number)), pairs, priority, _entry_action(table, action.split()))


def has_entry(control: Commands, table: Table, entry: int) -> bool:
    """Whether a handle belongs to an entry of the table."""
    if 0 <= entry < len(table.entries):
        return True
    begin = f"entry {handle_word(entry)}: "
    dump = ask(control, ["table_dump", table.name], TableCode.ERROR)
    return any(line.startswith(begin) for line in dump.splitlines())


def handle_word(handle: int) -> str:
    """Return the word of a control command (unsigned) for a handle of the protocol (signed, 32 bits)."""
    return str(handle & 0xFFFFFFFF)


def signed_handle(handle: int) -> int:
    """Return the signed handle of the protocol for an unsigned handle."""
    return handle - (1 << 32) if handle >> 31 else handle


def has_priorities(table: Table) -> bool:
    """Whether entries have priorities, because more than one may match a packet."""
    return any(key.kind in ("ternary", "range", "optional") for key in table.keys)


def _key_words(table: Table, keys: list[Any]) -> list[str]:
    pairs = key_pairs(table.keys, keys)
    return [key_word(key, pair) for key, pair in zip(table.keys, pairs, strict=True)]


def _priority(table: Table, options: Any) -> int:
    """Return the priority of an entry; 0 if missing, NO_PRIORITY if entries of the table have none."""
    if not has_priorities(table):
        return NO_PRIORITY
    priority = getattr(options, "priority", None) or 0
    if priority < 0:
        raise Refused(TableCode.ERROR, f"a priority of {priority}")
    return int(priority)


def _entry(table: Table, handle: int, pairs: list[Pair], priority: int, action: Any) -> tuple[Any, list[Pair]]:
    matches = [match_of_pair(key, pair) for key, pair in zip(table.keys, pairs, strict=True)]
    return interface().Entry(matches, interface().EntryOptions(priority), handle, action), pairs


def _const_action(call: Any) -> Any:
    data = [as_bytes(value, param.bits) for value, param in zip(call.args, call.action.params, strict=True)]
    return interface().EntryAction(interface().EntryActionType.ACTION, call.action.name, data)


def _entry_action(table: Table, words: list[str]) -> Any:
    """Return an entry's action from the words of `table_dump`."""
    types = interface().EntryActionType
    if table.profile is not None and words[0] in ("member", "group"):
        handle = int(words[1])
        if words[0] == "member":
            return interface().EntryAction(types.MEMBER, member=handle)
        return interface().EntryAction(types.GROUP, group=handle)
    action = action_of(table.actions, words[0])
    return interface().EntryAction(types.ACTION, action.name, data_bytes(action, words[1:]))
