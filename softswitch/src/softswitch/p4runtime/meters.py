# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Meters: arrays, and the meters of table entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from softswitch.codegen.ir.blocks import Array
from softswitch.control import Commands
from softswitch.p4runtime import messages
from softswitch.p4runtime.indexes import read_cells, written_cells
from softswitch.p4runtime.info import Info, TableInfo, find
from softswitch.p4runtime.resources import check_meter_config, meter_config, refuse_color_counts, set_meter_config
from softswitch.p4runtime.status import invalid
from softswitch.p4runtime.tables import TableEntries


class Meters:
    """The meters of a switch."""

    def __init__(self, control: Commands, info: Info, entries: TableEntries) -> None:
        self.control = control
        self._info = info
        self._entries = entries

    def write(self, kind: int, message: Any) -> None:
        meter = find(self._info.meters, message.meter_id, "meter")
        refuse_color_counts(message, "counter_data")
        cells = written_cells(kind, meter, message)
        config = self._config(meter.p4info.spec, message)
        for index in cells:
            set_meter_config(self.control, meter.array, index, config)

    def read(self, message: Any) -> Iterator[Any]:
        refuse_color_counts(message, "counter_data")
        for meter, cells in read_cells(self._info.meters, message.meter_id, "meter", message):
            for index in cells:
                config = meter_config(self.control, meter.array, index)
                answer = messages.v1.MeterEntry(meter_id=meter.id, config=config)
                answer.index.index = index
                yield answer

    def write_direct(self, kind: int, message: Any) -> None:
        if kind != messages.v1.Update.MODIFY:
            raise invalid("a direct meter can only be modified")
        refuse_color_counts(message, "counter_data")
        table, handle = self._entries.find(message.table_entry)
        meter = _meter_of(table)
        config = self._config(self._info.direct_meters[meter.name].spec, message)
        set_meter_config(self.control, meter, handle, config)

    def read_direct(self, message: Any) -> Iterator[Any]:
        refuse_color_counts(message, "counter_data")
        entry = message.table_entry
        if entry.table_id and not entry.match:
            _meter_of(self._info.table(entry.table_id))
        for table, handle, key in self._entries.select(entry):
            if entry.table_id or table.table.meter is not None:
                config = meter_config(self.control, _meter_of(table), handle)
                yield messages.v1.DirectMeterEntry(table_entry=key, config=config)

    @staticmethod
    def _config(spec: Any, message: Any) -> Any | None:
        if not message.HasField("config"):
            return None
        check_meter_config(spec, message.config)
        return message.config


def _meter_of(table: TableInfo) -> Array:
    if table.table.meter is None:
        raise invalid(f"table {table.table.name} has no direct meter")
    return table.table.meter
