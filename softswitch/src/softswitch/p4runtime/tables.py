# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Table entries: insertion, change, removal and reading.

The switch holds the entries. This module remembers only what the switch cannot: the client's metadata, timeouts and
one-shot groups. Entries that another client adds over Thrift can therefore be read, modified and deleted as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from grpc import StatusCode

from softswitch.codegen.ir.blocks import ActionCall
from softswitch.control import Commands
from softswitch.operations import tables
from softswitch.operations.tables import Entry, EntryAction, Group, Member
from softswitch.operations.values import Pair, has_priorities
from softswitch.p4runtime import messages
from softswitch.p4runtime.actions import action_call, action_message
from softswitch.p4runtime.info import Info, TableInfo
from softswitch.p4runtime.match_fields import match_of, pairs_of
from softswitch.p4runtime.profiles import GroupState, Profiles, stored_action_set
from softswitch.p4runtime.resources import (
    check_counter_data,
    check_meter_config,
    counter_data,
    meter_config,
    refuse_color_counts,
    set_counter_data,
    set_meter_config,
)
from softswitch.p4runtime.status import Refusal, invalid, not_found, refuse, refusing, unimplemented
from softswitch.p4runtime.storage import Storage

EntryKey: TypeAlias = tuple[tuple[Pair, ...], int | None]
"""The match of an entry and its priority in the switch, where a lower number wins."""

_MOST_PRIORITY = (1 << 31) - 1
_NS_PER_US = 1000
_DEFAULT_HAS_NO_RESOURCES = "a default action has no counter and no meter of its own"
_NO_FILTER = "a read of all tables selects all entries or all default entries; name a table to select by other fields"
_DIRECT = ("meter_config", "counter_data", "meter_counter_data")


@dataclass
class Remembered:
    """The properties of an entry that the switch does not store."""

    handle: int
    controller_metadata: int = 0
    metadata: bytes = b""
    idle_timeout_ns: int = 0
    one_shot: GroupState | None = None
    one_shot_message: Any = None
    idle_periods: int = 0
    """The number of timeouts without a hit that the client was notified of."""

    @property
    def n_bytes(self) -> int:
        """The memory of what the client stores with the entry."""
        one_shot_bytes = 0 if self.one_shot_message is None else self.one_shot_message.ByteSize()
        return len(self.metadata) + int(one_shot_bytes)


@dataclass(frozen=True)
class PendingInsert:
    """A new entry with the command that adds it to the switch."""

    table: TableInfo
    key: EntryKey
    message: Any
    command: str


