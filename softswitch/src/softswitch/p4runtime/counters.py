# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Counters: arrays, and the counters of table entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from softswitch.codegen.ir.blocks import Array
from softswitch.control import Commands
from softswitch.p4runtime import messages
from softswitch.p4runtime.indexes import read_cells, written_cells
from softswitch.p4runtime.info import Info, TableInfo, find
from softswitch.p4runtime.resources import counter_data, set_counter_data
from softswitch.p4runtime.status import invalid
from softswitch.p4runtime.tables import TableEntries


class Counters:
    """The counters of a switch."""

    def __init__(self, control: Commands, info: Info, entries: TableEntries) -> None:
        self.control = control
        self._info = info
        self._entries = entries

    def write(self, kind: int, message: Any) -> None:
        counter = find(self._info.counters, message.counter_id, "counter")
        cells = written_cells(kind, counter, message)
        if message.HasField("data"):
            for index in cells:
                set_counter_data(self.control, counter.array, index, message.data)

    def read(self, message: Any) -> Iterator[Any]:
        for counter, cells in read_cells(self._info.counters, message.counter_id, "counter", message):
            for index in cells:
                data = counter_data(self.control, counter.array, index)
                answer = messages.v1.CounterEntry(counter_id=counter.id, data=data)
                answer.index.index = index
                yield answer

    def write_direct(self, kind: int, message: Any) -> None:
        if kind != messages.v1.Update.MODIFY:
            raise invalid("a direct counter can only be modified")
        table, handle = self._entries.find(message.table_entry)
        counter = _counter_of(table)
        if message.HasField("data"):
            set_counter_data(self.control, counter, handle, message.data)

    def read_direct(self, message: Any) -> Iterator[Any]:
        entry = message.table_entry
        if entry.table_id and not entry.match:
            _counter_of(self._info.table(entry.table_id))
        for table, handle, key in self._entries.select(entry):
            if entry.table_id or table.table.counter is not None:
                data = counter_data(self.control, _counter_of(table), handle)
                yield messages.v1.DirectCounterEntry(table_entry=key, data=data)


def _counter_of(table: TableInfo) -> Array:
    if table.table.counter is None:
        raise invalid(f"table {table.table.name} has no direct counter")
    return table.table.counter
