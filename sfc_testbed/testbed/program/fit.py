# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks that a program declares the tables, actions, counters and registers that a run uses.

Only names and widths are checked, not what the program does with its entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Network

from sfc_testbed.request.spec import P4Program
from sfc_testbed.testbed.control_plane.entries import Command, RegisterCell, TableEntry, Value
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.program.declared import Action, Array, Key, Program, Table, UnknownName, number
from sfc_testbed.testbed.program.user_program import declarations_of
from sfc_testbed.topologies.model import Topology
from sfc_testbed.wire.counters import COUNTERS, PEAKS
from softswitch.control import CommandError


def check_fits(
    user_program: P4Program,
    topology: Topology,
    commands: Mapping[str, Iterable[Command]],
    registers: Iterable[str],
) -> None:
    """Raise UsageError that names the first missing declaration.

    `commands` configure the switches; `registers` are read by the switch target itself.
    """
    program = declarations_of(user_program)
    try:
        for name in registers:
            program.register(name)
        for switch in topology.switches:
            _check_cells(program, [port.number for port in topology.ports[switch.name]])
            for command in commands[switch.name]:
                if isinstance(command, TableEntry):
                    _check_entry(program, switch.name, command)
                elif isinstance(command, RegisterCell):
                    _check_cell("register", program.register(command.register), command.index)
    except UnknownName as error:
        raise UsageError(f"--p4 {user_program.word}: the program has {error.briefly}") from error
    except CommandError as error:
        raise UsageError(f"--p4 {user_program.word}: {error}") from error


def _check_cells(program: Program, ports: Sequence[int]) -> None:
    """Raise UnknownName or CommandError unless counters and registers that a run reads exist, with enough cells."""
    for counter in COUNTERS:
        index = max(counter.index(event, port) for event in counter.events for port in (0, *ports))
        _check_cell("counter", program.counter(counter.name), index)
    for peak in PEAKS:
        _check_cell("register", program.register(peak.register), peak.index)


def _check_cell(what: str, array: Array, index: int) -> None:
    if index >= array.size:
        raise CommandError(f"{what} {array.name} has {array.size} cells, but cell {index} is used")


def _check_entry(program: Program, switch: str, entry: TableEntry) -> None:
    try:
        table = program.table(entry.table)
        action = program.action(table, entry.action)
        if entry.keys:
            _check_keys(table, entry.keys)
        _check_parameters(action, entry.parameters)
    except UnknownName as error:
        error.briefly += f", which {switch} needs for `{entry}`"
        raise
    except CommandError as error:
        raise CommandError(f"{error}, which {switch} needs for `{entry}`") from error


def _check_keys(table: Table, values: Sequence[Value]) -> None:
    if len(values) != len(table.keys):
        raise CommandError(f"table {table.name} has {len(table.keys)} keys, not {len(values)}")
    for value, key in zip(values, table.keys, strict=True):
        _check_key(table, value, key)


def _check_key(table: Table, value: Value, key: Key) -> None:
    required = "lpm" if isinstance(value, IPv4Network) else "exact"
    if key.match_type != required:
        raise CommandError(f"key {key.name} of table {table.name} is {key.match_type}, not {required}")
    number(value, key.bits)


def _check_parameters(action: Action, values: Sequence[Value]) -> None:
    if len(values) != len(action.parameter_bits):
        raise CommandError(f"action {action.name} has {len(action.parameter_bits)} parameters, not {len(values)}")
    for value, bits in zip(values, action.parameter_bits, strict=True):
        number(value, bits)