class TableEntries:
    """The entries of a switch's tables."""

    def __init__(self, control: Commands, info: Info, profiles: Profiles, storage: Storage) -> None:
        self.control = control
        self._info = info
        self._profiles = profiles
        self._storage = storage
        self._remembered: dict[int, dict[EntryKey, Remembered]] = {number: {} for number in info.tables}
        self._defaults: dict[int, Remembered] = {}

    def write(self, kind: int, message: Any) -> None:
        table = self._info.table(message.table_id)
        if message.is_const:
            raise invalid("is_const is set by the switch only")
        if message.is_default_action:
            self._write_default(table, kind, message)
            return
        key = self._key(table, message)
        if kind == messages.v1.Update.INSERT:
            self._insert(table, key, message)
        elif kind == messages.v1.Update.MODIFY:
            self._modify(table, key, message)
        else:
            self._delete(table, key)

    def begin_insert(self, message: Any) -> PendingInsert | None:
        """Return an insert that is a single command, not yet run; None for an insert that needs several commands.

        Raise Refusal for a wrong message.
        """
        table = self._info.table(message.table_id)
        needs_more = table.profile is not None or table.table.meter is not None or message.HasField("counter_data")
        if needs_more or message.is_default_action or message.is_const:
            return None
        key = self._key(table, message)
        self._check_insert(table, message)
        self._storage.check((table.id, key), _stored_bytes(message))
        action = self._action(table, message.action, Remembered(0))
        return PendingInsert(table, key, message, tables.add_command(table.table, *key, action))

    def end_insert(self, insert: PendingInsert, answer: str) -> None:
        """Take the switch's answer to the command of an insert."""
        kept = Remembered(tables.handle_of(answer))
        _remember(kept, insert.message)
        self._keep(insert.table, insert.key, kept)

    def read(self, message: Any) -> Iterator[Any]:
        """Yield the entries that a message selects."""
        self._check_read(message)
        for table in self._selected(message):
            yield from self._read_table(table, message)

    def find(self, message: Any) -> tuple[TableInfo, int]:
        """Return the table and the handle of the entry that a message names by its key."""
        table = self._info.table(message.table_id)
        if message.is_default_action:
            raise unimplemented(_DEFAULT_HAS_NO_RESOURCES)
        return table, self._handle(table, self._key(table, message))

    def select(self, message: Any) -> Iterator[tuple[TableInfo, int, Any]]:
        """Yield table, handle and key fields of the entry with a key, or of the entries of one table or all tables."""
        if message.match and message.table_id:
            table, handle = self.find(message)
            yield table, handle, self._key_message(table, self._key(table, message))
            return
        if message.is_default_action:
            raise unimplemented(_DEFAULT_HAS_NO_RESOURCES)
        if message.table_id == 0 and (message.match or message.priority):
            raise invalid(_NO_FILTER)
        for table in self._selected(message):
            for entry in self._entries(table):
                answer = self._key_message(table, (entry.pairs, entry.priority))
                if message.priority in (0, answer.priority):
                    yield table, entry.handle, answer

    # Idle timeouts

    @property
    def has_timeouts(self) -> bool:
        """Whether an entry has a timeout."""
        return any(item.idle_timeout_ns for items in self._remembered.values() for item in items.values())

    def newly_idle(self) -> Iterator[Any]:
        """Yield the entries that no packet has hit for their timeout, once for each timeout that has passed."""
        for number, items in self._remembered.items():
            if not any(item.idle_timeout_ns for item in items.values()):
                continue
            table = self._info.tables[number]
            ages_us = self._ages_us(table)
            for (pairs, priority), item in items.items():
                if not item.idle_timeout_ns or item.handle not in ages_us:
                    continue
                periods = ages_us[item.handle] * _NS_PER_US // item.idle_timeout_ns
                if periods > item.idle_periods:
                    yield self._with_remembered(self._key_message(table, (pairs, priority)), item)
                item.idle_periods = periods

    # Writing

    def _insert(self, table: TableInfo, key: EntryKey, message: Any) -> None:
        self._check_insert(table, message)
        self._storage.check((table.id, key), _stored_bytes(message))
        kept = Remembered(0)
        action = self._action(table, message.action, kept)
        try:
            with refusing():
                kept.handle = tables.add(self.control, table.table, *key, action)
        except BaseException:
            self._drop_one_shot(table, kept)
            raise
        _remember(kept, message)
        self._keep(table, key, kept)
        self._set_resources(table, kept.handle, message)

    def _modify(self, table: TableInfo, key: EntryKey, message: Any) -> None:
        if message.HasField("action") or not any(message.HasField(field) for field in _DIRECT):
            self._refuse_const(table)
        self._check(table, message)
        self._storage.check((table.id, key), _stored_bytes(message))
        handle = self._handle(table, key)
        fresh = Remembered(handle)
        if message.HasField("action"):
            action = self._action(table, message.action, fresh)
            try:
                handle = self._change(table, key, lambda h: tables.modify(self.control, table.table, h, action))
            except BaseException:
                self._drop_one_shot(table, fresh)
                raise
        kept = self._remembered[table.id].get(key) or Remembered(handle)
        if message.HasField("action"):
            self._drop_one_shot(table, kept)
            kept.one_shot, kept.one_shot_message = fresh.one_shot, fresh.one_shot_message
        self._set_resources(table, handle, message)
        _remember(kept, message)
        if not table.p4info.is_const_table:
            self._keep(table, key, kept)

    def _delete(self, table: TableInfo, key: EntryKey) -> None:
        self._refuse_const(table)
        self._change(table, key, lambda handle: tables.delete(self.control, table.table, handle))
        self._forget(table, key)

    def _change(self, table: TableInfo, key: EntryKey, change: Callable[[int], None]) -> int:
        """Apply a change to an entry and return its handle, which is new if another client has replaced the entry."""
        handle = self._handle(table, key)
        kept = self._remembered[table.id].get(key)
        try:
            with refusing():
                change(handle)
            return handle
        except Refusal as refusal:
            if refusal.code is not StatusCode.NOT_FOUND or kept is None:
                raise
        self._forget(table, key)
        handle = self._handle(table, key)
        with refusing():
            change(handle)
        return handle

    def _keep(self, table: TableInfo, key: EntryKey, kept: Remembered) -> None:
        self._remembered[table.id][key] = kept
        self._storage.set((table.id, key), kept.n_bytes)

    def _forget(self, table: TableInfo, key: EntryKey) -> None:
        kept = self._remembered[table.id].pop(key, None)
        self._storage.set((table.id, key), 0)
        if kept is not None:
            self._drop_one_shot(table, kept)

    def _write_default(self, table: TableInfo, kind: int, message: Any) -> None:
        if kind != messages.v1.Update.MODIFY:
            raise invalid("a default action can only be modified")
        if message.match or message.priority:
            raise invalid("a default action has no match and no priority")
        if message.idle_timeout_ns or message.HasField("time_since_last_hit"):
            raise invalid("a default action has no timeout")
        if any(message.HasField(field) for field in _DIRECT):
            raise unimplemented(_DEFAULT_HAS_NO_RESOURCES)
        if table.profile is not None:
            raise unimplemented("the default action of a table with an action profile cannot be changed")
        action: EntryAction | None = table.table.default
        if message.HasField("action"):
            action = self._action(table, message.action, Remembered(0), is_default=True)
        if action is None:
            raise invalid(f"the program has no default action for table {table.table.name}")
        self._storage.check((table.id, None), len(message.metadata))
        with refusing():
            tables.set_default(self.control, table.table, action)
        self._defaults[table.id] = Remembered(0)
        if message.HasField("action"):
            _remember(self._defaults[table.id], message)
        self._storage.set((table.id, None), self._defaults[table.id].n_bytes)

    def _check_insert(self, table: TableInfo, message: Any) -> None:
        self._refuse_const(table)
        if not table.fields:
            raise invalid(f"table {table.table.name} has no key, so it has no entries")
        if not message.HasField("action"):
            raise invalid("a new entry needs an action")
        self._check(table, message)

    def _check(self, table: TableInfo, message: Any) -> None:
        """Raise Refusal for timeouts and direct resources that the table does not have."""
        name = table.table.name
        if not table.has_timeout and (message.idle_timeout_ns or message.HasField("time_since_last_hit")):
            raise invalid(f"table {name} does not support idle timeouts")
        if message.idle_timeout_ns < 0 or message.HasField("time_since_last_hit"):
            raise invalid("an idle timeout is below 0, or time_since_last_hit is set")
        refuse_color_counts(message, "meter_counter_data")
        if message.HasField("counter_data"):
            if table.table.counter is None:
                raise invalid(f"table {name} has no direct counter")
            check_counter_data(message.counter_data)
        if message.HasField("meter_config"):
            if table.table.meter is None:
                raise invalid(f"table {name} has no direct meter")
            check_meter_config(self._info.direct_meters[table.table.meter.name].spec, message.meter_config)

    def _set_resources(self, table: TableInfo, handle: int, message: Any) -> None:
        if table.table.counter is not None and message.HasField("counter_data"):
            set_counter_data(self.control, table.table.counter, handle, message.counter_data)
        if table.table.meter is not None:
            config = message.meter_config if message.HasField("meter_config") else None
            set_meter_config(self.control, table.table.meter, handle, config)

    def _action(self, table: TableInfo, message: Any, kept: Remembered, *, is_default: bool = False) -> EntryAction:
        """Return the action of a message. A one-shot group is created and noted in `kept`."""
        kind = message.WhichOneof("type")
        if kind == "action" and table.profile is None:
            self._check_scope(table, message.action.action_id, is_default=is_default)
            return action_call(table.actions, message.action, f"table {table.table.name}")
        if kind == "action_profile_member_id" and table.profile is not None:
            return self._profiles.member(table.profile, message.action_profile_member_id)
        if kind == "action_profile_group_id" and table.profile is not None:
            return self._profiles.group(table.profile, message.action_profile_group_id)
        if kind == "action_profile_action_set" and table.profile is not None:
            kept.one_shot = self._profiles.add_one_shot(table.profile, message.action_profile_action_set)
            kept.one_shot_message = stored_action_set(message)
            return Group(kept.one_shot.handle)
        raise invalid(f"table {table.table.name} takes no action of the form {kind}")

    @staticmethod
    def _check_scope(table: TableInfo, action_id: int, *, is_default: bool) -> None:
        scopes = messages.config.ActionRef
        forbidden = scopes.TABLE_ONLY if is_default else scopes.DEFAULT_ONLY
        if table.scopes.get(action_id) == forbidden:
            where = "the default action" if is_default else "the action of an entry"
            refuse(StatusCode.PERMISSION_DENIED, f"action {action_id} cannot be {where}")

    def _drop_one_shot(self, table: TableInfo, kept: Remembered) -> None:
        if kept.one_shot is not None and table.profile is not None:
            self._profiles.delete_one_shot(table.profile, kept.one_shot)
            kept.one_shot = kept.one_shot_message = None

    @staticmethod
    def _refuse_const(table: TableInfo) -> None:
        if table.p4info.is_const_table or table.table.entries_are_const:
            refuse(StatusCode.PERMISSION_DENIED, f"the entries of table {table.table.name} are const")

    # Finding

    @staticmethod
    def _key(table: TableInfo, message: Any) -> EntryKey:
        pairs = pairs_of(table, message.match)
        if not has_priorities(table.table):
            if message.priority:
                raise invalid(f"entries of table {table.table.name} have no priority")
            return pairs, None
        if message.priority <= 0:
            raise invalid(f"entries of table {table.table.name} need a priority above 0")
        return pairs, _reversed(table, message.priority)

    def _handle(self, table: TableInfo, key: EntryKey) -> int:
        """Return the handle of an entry; entries of other clients are looked up in the switch."""
        kept = self._remembered[table.id].get(key)
        if kept is not None:
            return kept.handle
        for entry in self._entries(table):
            if (entry.pairs, entry.priority) == key:
                return entry.handle
        raise not_found(f"no entry with this key in table {table.table.name}")

    def _entries(self, table: TableInfo) -> list[Entry]:
        with refusing():
            return list(tables.entries(self.control, table.table))

    # Reading

    def _selected(self, message: Any) -> list[TableInfo]:
        return list(self._info.tables.values()) if message.table_id == 0 else [self._info.table(message.table_id)]

    def _check_read(self, message: Any) -> None:
        """Raise Refusal for a request with fields that select nothing or that the table does not have."""
        refuse_color_counts(message, "meter_counter_data")
        has_timeout = message.idle_timeout_ns or message.HasField("time_since_last_hit")
        if message.is_default_action and (message.match or message.priority or has_timeout):
            raise invalid("a default action has no match, no priority and no timeout")
        if message.table_id == 0:
            fields = (message.match, message.priority, message.controller_metadata, message.metadata)
            if any(fields) or message.HasField("action"):
                raise invalid(_NO_FILTER)
            return
        table = self._info.table(message.table_id)
        if has_timeout and not table.has_timeout:
            raise invalid(f"table {table.table.name} does not support idle timeouts")
        if message.action.action.action_id and (
            table.profile is not None or message.action.action.action_id not in table.actions
        ):
            raise invalid(f"table {table.table.name} has no action {message.action.action.action_id}")

    def _read_table(self, table: TableInfo, message: Any) -> Iterator[Any]:
        if message.is_default_action:
            yield from self._read_default(table, message)
            return
        wanted = pairs_of(table, message.match) if message.match else None
        ages_us = self._ages_us(table) if message.HasField("time_since_last_hit") and table.has_timeout else {}
        for entry in self._entries(table):
            if wanted is not None and entry.pairs != wanted:
                continue
            answer = self._entry_message(table, entry)
            if answer is None or not _passes(answer, message):
                continue
            self._add_resources(table, entry.handle, message, answer)
            if entry.handle in ages_us:
                answer.time_since_last_hit.elapsed_ns = ages_us[entry.handle] * _NS_PER_US
            yield answer

    def _read_default(self, table: TableInfo, message: Any) -> Iterator[Any]:
        """Yield the default entry. A table with an action profile has one without an effect, which is const."""
        with refusing():
            action = tables.default(self.control, table.table)
        answer = messages.v1.TableEntry(table_id=table.id, is_default_action=True)
        answer.is_const = table.profile is not None or table.table.default_is_const
        if action is None:
            no_action = next((item for item in table.actions.values() if item.action.name == "NoAction"), None)
            if no_action is not None:
                answer.action.action.action_id = no_action.id
        elif not self._set_action(table, action, answer):
            return
        kept = self._defaults.get(table.id)
        if kept is not None:
            answer.controller_metadata, answer.metadata = kept.controller_metadata, kept.metadata
        if _passes(answer, message):
            yield answer

    def _entry_message(self, table: TableInfo, entry: Entry) -> Any | None:
        """Return the message of an entry; None if its member or group has no id in this protocol."""
        answer = self._key_message(table, (entry.pairs, entry.priority))
        kept = self._remembered[table.id].get((entry.pairs, entry.priority))
        if kept is not None and kept.handle == entry.handle:
            self._with_remembered(answer, kept)
            if kept.one_shot is not None:
                answer.action.CopyFrom(kept.one_shot_message)
                return answer
        answer.is_const = entry.is_const
        return answer if self._set_action(table, entry.action, answer) else None

    def _set_action(self, table: TableInfo, action: EntryAction, answer: Any) -> bool:
        """Set the action of an entry; return whether its member or group has an id in this protocol."""
        if isinstance(action, ActionCall):
            answer.action.action.CopyFrom(action_message(table.actions, action))
            return True
        assert table.profile is not None
        if isinstance(action, Member):
            number = self._profiles.member_id(table.profile, action.handle)
            answer.action.action_profile_member_id = number or 0
        else:
            number = self._profiles.group_id(table.profile, action.handle)
            answer.action.action_profile_group_id = number or 0
        return number is not None

    @staticmethod
    def _key_message(table: TableInfo, key: EntryKey) -> Any:
        pairs, priority = key
        answer = messages.v1.TableEntry(table_id=table.id, match=match_of(table, pairs))
        if priority is not None:
            answer.priority = _reversed(table, priority)
        return answer

    @staticmethod
    def _with_remembered(answer: Any, kept: Remembered) -> Any:
        answer.controller_metadata = kept.controller_metadata
        answer.metadata = kept.metadata
        answer.idle_timeout_ns = kept.idle_timeout_ns
        return answer

    def _add_resources(self, table: TableInfo, handle: int, message: Any, answer: Any) -> None:
        """Add the values of direct resources that the client requests."""
        if message.HasField("counter_data") and table.table.counter is not None:
            answer.counter_data.CopyFrom(counter_data(self.control, table.table.counter, handle))
        if message.HasField("meter_config") and table.table.meter is not None:
            config = meter_config(self.control, table.table.meter, handle)
            if config is not None:
                answer.meter_config.CopyFrom(config)

    def _ages_us(self, table: TableInfo) -> dict[int, int]:
        with refusing():
            return tables.ages_us(self.control, table.table)


def _reversed(table: TableInfo, priority: int) -> int:
    """Return the priority in this protocol, where the highest wins, for one in the switch, or the reverse.

    The N const entries of a table have the priorities N to 1 in their order, as p4c counts them.
    """
    const = table.table.entries
    return (max(entry.priority for entry in const) + 1 if const else _MOST_PRIORITY) - priority


def _stored_bytes(message: Any) -> int:
    """Return the memory of what a client's message adds to an entry."""
    is_one_shot = message.action.HasField("action_profile_action_set")
    return len(message.metadata) + (int(message.action.ByteSize()) if is_one_shot else 0)


def _remember(kept: Remembered, message: Any) -> None:
    kept.controller_metadata = message.controller_metadata
    kept.metadata = message.metadata
    kept.idle_timeout_ns = message.idle_timeout_ns


def _passes(answer: Any, message: Any) -> bool:
    """Whether an entry has the values that the client's message filters by.

    The only filter by action is the id: arguments, members and groups are ignored, as the specification says.
    """
    filters = ("priority", "controller_metadata", "metadata")
    if any(getattr(message, name) not in (getattr(answer, name), 0, b"") for name in filters):
        return False
    action_id = message.action.action.action_id
    return action_id in (0, answer.action.action.action_id)
