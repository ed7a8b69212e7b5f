# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes and reads of entities, each passed to the part that implements its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from softswitch.control import CommandError, Commands, results_of
from softswitch.p4runtime import messages
from softswitch.p4runtime.counters import Counters
from softswitch.p4runtime.digests import Digests
from softswitch.p4runtime.info import Info
from softswitch.p4runtime.meters import Meters
from softswitch.p4runtime.profiles import Profiles
from softswitch.p4runtime.registers import Registers
from softswitch.p4runtime.replication import Replication
from softswitch.p4runtime.status import Refusal, invalid, refusal_of, unimplemented
from softswitch.p4runtime.storage import Storage
from softswitch.p4runtime.tables import PendingInsert, TableEntries
from softswitch.p4runtime.value_sets import ParserValueSets

Write: TypeAlias = Callable[[int, Any], None]
Read: TypeAlias = Callable[[Any], Iterator[Any]]

UNSUPPORTED = {
    "extern_entry": "v1model has no extern of another kind",
}
"""The kinds of entities that do not exist, with the reason."""


class Entities:
    """The entities of a switch that runs a program."""

    def __init__(self, control: Commands, info: Info, is_up: Callable[[int], bool | None]) -> None:
        storage = Storage()
        self.profiles = Profiles(control, info, is_up, storage)
        self.tables = TableEntries(control, info, self.profiles, storage)
        self.digests = Digests(control, info)
        counters = Counters(control, info, self.tables)
        meters = Meters(control, info, self.tables)
        registers = Registers(control, info)
        replication = Replication(control, storage)
        value_sets = ParserValueSets(control, info)
        self._parts = (self.profiles, self.tables, self.digests, counters, meters, registers, replication, value_sets)
        self._methods: Mapping[str, tuple[Write, Read]] = {
            "table_entry": (self.tables.write, self.tables.read),
            "action_profile_member": (self.profiles.write_member, self.profiles.read_members),
            "action_profile_group": (self.profiles.write_group, self.profiles.read_groups),
            "meter_entry": (meters.write, meters.read),
            "direct_meter_entry": (meters.write_direct, meters.read_direct),
            "counter_entry": (counters.write, counters.read),
            "direct_counter_entry": (counters.write_direct, counters.read_direct),
            "packet_replication_engine_entry": (replication.write, replication.read),
            "register_entry": (registers.write, registers.read),
            "value_set_entry": (value_sets.write, value_sets.read),
            "digest_entry": (self.digests.write, self.digests.read),
            "extern_entry": (_write_extern, _read_externs),
        }

    def write(self, update: Any) -> None:
        """Apply an update. Raise Refusal if it is refused; then nothing has changed."""
        if update.type not in (messages.v1.Update.INSERT, messages.v1.Update.MODIFY, messages.v1.Update.DELETE):
            raise invalid("an update inserts, modifies or deletes")
        kind = _kind(update.entity)
        self._methods[kind][0](update.type, getattr(update.entity, kind))

    def write_all(self, updates: Iterable[Any]) -> list[Refusal | None]:
        """Apply updates in order and return the refusal of each, or None.

        Inserts that follow one another go to the switch together, so that they do not wait for each other's answers.
        """
        results: list[Refusal | None] = []
        pending: dict[int, PendingInsert] = {}
        for number, update in enumerate(updates):
            results.append(None)
            try:
                is_insert = update.type == messages.v1.Update.INSERT and update.entity.HasField("table_entry")
                insert = self.tables.begin_insert(update.entity.table_entry) if is_insert else None
                if insert is not None:
                    pending[number] = insert
                    continue
                self._run(pending, results)
                self.write(update)
            except Refusal as refusal:
                results[number] = refusal.kept()
            except CommandError as error:
                results[number] = refusal_of(error)
        self._run(pending, results)
        return results

    def _run(self, pending: dict[int, PendingInsert], results: list[Refusal | None]) -> None:
        """Run the commands of pending inserts, and set a result for each insert that the switch refuses."""
        answers = results_of(self.tables.control, [insert.command for insert in pending.values()])
        for (number, insert), answer in zip(pending.items(), answers, strict=True):
            if isinstance(answer, CommandError):
                results[number] = refusal_of(answer)
            else:
                self.tables.end_insert(insert, answer)
        pending.clear()

    def read(self, request: Any) -> Iterator[Any]:
        """Yield the entities that a request selects. Raise Refusal if it is not valid."""
        kind = _kind(request)
        for item in self._methods[kind][1](getattr(request, kind)):
            yield messages.v1.Entity(**{kind: item})

    def use(self, control: Commands) -> None:
        """Let all parts work on another switch, which must be in the same state."""
        for part in self._parts:
            part.control = control


def _kind(entity: Any) -> str:
    kind: str | None = entity.WhichOneof("entity")
    if kind is None:
        raise invalid("an entity is empty")
    return kind


def _write_extern(_kind: int, message: Any) -> None:
    raise unimplemented(f"extern type {message.extern_type_id}: {UNSUPPORTED['extern_entry']}")


def _read_externs(message: Any) -> Iterator[Any]:
    """Yield the externs of all supported types, of which there are none. Raise Refusal for a single type."""
    if message.extern_type_id:
        _write_extern(0, message)
    yield from ()
