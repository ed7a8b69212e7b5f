# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calls on registers, counters and meters, by index or by a table's entry. Methods have the names of the calls.

A register's value is a signed 64-bit number in the protocol. As in BMv2, reading a wider register returns the low
64 bits, and a written value is truncated to the register's width.
"""

from __future__ import annotations

import math
import re
from typing import Any

from softswitch.codegen.ir.blocks import Array, Table
from softswitch.control import Commands
from softswitch.thrift.interface import interface
from softswitch.thrift.program import Program
from softswitch.thrift.refusals import ArrayCode, MeterCode, Refused, TableCode, ask
from softswitch.thrift.tables import handle_word, has_entry

_COUNT = re.compile(r".*= \((\d+) bytes, (\d+) packets\)")
_RATE = re.compile(r"\d+: info rate = (\S+), burst size = (\d+)")
_MOST_UNITS_PER_US = 1e9


class Arrays:
    """Registers, counters and meters of one switch."""

    def __init__(self, control: Commands, program: Program) -> None:
        self._control = control
        self._program = program

    # Registers

    def bm_register_read(self, context: int, array: str, index: int) -> int:
        self._array_with_cell("register", array, index)
        return _signed(ask(self._control, ["register_read", array, str(index)], ArrayCode.ERROR).rpartition("=")[2])

    def bm_register_read_all(self, context: int, array: str) -> list[int]:
        register = self._program.array("register", array)
        cells = ask(self._control, ["register_read", register.name], ArrayCode.ERROR).rpartition("=")[2]
        return [_signed(cell) for cell in cells.split(",") if cell.strip()]

    def bm_register_write(self, context: int, array: str, index: int, value: int) -> None:
        self._write(self._array_with_cell("register", array, index), index, value)

    def bm_register_write_range(self, context: int, array: str, first: int, behind_last: int, value: int) -> None:
        register = self._program.array("register", array)
        if not 0 <= first <= behind_last <= register.count:
            raise Refused(ArrayCode.INVALID_INDEX, f"{array} has {register.count} cells, not {first} to {behind_last}")
        for index in range(first, behind_last):
            self._write(register, index, value)

    def bm_register_reset(self, context: int, array: str) -> None:
        register = self._program.array("register", array)
        ask(self._control, ["register_reset", register.name], ArrayCode.ERROR)

    # Counters

    def bm_counter_read(self, context: int, counter: str, index: int) -> Any:
        self._array_with_cell("counter", counter, index)
        return self._count(counter, str(index), ArrayCode.ERROR)

    def bm_counter_write(self, context: int, counter: str, index: int, value: Any) -> None:
        self._array_with_cell("counter", counter, index)
        self._set_count(counter, str(index), value, ArrayCode.ERROR)

    def bm_counter_reset_all(self, context: int, counter: str) -> None:
        counter_array = self._program.array("counter", counter)
        ask(self._control, ["counter_reset", counter_array.name], ArrayCode.ERROR)

    def bm_mt_read_counter(self, context: int, table: str, entry: int) -> Any:
        counter = self._counter_of(self._table_with_entry(table, entry))
        return self._count(counter.name, handle_word(entry), TableCode.ERROR)

    def bm_mt_write_counter(self, context: int, table: str, entry: int, value: Any) -> None:
        counter = self._counter_of(self._table_with_entry(table, entry))
        self._set_count(counter.name, handle_word(entry), value, TableCode.ERROR)

    def bm_mt_reset_counters(self, context: int, table: str) -> None:
        counter = self._counter_of(self._program.table(table))
        ask(self._control, ["counter_reset", counter.name], TableCode.ERROR)

    # Meters

    def bm_meter_array_set_rates(self, context: int, meter: str, rates: list[Any]) -> None:
        meter_array = self._program.array("meter", meter)
        words = ["meter_array_set_rates", meter_array.name, *_rate_words(meter_array, rates)]
        ask(self._control, words, MeterCode.ERROR, {"rising order": MeterCode.BAD_RATES})

    def bm_meter_set_rates(self, context: int, meter: str, index: int, rates: list[Any]) -> None:
        meter_array = self._array_with_cell("meter", meter, index)
        words = ["meter_set_rates", meter_array.name, str(index), *_rate_words(meter_array, rates)]
        ask(self._control, words, MeterCode.ERROR, {"rising order": MeterCode.BAD_RATES})

    def bm_meter_get_rates(self, context: int, meter: str, index: int) -> list[Any]:
        meter_array = self._array_with_cell("meter", meter, index)
        return _rates(ask(self._control, ["meter_get_rates", meter_array.name, str(index)], MeterCode.ERROR))

    def bm_mt_set_meter_rates(self, context: int, table: str, entry: int, rates: list[Any]) -> None:
        meter = self._meter_of(self._table_with_entry(table, entry))
        try:
            words = ["meter_set_rates", meter.name, handle_word(entry), *_rate_words(meter, rates)]
        except Refused as refused:
            raise Refused(TableCode.INVALID_METER_OPERATION, str(refused)) from None
        ask(self._control, words, TableCode.INVALID_METER_OPERATION)

    def bm_mt_get_meter_rates(self, context: int, table: str, entry: int) -> list[Any]:
        meter = self._meter_of(self._table_with_entry(table, entry))
        words = ["meter_get_rates", meter.name, handle_word(entry)]
        return _rates(ask(self._control, words, TableCode.INVALID_METER_OPERATION))

    # Look-up of the objects that calls name

    def _array_with_cell(self, kind: str, name: str, index: int) -> Array:
        array = self._program.array(kind, name)
        if not 0 <= index < array.count:
            raise Refused(ArrayCode.INVALID_INDEX, f"index {index} is outside {array.name}, which has {array.count}")
        return array

    def _table_with_entry(self, name: str, entry: int) -> Table:
        table = self._program.table(name)
        if not has_entry(self._control, table, entry):
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

    def _write(self, register: Array, index: int, value: int) -> None:
        word = f"{value & (1 << register.bits) - 1:#x}"
        ask(self._control, ["register_write", register.name, str(index), word], ArrayCode.ERROR)

    def _count(self, counter: str, index: str, code: int) -> Any:
        match = _COUNT.fullmatch(ask(self._control, ["counter_read", counter, index], code))
        assert match is not None
        return interface().Count(bytes=int(match[1]), packets=int(match[2]))

    def _set_count(self, counter: str, index: str, value: Any, code: int) -> None:
        if (
            not isinstance(value.packets, int)
            or not isinstance(value.bytes, int)
            or min(value.packets, value.bytes) < 0
        ):
            raise Refused(code, "a count is missing or below 0")
        ask(self._control, ["counter_write", counter, index, str(value.packets), str(value.bytes)], code)


def _signed(word: str) -> int:
    value = int(word) & (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def _rate_words(meter: Array, rates: list[Any]) -> list[str]:
    if len(rates) != meter.rates:
        raise Refused(MeterCode.BAD_RATES, f"meter {meter.name} has {meter.rates} rates, not {len(rates)}")
    for rate in rates:
        speed = rate.units_per_us
        if not isinstance(speed, float) or not math.isfinite(speed) or not 0 <= speed <= _MOST_UNITS_PER_US:
            raise Refused(MeterCode.INVALID_RATE, f"a rate of {speed} a microsecond")
        if not isinstance(rate.burst_units, int) or rate.burst_units < 0:
            raise Refused(MeterCode.INVALID_BURST, f"a burst of {rate.burst_units}")
    return [f"{rate.units_per_us!r}:{rate.burst_units}" for rate in rates]


def _rates(answer: str) -> list[Any]:
    """Return the rates in an answer of `meter_get_rates`; empty if none are set."""
    matches = [_RATE.fullmatch(line) for line in answer.splitlines()]
    return [interface().Rate(float(rate[1]), int(rate[2])) for rate in matches if rate]
