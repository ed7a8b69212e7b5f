# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calls on registers, counters and meters, by index or by a table's entry. Methods have the names of the calls.

A register's value is a signed 64-bit number in the protocol. As in BMv2, reading a wider register returns the low
64 bits, and a written value is truncated to the register's width.
"""

from __future__ import annotations

import math
from typing import Any

from softswitch.codegen.ir.blocks import Array, Table
from softswitch.control import Commands
from softswitch.operations import arrays, tables
from softswitch.thrift.interface import interface
from softswitch.thrift.program import Program
from softswitch.thrift.refusals import ArrayCode, MeterCode, Refused, TableCode, refusing
from softswitch.thrift.tables import unsigned_handle

_MOST_UNITS_PER_US = 1e9


class Arrays:
    """Registers, counters and meters of one switch."""

    def __init__(self, control: Commands, program: Program) -> None:
        self._control = control
        self._program = program

    # Registers

    def bm_register_read(self, context: int, array: str, index: int) -> int:
        register = self._array_with_cell("register", array, index)
        with refusing(ArrayCode.ERROR):
            [value] = arrays.read_register(self._control, register, index)
        return _signed(value)

    def bm_register_read_all(self, context: int, array: str) -> list[int]:
        register = self._program.array("register", array)
        with refusing(ArrayCode.ERROR):
            return [_signed(value) for value in arrays.read_register(self._control, register)]

    def bm_register_write(self, context: int, array: str, index: int, value: int) -> None:
        register = self._array_with_cell("register", array, index)
        with refusing(ArrayCode.ERROR):
            arrays.write_register(self._control, register, index, value)

    def bm_register_write_range(self, context: int, array: str, first: int, behind_last: int, value: int) -> None:
        register = self._program.array("register", array)
        if not 0 <= first <= behind_last <= register.count:
            raise Refused(ArrayCode.INVALID_INDEX, f"{array} has {register.count} cells, not {first} to {behind_last}")
        with refusing(ArrayCode.ERROR):
            for index in range(first, behind_last):
                arrays.write_register(self._control, register, index, value)

    def bm_register_reset(self, context: int, array: str) -> None:
        register = self._program.array("register", array)
        with refusing(ArrayCode.ERROR):
            arrays.reset_register(self._control, register)

    # Counters

    def bm_counter_read(self, context: int, counter: str, index: int) -> Any:
        return self._count(self._array_with_cell("counter", counter, index), index, ArrayCode.ERROR)

    def bm_counter_write(self, context: int, counter: str, index: int, value: Any) -> None:
        self._set_count(self._array_with_cell("counter", counter, index), index, value, ArrayCode.ERROR)

    def bm_counter_reset_all(self, context: int, counter: str) -> None:
        counter_array = self._program.array("counter", counter)
        with refusing(ArrayCode.ERROR):
            arrays.reset_counter(self._control, counter_array)

    def bm_mt_read_counter(self, context: int, table: str, entry: int) -> Any:
        counter = self._counter_of(self._table_with_entry(table, entry))
        return self._count(counter, unsigned_handle(entry), TableCode.ERROR)

    def bm_mt_write_counter(self, context: int, table: str, entry: int, value: Any) -> None:
        counter = self._counter_of(self._table_with_entry(table, entry))
        self._set_count(counter, unsigned_handle(entry), value, TableCode.ERROR)

    def bm_mt_reset_counters(self, context: int, table: str) -> None:
        counter = self._counter_of(self._program.table(table))
        with refusing(TableCode.ERROR):
            arrays.reset_counter(self._control, counter)

    # Meters

    def bm_meter_array_set_rates(self, context: int, meter: str, rates: list[Any]) -> None:
        meter_array = self._program.array("meter", meter)
        checked = _checked_rates(meter_array, rates)
        with refusing(MeterCode.ERROR, {"rising order": MeterCode.BAD_RATES}):
            arrays.set_all_rates(self._control, meter_array, checked)

    def bm_meter_set_rates(self, context: int, meter: str, index: int, rates: list[Any]) -> None:
        meter_array = self._array_with_cell("meter", meter, index)
        checked = _checked_rates(meter_array, rates)
        with refusing(MeterCode.ERROR, {"rising order": MeterCode.BAD_RATES}):
            arrays.set_rates(self._control, meter_array, index, checked)

    def bm_meter_get_rates(self, context: int, meter: str, index: int) -> list[Any]:
        return self._rates(self._array_with_cell("meter", meter, index), index, MeterCode.ERROR)

    def bm_mt_set_meter_rates(self, context: int, table: str, entry: int, rates: list[Any]) -> None:
        meter = self._meter_of(self._table_with_entry(table, entry))
        try:
            checked = _checked_rates(meter, rates)
        except Refused as refused:
            raise Refused(TableCode.INVALID_METER_OPERATION, str(refused)) from None
        with refusing(TableCode.INVALID_METER_OPERATION):
            arrays.set_rates(self._control, meter, unsigned_handle(entry), checked)

    def bm_mt_get_meter_rates(self, context: int, table: str, entry: int) -> list[Any]:
        meter = self._meter_of(self._table_with_entry(table, entry))
        return self._rates(meter, unsigned_handle(entry), TableCode.INVALID_METER_OPERATION)

    # Look-up of the objects that calls name

    def _array_with_cell(self, kind: str, name: str, index: int) -> Array:
        array = self._program.array(kind, name)
        if not 0 <= index < array.count:
            raise Refused(ArrayCode.INVALID_INDEX, f"index {index} is outside {array.name}, which has {array.count}")
        return array

    def _table_with_entry(self, name: str, entry: int) -> Table:
        table = self._program.table(name)
        with refusing(TableCode.ERROR):
            is_there = tables.has_entry(self._control, table, unsigned_handle(entry))
        if not is_there:
            raise Refused(TableCode.INVALID_HANDLE, f"no entry {entry} in {name}")
        return table

    def _counter_of(self, table: Table) -> Array:
        if table.counter is None:
            raise Refused(TableCode.COUNTERS_DISABLED, f"table {table.name} has no counters")
        return table.counter

    def _meter_of(self, table: Table) -> Array:
        if table.meter is None:
            raise Refused(TableCode.METERS_DISABLED, f"table {table.name} has no meters")
        return table.meter

    def _count(self, counter: Array, index: int, code: int) -> Any:
        with refusing(code):
            count = arrays.read_counter(self._control, counter, index)
        return interface().Count(bytes=count.bytes, packets=count.packets)

    def _set_count(self, counter: Array, index: int, value: Any, code: int) -> None:
        if (
            not isinstance(value.packets, int)
            or not isinstance(value.bytes, int)
            or min(value.packets, value.bytes) < 0
        ):
            raise Refused(code, "a count is missing or below 0")
        with refusing(code):
            arrays.write_counter(self._control, counter, index, arrays.Count(value.packets, value.bytes))

    def _rates(self, meter: Array, index: int, code: int) -> list[Any]:
        with refusing(code):
            rates = arrays.read_rates(self._control, meter, index)
        return [interface().Rate(rate.units_per_us, rate.burst_units) for rate in rates]


def _signed(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def _checked_rates(meter: Array, rates: list[Any]) -> list[arrays.Rate]:
    if len(rates) != meter.rates:
        raise Refused(MeterCode.BAD_RATES, f"meter {meter.name} has {meter.rates} rates, not {len(rates)}")
    for rate in rates:
        speed = rate.units_per_us
        if not isinstance(speed, float) or not math.isfinite(speed) or not 0 <= speed <= _MOST_UNITS_PER_US:
            raise Refused(MeterCode.INVALID_RATE, f"a rate of {speed} a microsecond")
        if not isinstance(rate.burst_units, int) or rate.burst_units < 0:
            raise Refused(MeterCode.INVALID_BURST, f"a burst of {rate.burst_units}")
    return [arrays.Rate(rate.units_per_us, rate.burst_units) for rate in rates]
