# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Copies the forwarding state of a pipeline to the pipeline that replaces it.

Entries, members, groups, meter arrays, value sets, digests and replication must fit the new program. Counters,
registers and direct resources are copied only if both programs declare them alike, and start empty otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from softswitch.p4runtime import messages
from softswitch.p4runtime.info import ArrayInfo, Info
from softswitch.p4runtime.pipeline import Pipeline

_COPIED = (
    messages.v1.Entity(action_profile_member={}),
    messages.v1.Entity(action_profile_group={}),
    messages.v1.Entity(table_entry={"counter_data": {}, "meter_config": {}}),
    messages.v1.Entity(counter_entry={}),
    messages.v1.Entity(register_entry={}),
    messages.v1.Entity(meter_entry={}),
    messages.v1.Entity(value_set_entry={}),
    messages.v1.Entity(digest_entry={}),
    messages.v1.Entity(packet_replication_engine_entry={"multicast_group_entry": {}}),
    messages.v1.Entity(packet_replication_engine_entry={"clone_session_entry": {}}),
)
"""The entities that are copied, in an order in which they can be written."""
_MODIFIED = ("counter_entry", "register_entry", "meter_entry", "value_set_entry")
"""The kinds of entities that every switch with this program has from the start."""


def copy_entities(source: Pipeline, target: Pipeline) -> None:
    """Write the entities of a pipeline to another one. Raise Refusal if it does not accept one of them."""
    old, new = source.config.info, target.config.info
    for request in _COPIED:
        for entity in source.entities.read(request):
            kind = entity.WhichOneof("entity")
            if not _is_copied(kind, getattr(entity, kind), old, new):
                continue
            if kind == "table_entry":
                _remove_other_resources(entity.table_entry, old, new)
            update = messages.v1.Update.MODIFY if kind in _MODIFIED else messages.v1.Update.INSERT
            target.entities.write(messages.v1.Update(type=update, entity=entity))


def _is_copied(kind: str, message: Any, old: Info, new: Info) -> bool:
    """Whether an entity differs from its initial state, and the new program has a place for it or must have one."""
    if kind == "table_entry":
        return not message.is_const
    if kind == "counter_entry":
        return _is_counted(message.data) and _is_same(old.counters, new.counters, message.counter_id)
    if kind == "register_entry":
        return _is_written(message.data) and _is_same(old.registers, new.registers, message.register_id)
    if kind == "meter_entry":
        return bool(message.HasField("config"))
    return kind != "value_set_entry" or bool(message.members)


def _is_counted(data: Any) -> bool:
    return bool(data.packet_count or data.byte_count)


def _is_written(data: Any) -> bool:
    return bool(data.bool or data.bitstring.strip(b"\0"))


def _is_same(old: Mapping[int, ArrayInfo], new: Mapping[int, ArrayInfo], number: int) -> bool:
    return number in new and bool(old[number].p4info == new[number].p4info)


def _remove_other_resources(entry: Any, old: Info, new: Info) -> None:
    """Remove the count or the rates from an entry if its table has another counter or meter in the new program."""
    if entry.table_id not in new.tables:
        return  # the write will be refused
    before, after = old.tables[entry.table_id].table, new.tables[entry.table_id].table
    counters = [None if table.counter is None else table.counter.name for table in (before, after)]
    if counters[0] != counters[1] or not _is_counted(entry.counter_data):
        entry.ClearField("counter_data")
    meters = [
        None if table.meter is None else info.direct_meters[table.meter.name]
        for table, info in ((before, old), (after, new))
    ]
    if meters[0] != meters[1]:
        entry.ClearField("meter_config")
