# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Resolves the names of a program and translates table statements to control commands.

Owns the translation of a test's short names and key notations to `simple_switch_CLI` syntax. It must not know a running
switch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from softswitch.codegen.ir.source import CodegenError, Json
from softswitch.codegen.load.document import read_document
from softswitch.stf.statements import ActionCall, Add, SetDefault, StfError, integer

MOST_PRIORITY = 10_000
"""The base for priorities: the largest wins in a test, the smallest in a command, so p becomes MOST_PRIORITY - p."""

_RADIX_BITS = {"0x": 4, "0o": 3, "0b": 1}
_INDEX = re.compile(r"\$([0-9]+)")


@dataclass(frozen=True)
class Key:
    """A key of a table."""

    name: str
    kind: str
    bits: int


@dataclass(frozen=True)
class Table:
    """The properties of a table that its entries depend on."""

    name: str
    keys: tuple[Key, ...]
    actions: Mapping[str, tuple[str, ...]]
    """The parameter names of each action, by action name."""
    has_priority: bool
    is_const: bool


class ProgramNames:
    """The tables, counters and registers of a BMv2 JSON."""

    def __init__(self, document: Any) -> None:
        root = Json(document)
        types = {t["name"].text(): {f[0].text(): f[1] for f in t.items("fields")} for t in root["header_types"].items()}
        widths = {h["name"].text(): types.get(h["header_type"].text(), {}) for h in root.items("headers")}
        parameters: dict[int | str, tuple[str, ...]] = {}
        for action in root.items("actions"):
            names = tuple(p["name"].text() for p in action.items("runtime_data"))
            parameters[action["id"].integer()] = names
            if action.get("name") is not None:
                parameters[action["name"].text()] = names
        tables = [_table(t, widths, parameters) for p in root.items("pipelines") for t in p.items("tables")]
        self.tables = {table.name: table for table in tables}
        self.counters = [c["name"].text() for c in root.items("counter_arrays")]
        self.registers = [r["name"].text() for r in root.items("register_arrays")]

    @staticmethod
    def load(path: Path) -> ProgramNames:
        """Read a BMv2 JSON. Raise StfError if it is not a program, OSError if it cannot be read."""
        try:
            document = read_document(path.read_bytes(), path.name)
            with Json(document).locating():
                return ProgramNames(document)
        except CodegenError as error:
            raise StfError(f"{path} is not a BMv2 program: {error}") from None

    def table(self, name: str) -> Table:
        """Return a table by its name or by a unique suffix of it."""
        return self.tables[find(name, self.tables, "table")]

    def add_command(self, statement: Add) -> str:
        table = self.table(statement.table)
        action, arguments = _call(table, statement.action)
        keys = _keys(table, statement.keys)
        words = ["table_add", table.name, action, *keys, "=>", *arguments]
        if table.has_priority:
            words.append(str(MOST_PRIORITY - (statement.priority or 0)))
        return " ".join(words)

    def set_default_command(self, statement: SetDefault) -> str:
        table = self.table(statement.table)
        action, arguments = _call(table, statement.action)
        return " ".join(["table_set_default", table.name, action, *arguments])


Widths: TypeAlias = Mapping[str, Mapping[str, Json]]
"""The width of each field, by header and field."""


def _key(item: Json, widths: Widths) -> Key:
    """Return a key; a validity flag has 1 bit."""
    target, name = item["target"], item.get("name")
    kind = item["match_type"].text()
    if not isinstance(target.value, list):
        return Key(target.text() if name is None else name.text(), kind, 1)
    header, field = target[0].text(), target[1].text()
    width = widths.get(header, {}).get(field)
    if width is None and field != "$valid$":
        raise target.error(f"no field '{header}.{field}'")
    return Key(f"{header}.{field}" if name is None else name.text(), kind, 1 if width is None else width.width())


def _table(item: Json, widths: Widths, parameters: Mapping[int | str, tuple[str, ...]]) -> Table:
    """Return a table; `parameters` are those of each action, by id and by name. Old versions have no ids."""
    names = [name.text() for name in item.items("actions")]
    numbers = None if item.get("action_ids") is None else [number.integer() for number in item.items("action_ids")]
    own = map(parameters.__getitem__, names if numbers is None else numbers)
    return Table(
        name=item["name"].text(),
        keys=tuple(_key(key, widths) for key in item.items("key")),
        actions=dict(zip(names, own, strict=True)),
        has_priority=item["match_type"].text() in ("ternary", "range"),
        is_const=item.get("entries") is not None,
    )


