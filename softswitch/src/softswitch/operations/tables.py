# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Operations on tables: entries and default actions, with actions of their own or with members and groups.

Entries are read from `table_dump`, so entries from a commands file are included. Const entries are read from the
program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from softswitch.codegen.ir.blocks import ActionCall, Table
from softswitch.codegen.ir.nodes import Action
from softswitch.control import Commands
from softswitch.operations.values import Pair, has_priorities, key_word, pair_of_word, run, word_value

_ENTRY = re.compile(r"entry (\d+): (.*?) => (.*?)(?: priority (\d+))?")


@dataclass(frozen=True)
class Member:
    """A member of the table's action profile."""

    handle: int


@dataclass(frozen=True)
class Group:
    """A group of the table's action profile."""

    handle: int


EntryAction: TypeAlias = ActionCall | Member | Group


@dataclass(frozen=True)
class Entry:
    """An entry of a table. The priority is None if entries of the table have none; a lower number wins."""

    handle: int
    pairs: tuple[Pair, ...]
    priority: int | None
    action: EntryAction
    is_const: bool = False


def add(control: Commands, table: Table, pairs: Sequence[Pair], priority: int | None, action: EntryAction) -> int:
    """Add an entry and return its handle."""
    return handle_of(control.command(add_command(table, pairs, priority, action)))


def add_command(table: Table, pairs: Sequence[Pair], priority: int | None, action: EntryAction) -> str:
    """Return the command that adds an entry; its answer has the handle."""
    keys = [key_word(key, pair) for key, pair in zip(table.keys, pairs, strict=True)]
    last = [] if priority is None else [priority]
    if isinstance(action, ActionCall):
        words: list[object] = ["table_add", table.name, action.action.name, *keys, "=>", *_arguments(action), *last]
    else:
        verb = "table_indirect_add" if isinstance(action, Member) else "table_indirect_add_with_group"
        words = [verb, table.name, *keys, "=>", action.handle, *last]
    return " ".join(map(str, words))


def handle_of(answer: str) -> int:
    """Return the handle in the answer to `add_command`."""
    return int(answer.split()[-1])


def modify(control: Commands, table: Table, handle: int, action: EntryAction) -> None:
    """Give an entry another action, member or group."""
    if isinstance(action, ActionCall):
        run(control, "table_modify", table.name, action.action.name, handle, "=>", *_arguments(action))
    else:
        verb = "table_indirect_modify" if isinstance(action, Member) else "table_indirect_modify_with_group"
        run(control, verb, table.name, handle, action.handle)


def delete(control: Commands, table: Table, handle: int) -> None:
    run(control, "table_delete", table.name, handle)


def clear(control: Commands, table: Table) -> None:
    """Remove all entries; the default action stays."""
    run(control, "table_clear", table.name)


def count(control: Commands, table: Table) -> int:
    """Return the number of entries, const entries included."""
    return int(run(control, "table_num_entries", table.name))


def set_default(control: Commands, table: Table, action: EntryAction) -> None:
    if isinstance(action, ActionCall):
        run(control, "table_set_default", table.name, action.action.name, *_arguments(action))
    else:
        verb = "table_indirect_set_default" if isinstance(action, Member) else "table_indirect_set_default_with_group"
        run(control, verb, table.name, action.handle)


def default(control: Commands, table: Table) -> EntryAction | None:
    """Return the default action, or None if the table has none."""
    words = run(control, "table_dump", table.name).splitlines()[-1].removeprefix("default: ").split()
    if words == ["none"]:
        return None
    if table.default is not None and words == [table.default.action.name]:
        return table.default
    return _action(table, words)


def entries(control: Commands, table: Table) -> Iterator[Entry]:
    """Yield the const entries of the program, then the other entries in the order of their addition."""
    for handle, const in enumerate(table.entries):
        priority = const.priority if has_priorities(table) else None
        yield Entry(handle, const.keys, priority, const.call, is_const=True)
    for line in run(control, "table_dump", table.name).splitlines():
        if match := _ENTRY.fullmatch(line):
            number, keys, action, priority_word = match.groups()
            pairs = tuple(pair_of_word(key, word) for key, word in zip(table.keys, keys.split(), strict=True))
            priority = None if priority_word is None else int(priority_word)
            yield Entry(int(number), pairs, priority, _action(table, action.split()))


def has_entry(control: Commands, table: Table, handle: int) -> bool:
    """Whether a handle belongs to an entry of the table."""
    if 0 <= handle < len(table.entries):
        return True
    begin = f"entry {handle}: "
    return any(line.startswith(begin) for line in run(control, "table_dump", table.name).splitlines())


def ages_us(control: Commands, table: Table) -> dict[int, int]:
    """Return the time since the last hit of each entry by handle, or since its addition if no packet hit it."""
    lines = run(control, "table_ages", table.name).splitlines()
    return {int(handle): int(age) for handle, age in (line.split() for line in lines)}


def call_of(actions: Sequence[Action], words: Sequence[str]) -> ActionCall:
    """Return an action with its arguments from its words in a dump."""
    action = next(action for action in actions if action.name == words[0])
    values = (word_value(word, param.bits) for word, param in zip(words[1:], action.params, strict=True))
    return ActionCall(action, tuple(values))


def _arguments(call: ActionCall) -> list[str]:
    return [f"{value:#x}" for value in call.args]


def _action(table: Table, words: list[str]) -> EntryAction:
    """Return an entry's action from the words of `table_dump`."""
    if table.profile is not None and words[0] == "member":
        return Member(int(words[1]))
    if table.profile is not None and words[0] == "group":
        return Group(int(words[1]))
    return call_of(table.actions, words)
