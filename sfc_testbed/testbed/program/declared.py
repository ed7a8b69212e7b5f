# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Names, keys and widths declared by a compiled program (BMv2 JSON), for checking and encoding commands.

Any unique dotted suffix of a name is accepted: `ipv4_lpm` for `SfcIngress.forwarding.ipv4_lpm`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address
from pathlib import Path
from typing import Any

from sfc_testbed.testbed.control_plane.entries import TableEntry, Value
from softswitch.control import CommandError

_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a table: its match type (exact, lpm, ternary, range or optional) and its width in bits."""

    match_type: str
    bits: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """An action and the widths of its parameters, in bits."""

    name: str
    parameter_bits: tuple[int, ...]


@dataclass(frozen=True)
class Table:
    """A match-action table."""

    name: str
    keys: tuple[Key, ...]
    actions: Mapping[str, Action]
    initial: tuple[str, tuple[int, ...]] | None = None
    """The default action that the program declares, and its parameters; None if it declares none."""

    @property
    def has_priorities(self) -> bool:
        return any(key.match_type in ("ternary", "range", "optional") for key in self.keys)


@dataclass(frozen=True, slots=True)
class Array:
    """A register or counter array."""

    name: str
    size: int


class UnknownName(CommandError):
    """A name that the program does not declare."""

    def __init__(self, what: str, name: str, declared_names: Iterable[str]) -> None:
        super().__init__(f"no {what} {name!r}, there are: {', '.join(declared_names) or 'none'}")
        self.briefly = f"no {what} {name!r}"


class Program:
    """The objects of a program that the control plane can name."""

    def __init__(self, compiled: Mapping[str, Any]) -> None:
        """Read the declarations. Raise LookupError, TypeError or ValueError for an invalid program."""
        self._widths = _field_bits(compiled)
        actions = {
            action["id"]: Action(
                _word(action["name"]), tuple(_number(parameter["bitwidth"]) for parameter in action["runtime_data"])
            )
            for action in compiled["actions"]
        }
        tables = [table for pipeline in compiled["pipelines"] for table in pipeline["tables"]]
        self._tables = {_word(table["name"]): self._table(table, actions) for table in tables}
        self._registers = {array.name: array for array in map(_array, compiled["register_arrays"])}
        counters = (counter for counter in compiled["counter_arrays"] if not counter.get("is_direct"))
        self._counters = {array.name: array for array in map(_array, counters)}

    @classmethod
    def read(cls, path: Path) -> Program:
        """Read the program from a JSON file of p4c."""
        return cls(json.loads(path.read_text()))

    def tables(self) -> list[Table]:
        """Return all tables, in the program's order."""
        return list(self._tables.values())

    def table(self, name: str) -> Table:
        return self._tables[_resolve(name, self._tables, "table")]

    def action(self, table: Table, name: str) -> Action:
        return table.actions[_resolve(name, table.actions, f"action of {table.name}")]

    def initial_action(self, name: str) -> TableEntry | None:
        """Return the default action that the program declares for a table; None if it declares none."""
        initial = self.table(name).initial
        return None if initial is None else TableEntry(name, initial[0], parameters=initial[1])

    def register(self, name: str) -> Array:
        return self._registers[_resolve(name, self._registers, "register")]

    def counter(self, name: str) -> Array:
        return self._counters[_resolve(name, self._counters, "counter")]

    def _table(self, table: Mapping[str, Any], actions: Mapping[int, Action]) -> Table:
        keys = tuple(
            Key(_word(key["match_type"]), self._bits(key["target"]), _word(key["name"])) for key in table["key"]
        )
        default, initial = table.get("default_entry"), None
        if default is not None:
            initial = actions[default["action_id"]].name, tuple(int(word, 16) for word in default["action_data"])
        return Table(
            _word(table["name"]),
            keys,
            {actions[number].name: actions[number] for number in table["action_ids"]},
            initial,
        )

    def _bits(self, target: Any) -> int:
        header, field = target
        return 1 if field == "$valid$" else self._widths[header, field]


def number(word: Value, bits: int) -> int:
    """Convert a number, a MAC or an IP address, or its text, and check that it fits the field."""
    if isinstance(word, IPv4Network):
        value = int(word.network_address)
    elif not isinstance(word, str):
        value = int(word)
    elif _MAC.fullmatch(word):
        value = int(word.replace(":", ""), 16)
    elif ":" in word or word.count(".") == 3:
        try:
            value = int(IPv6Address(word) if ":" in word else IPv4Address(word))
        except AddressValueError as error:
            raise CommandError(f"{word!r} is not an address: {error}") from None
    else:
        try:
            value = int(word, 0)
        except ValueError:
            raise CommandError(f"{word!r} is not a number") from None
    if not 0 <= value < 1 << bits:
        raise CommandError(f"{str(word)!r} does not fit {bits} bits")
    return value


def _field_bits(compiled: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """Return the width in bits of each field of each header instance."""
    types = {header_type["name"]: header_type["fields"] for header_type in compiled["header_types"]}
    return {
        (header["name"], field[0]): field[1]
        for header in compiled["headers"]
        for field in types[header["header_type"]]
        if isinstance(field[1], int) and field[1] >= 0
    }


def _array(item: Mapping[str, Any]) -> Array:
    return Array(_word(item["name"]), _number(item["size"]))


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a name")
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise TypeError(f"{value!r} is not a number of bits or cells")
    return value


def _resolve(name: str, declared_names: Iterable[str], what: str) -> str:
    names = list(declared_names)
    matches = [full for full in names if full == name] or [full for full in names if full.endswith(f".{name}")]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise CommandError(f"{what} {name!r} could be {', '.join(matches)}")
    raise UnknownName(what, name, names)
