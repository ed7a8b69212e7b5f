# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks that a program declares the tables, actions, counters and registers that a run uses.

Only names and widths are checked, not what the program does with its entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from request.spec import P4Program
from softswitch.control import CommandError
from testbed.control_plane.commands import pipeline_commands
from testbed.control_plane.settings import SwitchSettings
from testbed.errors import UsageError
from testbed.program.declared import Action, Array, Key, Program, Table, UnknownName, number
from testbed.program.user_program import declarations_of
from topologies.model import Topology
from wire.counters import COUNTERS, PEAKS
from wire.dilation import Dilation

_ENTRIES = ("table_add", "table_set_default")
"""The commands that concern the program. All others configure the switch itself."""


def check_fits(
    user_program: P4Program,
    topology: Topology,
    settings: SwitchSettings,
    dilation: Dilation,
    registers: Iterable[str],
) -> None:
    """Raise UsageError that names the first missing declaration. `registers` are read by the switch target itself."""
    program = declarations_of(user_program)
    try:
        for name in registers:
            program.register(name)
        for switch in topology.switches:
            _check_cells(program, [port.number for port in topology.ports[switch.name]])
            for line in pipeline_commands(topology, switch.name, settings, dilation, seed=1):
                _check_line(program, switch.name, line)
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
        raise CommandError(f"{what} {array.name} has {array.size} cells, but cell {index} is read")


def _check_line(program: Program, switch: str, line: str) -> None:
    command, *words = line.split()
    if command not in _ENTRIES:
        return
    try:
        table = program.table(words[0])
        action = program.action(table, words[1])
        arrow = words.index("=>") if "=>" in words else 1
        _check_keys(table, words[2:arrow])
        _check_parameters(action, words[arrow + 1 :])
    except UnknownName as error:
        error.briefly += f", which {switch} needs for `{line}`"
        raise
    except CommandError as error:
        raise CommandError(f"{error}, which {switch} needs for `{line}`") from error


def _check_keys(table: Table, words: Sequence[str]) -> None:
    """Check the keys of an entry. A default action has none."""
    if not words:
        return
    if len(words) != len(table.keys):
        raise CommandError(f"table {table.name} has {len(table.keys)} keys, not {len(words)}")
    for word, key in zip(words, table.keys, strict=True):
        _check_key(table, word, key)


def _check_key(table: Table, word: str, key: Key) -> None:
    value, slash, _ = word.partition("/")
    required = "lpm" if slash else "exact"
    if key.match_type != required:
        raise CommandError(f"key {key.name} of table {table.name} is {key.match_type}, not {required}")
    number(value, key.bits)


def _check_parameters(action: Action, words: Sequence[str]) -> None:
    if len(words) != len(action.parameter_bits):
        raise CommandError(f"action {action.name} has {len(action.parameter_bits)} parameters, not {len(words)}")
    for word, bits in zip(words, action.parameter_bits, strict=True):
        number(word, bits)
