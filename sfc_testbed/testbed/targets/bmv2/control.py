# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Executes the text commands of a switch on BMv2, over one persistent Thrift connection.

Commands and answers are the same as on softswitch and follow `simple_switch_CLI`. Code that writes commands or reads
counters is therefore independent of the target. Errors are CommandErrors of one line.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfc_testbed.testbed.control_plane.entries import Command, TableEntry, Value
from sfc_testbed.testbed.program.declared import Program, Table
from sfc_testbed.testbed.targets.bmv2 import values
from sfc_testbed.testbed.targets.bmv2.slots import LEAST_QUEUE_PACKETS
from sfc_testbed.testbed.targets.bmv2.thrift import Refusal, ThriftConnection, ThriftError, interface
from softswitch.control import CommandError

_STANDARD = "standard"
_TARGET = "simple_switch"
_REPLICATION = "simple_pre_lag"
_CONTEXT = 0

# Texts for the error codes of BMv2 (`standard.thrift`).
_TABLE_ERRORS: Mapping[int, str] = {
    1: "the table is full",
    2: "no such entry",
    3: "the entry is gone",
    4: "the table has no counters",
    5: "the table has no meters",
    6: "the table has no timeouts",
    7: "no such table",
    8: "no such action",
    9: "the table is of another kind",
    17: "there is an entry with this key already",
    18: "the key does not fit the table",
    20: "the default action is constant",
    21: "the default entry is constant",
    25: "the entries are constant",
    26: "the action's parameters do not fit",
    27: "the table has no key",
}
_ARRAY_ERRORS: Mapping[int, str] = {1: "no such array", 2: "the index is outside"}
_MIRROR_ERRORS: Mapping[int, str] = {1: "no such session"}
_PORT_ERRORS: Mapping[int, str] = {1: "the port or its interface cannot be changed"}
_REPLICATION_ERRORS: Mapping[int, str] = {
    1: "no room",
    2: "no such group",
    3: "no such group handle",
    4: "no such node",
}


