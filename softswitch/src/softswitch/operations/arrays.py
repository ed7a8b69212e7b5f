# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Operations on registers, counters and meters. Direct counters and meters are indexed by the handle of an entry."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from softswitch.codegen.ir.blocks import Array
from softswitch.control import Commands
from softswitch.operations.values import all_bits, run

_COUNT = re.compile(r".*= \((\d+) bytes, (\d+) packets\)")
_RATE = re.compile(r"\d+: info rate = (\S+), burst size = (\d+)")


@dataclass(frozen=True)
class Count:
    """The value of a counter."""

    packets: int
    bytes: int


@dataclass(frozen=True)
class Rate:
    """A rate of a meter, in packets or bytes."""

    units_per_us: float
    burst_units: int


def read_register(control: Commands, register: Array, index: int | None = None) -> list[int]:
    """Return the value of a cell, or of all cells, as unsigned numbers."""
    cell = [] if index is None else [index]
    values = run(control, "register_read", register.name, *cell).rpartition("=")[2]
    return [int(value) for value in values.split(",") if value.strip()]


def write_register(control: Commands, register: Array, index: int, value: int) -> None:
    """Set a cell to the low bits of a number, which may be negative."""
    run(control, "register_write", register.name, index, f"{value & all_bits(register.bits):#x}")


def reset_register(control: Commands, register: Array) -> None:
    run(control, "register_reset", register.name)


def read_counter(control: Commands, counter: Array, index: int) -> Count:
    match = _COUNT.fullmatch(run(control, "counter_read", counter.name, index))
    assert match is not None
    return Count(packets=int(match[2]), bytes=int(match[1]))


def write_counter(control: Commands, counter: Array, index: int, count: Count) -> None:
    run(control, "counter_write", counter.name, index, count.packets, count.bytes)


def reset_counter(control: Commands, counter: Array) -> None:
    """Set all cells to 0."""
    run(control, "counter_reset", counter.name)


def read_rates(control: Commands, meter: Array, index: int) -> list[Rate]:
    """Return the rates of a cell; empty if none are set."""
    lines = run(control, "meter_get_rates", meter.name, index).splitlines()
    matches = [_RATE.fullmatch(line) for line in lines]
    return [Rate(float(match[1]), int(match[2])) for match in matches if match]


def set_rates(control: Commands, meter: Array, index: int, rates: Sequence[Rate]) -> None:
    run(control, "meter_set_rates", meter.name, index, *_rate_words(rates))


def set_all_rates(control: Commands, meter: Array, rates: Sequence[Rate]) -> None:
    """Set the rates of all cells of a meter that belongs to no table."""
    run(control, "meter_array_set_rates", meter.name, *_rate_words(rates))


def clear_rates(control: Commands, meter: Array, index: int) -> None:
    """Remove the rates of a cell, after which every packet is green."""
    run(control, "meter_clear_rates", meter.name, index)


def _rate_words(rates: Sequence[Rate]) -> list[str]:
    return [f"{rate.units_per_us!r}:{rate.burst_units}" for rate in rates]