def find(name: str, known: Iterable[str], what: str) -> str:
    """Return the full name that equals `name` or is the only one to end in it. Raise StfError otherwise."""
    names = list(known)
    if name in names:
        return name
    ends = [n for n in names if n.endswith(name)]
    if len(ends) != 1:
        listed = ", ".join(ends or names) or "none"
        raise StfError(f"{'more than one' if ends else 'no'} {what} '{name}', there are: {listed}")
    return ends[0]


def _call(table: Table, call: ActionCall) -> tuple[str, list[str]]:
    """Return the full name of an action and its arguments in the order of the parameters."""
    name = find(call.name, table.actions, f"action of table {table.name}")
    values = dict(call.arguments)
    wanted = table.actions[name]
    if len(values) != len(call.arguments) or set(values) != set(wanted):
        raise StfError(f"action {name} has the parameters ({', '.join(wanted)}), each once")
    for word in values.values():
        integer(word)
    return name, [values[p] for p in wanted]


def _keys(table: Table, values: Iterable[tuple[str, str]]) -> list[str]:
    """Return a word for every key; a missing key matches any value, but a missing exact key matches 0."""
    words: dict[str, str] = {}
    for name, value in values:
        key = _find_key(table, name)
        if key.name in words:
            raise StfError(f"key {key.name} is given twice")
        words[key.name] = _KEY_WORDS[key.kind](value, key.bits)
    return [words.get(k.name) or _anything(k) for k in table.keys]


def _find_key(table: Table, name: str) -> Key:
    """Return a key by its full name or by a suffix after a dot.

    `x$1` means `x[1]`; `x` or `x.valid` means the validity of header `x`.
    """
    name = _INDEX.sub(r"[\1]", name)
    known = {k.name: k for k in table.keys}
    stem = name.removesuffix("valid").rstrip(".")
    for candidate in (name, f"{name}$", f"{name}.$valid$", f"{stem}.$valid$" if stem else "$valid$"):
        if candidate in known:
            return known[candidate]
    ends = [k for k in table.keys if k.name.endswith((f".{name}", f".{name}$", f".{name}.$valid$"))]
    if name == "valid":
        ends = [k for k in table.keys if k.name.endswith(".$valid$")]
    if len(ends) != 1:
        listed = ", ".join(known) or "none"
        raise StfError(f"{'more than one' if ends else 'no'} key '{name}' in table {table.name}, there are: {listed}")
    return ends[0]


def _anything(key: Key) -> str:
    if key.kind == "range":
        return f"0->{(1 << key.bits) - 1}"
    return {"ternary": "0&&&0", "optional": "0&&&0", "lpm": "0/0"}.get(key.kind, "0")


# ---- a function for each match kind, from the word in a test to the word of a command ----


def _exact(text: str, _bits: int) -> str:
    integer(text)
    return text


def _wildcards(text: str, bits: int) -> tuple[int, int]:
    """Return value and mask of a number in which `*` stands for any digit."""
    if "*" not in text:
        return integer(text), (1 << bits) - 1
    digit_bits = _RADIX_BITS.get(text[:2].lower())
    if digit_bits is None:
        raise StfError(f"'{text}' is not a number with '*' for digits")
    mask = (1 << bits) - 1
    for place, digit in enumerate(reversed(text[2:])):
        if digit == "*":
            mask &= ~(((1 << digit_bits) - 1) << place * digit_bits)
    return integer(text.replace("*", "0")), mask


def _ternary(text: str, bits: int) -> str:
    value, _, mask = text.partition("&&&")
    if mask:
        return f"{integer(value):#x}&&&{integer(mask):#x}"
    low, care = _wildcards(value, bits)
    return f"{low:#x}&&&{care:#x}"


def _lpm(text: str, bits: int) -> str:
    value, _, length = text.partition("/")
    if length:
        return f"{integer(value):#x}/{integer(length)}"
    low, care = _wildcards(value, bits)
    prefix = care.bit_count()
    if care != ((1 << prefix) - 1) << (bits - prefix):
        raise StfError(f"the '*' of '{text}' are not at its end")
    return f"{low:#x}/{prefix}"


def _range(text: str, _bits: int) -> str:
    low, _, high = text.partition("->")
    return f"{integer(low)}->{integer(high or low)}"


_KEY_WORDS = {"exact": _exact, "valid": _exact, "ternary": _ternary, "optional": _ternary, "lpm": _lpm, "range": _range}
