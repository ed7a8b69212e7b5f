# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The commands of the control plane as values: table entries, mirroring sessions, queues of flows and registers.

`str` gives the text that `simple_switch_CLI` accepts. It is made where a switch or a file needs it, and nowhere parsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import TypeAlias

Value: TypeAlias = int | str | IPv4Address | IPv4Network
"""A key or a parameter. Text is a MAC address, and a network is a key with a prefix length."""


@dataclass(frozen=True, slots=True)
class TableEntry:
    """An entry of a table, or its default action if there are no keys."""

    table: str
    action: str
    keys: tuple[Value, ...] = ()
    parameters: tuple[Value, ...] = ()

    def __str__(self) -> str:
        verb, keys = ("table_add", (*self.keys, "=>")) if self.keys else ("table_set_default", ())
        return _line(verb, self.table, self.action, *keys, *self.parameters)


@dataclass(frozen=True, slots=True)
class ChangedEntry:
    """A new action for the entry with a handle."""

    handle: int
    table: str
    action: str
    parameters: tuple[Value, ...]

    def __str__(self) -> str:
        return _line("table_modify", self.table, self.action, self.handle, "=>", *self.parameters)


@dataclass(frozen=True, slots=True)
class ClearedTable:
    """The removal of all entries of a table, without its default action."""

    table: str

    def __str__(self) -> str:
        return f"table_clear {self.table}"


@dataclass(frozen=True, slots=True)
class MirrorSession:
    """A port to which clones go. `port` None removes the session."""

    number: int
    port: int | None

    def __str__(self) -> str:
        return f"mirroring_delete {self.number}" if self.port is None else f"mirroring_add {self.number} {self.port}"


@dataclass(frozen=True, slots=True)
class FlowQueues:
    """The number of queues of a class at a port, and the bytes that a queue sends in its turn."""

    port: int
    traffic_class: int
    queues: int
    turn_bytes: int

    def __str__(self) -> str:
        return _line("port_queues", self.port, self.traffic_class, self.queues, self.turn_bytes)


@dataclass(frozen=True, slots=True)
class RegisterCell:
    """The value of a cell of a register."""

    register: str
    index: int
    value: int

    def __str__(self) -> str:
        return f"register_write {self.register} {self.index} {self.value}"


Command: TypeAlias = TableEntry | ChangedEntry | ClearedTable | MirrorSession | FlowQueues | RegisterCell


def _line(*words: Value) -> str:
    return " ".join(map(str, words))