class Bmv2Control:
    """Command interface of one switch. Several threads may use it; each command is one exchange."""

    def __init__(self, connection: ThriftConnection, program: Program) -> None:
        self._connection = connection
        self._program = program
        self._lock = threading.Lock()
        self._commands: Mapping[str, Callable[[list[str]], str | None]] = {
            "help": self._help,
            "show_tables": self._show_tables,
            "table_info": self._table_info,
            "table_dump": self._table_dump,
            "table_add": self._table_add,
            "table_set_default": self._table_set_default,
            "table_modify": self._table_modify,
            "table_delete": self._table_delete,
            "table_clear": self._table_clear,
            "table_num_entries": self._table_num_entries,
            "register_read": self._register_read,
            "register_write": self._register_write,
            "register_reset": self._register_reset,
            "counter_read": self._counter_read,
            "counter_write": self._counter_write,
            "counter_reset": self._counter_reset,
            "mirroring_add": self._mirroring_add,
            "mirroring_add_mc": self._mirroring_add_mc,
            "mirroring_delete": self._mirroring_delete,
            "mc_mgrp_create": self._group_create,
            "mc_node_create": self._node_create,
            "mc_node_associate": self._node_associate,
            "set_queue_depth": self._set_queue_depth,
            "set_queue_rate": self._set_queue_rate,
            "get_time_elapsed": self._get_time_elapsed,
        }

    def command(self, line: Command | str) -> str:
        """Execute a command and return its answer without the last newline. Raise CommandError when refused."""
        match line:
            case TableEntry(keys=()):
                return self._set_default(line.table, line.action, line.parameters)
            case TableEntry():
                return self._add(line.table, line.action, line.keys, line.parameters)
        name, *words = str(line).split()
        if name not in self._commands:
            raise CommandError(f"no command {name!r} on BMv2, there are: {', '.join(self._commands)}")
        try:
            return self._commands[name](words) or ""
        except CommandError as error:
            raise CommandError(f"{name}: {error}") from None
        except (ValueError, IndexError):
            raise CommandError(f"{name}: cannot read {' '.join(words)!r}") from None

    def register_values(self, name: str) -> NDArray[np.int64]:
        """Return all cells of a register, read in one exchange."""
        register = self._program.register(name)
        cells = self._call("bm_register_read_all", _CONTEXT, register.name, texts=_ARRAY_ERRORS)
        if len(cells) != register.size:
            raise ThriftError(f"{register.name} has {register.size} cells, BMv2 gave {len(cells)}")
        return np.array(cells, dtype=np.int64)

    def register_value(self, name: str, index: int) -> int:
        """Return one cell of a register."""
        register = self._program.register(name)
        _check_index(index, register.name, register.size)
        return int(self._call("bm_register_read", _CONTEXT, register.name, index, texts=_ARRAY_ERRORS))

    def elapsed_us(self) -> int:
        """Return the microseconds since the switch's clock began."""
        return int(self._call("get_time_elapsed_us", service=_TARGET))

    def ports(self, *, without_carrier: bool = False) -> set[int]:
        """Return the ports whose interface is open and has carrier, or all whose interface is open."""
        ports = self._call("bm_dev_mgr_show_ports")
        return {port.number for port in ports if port.is_up or without_carrier}

    def open_port(self, number: int, interface: str) -> None:
        """Let the switch receive from an interface."""
        self._call("bm_dev_mgr_add_port", interface, number, "", texts=_PORT_ERRORS)

    def close_port(self, number: int) -> None:
        """Let the switch no longer receive from a port."""
        self._call("bm_dev_mgr_remove_port", number, texts=_PORT_ERRORS)

    def close(self) -> None:
        self._connection.close()

    def _call(
        self, method: str, *arguments: Any, service: str = _STANDARD, texts: Mapping[int, str] = _TABLE_ERRORS
    ) -> Any:
        with self._lock:
            try:
                return self._connection.call(service, method, *arguments)
            except Refusal as error:
                raise CommandError(texts.get(error.code, f"BMv2 refuses it with code {error.code}")) from None

    # Tables

    def _table_add(self, words: list[str]) -> str:
        arrow = words.index("=>") if "=>" in words else len(words)
        return self._add(words[0], words[1], words[2:arrow], words[arrow + 1 :])

    def _add(self, table_name: str, action_name: str, keys: Sequence[Value], rest: Sequence[Value]) -> str:
        """Add an entry. `rest` has the parameters, and the priority if the table has priorities."""
        table = self._program.table(table_name)
        action = self._program.action(table, action_name)
        if len(keys) != len(table.keys):
            raise CommandError(f"table {table.name} has {len(table.keys)} keys, not {len(keys)}")
        priority = None
        if table.has_priorities and len(rest) > len(action.parameter_bits):
            *rest, last = rest
            priority = int(str(last))
        if table.has_priorities and priority is None:
            raise CommandError(f"table {table.name} needs a priority as its last value")
        handle = self._call(
            "bm_mt_add_entry",
            _CONTEXT,
            table.name,
            [values.match_parameter(word, key) for word, key in zip(keys, table.keys, strict=True)],
            action.name,
            self._action_data(action.name, rest, action.parameter_bits),
            interface().EntryOptions(priority=priority),
        )
        return f"Entry has been added with handle {handle}"

    def _help(self, words: list[str]) -> str:
        commands = sorted([*self._commands, "port_link", "port_rate"])
        if words and words[0] not in commands:
            raise CommandError(f"no command {words[0]!r}")
        return "\n".join(commands) if not words else f"{words[0]}: as simple_switch_CLI has it"

    def _show_tables(self, words: list[str]) -> str:
        return "\n".join(map(_table_line, self._program.tables()))

    def _table_info(self, words: list[str]) -> str:
        table = self._program.table(words[0])
        actions = [f"{name} {list(action.parameter_bits)}" for name, action in table.actions.items()]
        return "\n".join([_table_line(table), *actions])

    def _table_dump(self, words: list[str]) -> str:
        table = self._program.table(words[0])
        lines = []
        for entry in self._call("bm_mt_get_entries", _CONTEXT, table.name):
            keys = " ".join(values.match_text(*pair) for pair in zip(entry.keys, table.keys, strict=True))
            action = values.action_text(table.actions[entry.action.action], entry.action.data)
            lines.append(f"entry {entry.handle}: {keys} => {action}")
        default = self._call("bm_mt_get_default_entry", _CONTEXT, table.name)
        fallback = table.actions.get(default.action)
        lines.append(f"default: {'none' if fallback is None else values.action_text(fallback, default.data)}")
        return "\n".join(lines)

    def _table_set_default(self, words: list[str]) -> str:
        return self._set_default(words[0], words[1], [word for word in words[2:] if word != "=>"])

    def _set_default(self, table_name: str, action_name: str, parameters: Sequence[Value]) -> str:
        table = self._program.table(table_name)
        action = self._program.action(table, action_name)
        data = self._action_data(action.name, parameters, action.parameter_bits)
        self._call("bm_mt_set_default_action", _CONTEXT, table.name, action.name, data)
        return ""

    def _table_modify(self, words: list[str]) -> None:
        table = self._program.table(words[0])
        action = self._program.action(table, words[1])
        data = self._action_data(action.name, [word for word in words[3:] if word != "=>"], action.parameter_bits)
        self._call("bm_mt_modify_entry", _CONTEXT, table.name, int(words[2]), action.name, data)

    def _table_delete(self, words: list[str]) -> None:
        self._call("bm_mt_delete_entry", _CONTEXT, self._program.table(words[0]).name, int(words[1]))

    def _table_clear(self, words: list[str]) -> None:
        self._call("bm_mt_clear_entries", _CONTEXT, self._program.table(words[0]).name, False)

    def _table_num_entries(self, words: list[str]) -> str:
        return str(self._call("bm_mt_get_num_entries", _CONTEXT, self._program.table(words[0]).name))

    def _action_data(self, action: str, words: Sequence[Value], widths: tuple[int, ...]) -> list[bytes]:
        if len(words) != len(widths):
            raise CommandError(f"action {action} has {len(widths)} parameters, not {len(words)}")
        return values.parameters(words, widths)

    # Registers and counters

    def _register_read(self, words: list[str]) -> str:
        register = self._program.register(words[0])
        if len(words) > 1:
            index = int(words[1], 0)
            return f"{register.name}[{index}]= {self.register_value(register.name, index)}"
        return f"{register.name}= {', '.join(map(str, self.register_values(register.name)))}"

    def _register_write(self, words: list[str]) -> None:
        register = self._program.register(words[0])
        index = int(words[1], 0)
        _check_index(index, register.name, register.size)
        arguments = (_CONTEXT, register.name, index, int(words[2], 0))
        self._call("bm_register_write", *arguments, texts=_ARRAY_ERRORS)

    def _register_reset(self, words: list[str]) -> None:
        self._call("bm_register_reset", _CONTEXT, self._program.register(words[0]).name, texts=_ARRAY_ERRORS)

    def _counter_read(self, words: list[str]) -> str:
        counter, index = self._counter_cell(words)
        count = self._call("bm_counter_read", _CONTEXT, counter, index, texts=_ARRAY_ERRORS)
        return f"{counter}[{index}]= ({count.bytes} bytes, {count.packets} packets)"

    def _counter_write(self, words: list[str]) -> None:
        counter, index = self._counter_cell(words)
        value = interface().Count(bytes=int(words[3]), packets=int(words[2]))
        self._call("bm_counter_write", _CONTEXT, counter, index, value, texts=_ARRAY_ERRORS)

    def _counter_reset(self, words: list[str]) -> None:
        self._call("bm_counter_reset_all", _CONTEXT, self._program.counter(words[0]).name, texts=_ARRAY_ERRORS)

    def _counter_cell(self, words: list[str]) -> tuple[str, int]:
        counter, index = self._program.counter(words[0]), int(words[1], 0)
        _check_index(index, counter.name, counter.size)
        return counter.name, index

    # Mirroring and replication

    def _mirroring_add(self, words: list[str]) -> None:
        self._add_session(int(words[0]), interface().MirroringSession(port=int(words[1])))

    def _mirroring_add_mc(self, words: list[str]) -> None:
        self._add_session(int(words[0]), interface().MirroringSession(group=int(words[1])))

    def _add_session(self, session: int, target: Any) -> None:
        self._call("mirroring_session_add", session, target, service=_TARGET, texts=_MIRROR_ERRORS)

    def _mirroring_delete(self, words: list[str]) -> None:
        self._call("mirroring_session_delete", int(words[0]), service=_TARGET, texts=_MIRROR_ERRORS)

    def _group_create(self, words: list[str]) -> None:
        self._replicate("bm_mc_mgrp_create", int(words[0]))

    def _node_create(self, words: list[str]) -> str:
        """Create a node from a replication ID and ports. Thrift gets the ports as a bit string, port 0 rightmost."""
        ports = {int(word) for word in words[1:]}
        bits = "".join("1" if port in ports else "0" for port in range(max(ports, default=0), -1, -1))
        handle = self._replicate("bm_mc_node_create", int(words[0]), bits, "0")
        return f"node was created with handle {handle}"

    def _node_associate(self, words: list[str]) -> None:
        self._replicate("bm_mc_node_associate", int(words[0]), int(words[1]))

    def _replicate(self, method: str, *arguments: Any) -> Any:
        return self._call(method, _CONTEXT, *arguments, service=_REPLICATION, texts=_REPLICATION_ERRORS)

    # Queues and time

    def _set_queue_depth(self, words: list[str]) -> None:
        if int(words[0]) < LEAST_QUEUE_PACKETS:
            raise CommandError(
                f"a queue of fewer than {LEAST_QUEUE_PACKETS} packets may drop one whose bytes the P4 program has "
                "counted, and they would stay counted for ever; buffer_size and class_threshold bound queues"
            )
        self._set_queues("depth", int(words[0]), words[1:])

    def _set_queue_rate(self, words: list[str]) -> None:
        self._set_queues("rate", int(words[0]), words[1:])

    def _set_queues(self, setting: str, value: int, queue: list[str]) -> None:
        methods = (
            f"set_all_egress_queue_{setting}s",
            f"set_egress_queue_{setting}",
            f"set_egress_priority_queue_{setting}",
        )
        self._call(methods[len(queue)], *map(int, queue), value, service=_TARGET)

    def _get_time_elapsed(self, words: list[str]) -> str:
        return f"Switch time elapsed, in microseconds: {self.elapsed_us()}"


def _table_line(table: Table) -> str:
    keys = ",\t".join(f"{key.name}({key.match_type}, {key.bits})" for key in table.keys)
    return f"{table.name:<30} [implementation=None, mk={keys}]"


def _check_index(index: int, name: str, size: int) -> None:
    if not 0 <= index < size:
        raise CommandError(f"index '{index}' is outside {name}, which has {size}")
