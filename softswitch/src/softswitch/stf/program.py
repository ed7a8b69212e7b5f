# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Resolves the names of a program and translates table statements to control commands.

Owns the translation of a test's short names and key notations to `simple_switch_CLI` syntax. It must not know a running
switch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from softswitch.stf.statements import ActionCall, Add, SetDefault, StfError

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

    def __init__(self, root: Mapping[str, Any]) -> None:
        types = {t["name"]: {f[0]: f[1] for f in t["fields"]} for t in root["header_types"]}
        widths = {h["name"]: types[h["header_type"]] for h in root["headers"]}
        parameters = {a["id"]: tuple(p["name"] for p in a["runtime_data"]) for a in root["actions"]}
        self.tables = {
            t["name"]: _table(t, widths, parameters) for pipeline in root["pipelines"] for t in pipeline["tables"]
        }
        self.counters = [c["name"] for c in root["counter_arrays"]]
        self.registers = [r["name"] for r in root["register_arrays"]]

    @staticmethod
    def load(path: Path) -> ProgramNames:
        """Read a BMv2 JSON. Raise StfError if it is not a program, OSError if it cannot be read."""
        try:
            return ProgramNames(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError) as error:
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


Widths: TypeAlias = Mapping[str, Mapping[str, int]]
"""The width of each field in bits, by header and field."""


def _key(item: Mapping[str, Any], widths: Widths) -> Key:
    """Return a key; a validity flag has 1 bit."""
    target = item["target"]
    is_field = isinstance(target, list)
    bits = int(widths[target[0]][target[1]]) if is_field and target[1] != "$valid$" else 1
    return Key(item.get("name") or (".".join(target) if is_field else str(target)), item["match_type"], bits)


def _table(item: Mapping[str, Any], widths: Widths, parameters: Mapping[int, tuple[str, ...]]) -> Table:
    actions = {name: parameters[number] for name, number in zip(item["actions"], item["action_ids"], strict=True)}
    return Table(
        name=item["name"],
        keys=tuple(_key(key, widths) for key in item["key"]),
        actions=actions,
        has_priority=item["match_type"] in ("ternary", "range"),
        is_const="entries" in item,
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
        _number(word)
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


def _number(text: str) -> int:
    try:
        return int(text, 0) if not text.isdecimal() else int(text)
    except ValueError:
        raise StfError(f"'{text}' is not a plain number") from None


def _exact(text: str, _bits: int) -> str:
    _number(text)
    return text


def _wildcards(text: str, bits: int) -> tuple[int, int]:
    """Return value and mask of a number in which `*` stands for any digit."""
    if "*" not in text:
        return _number(text), (1 << bits) - 1
    digit_bits = _RADIX_BITS.get(text[:2].lower())
    if digit_bits is None:
        raise StfError(f"'{text}' is not a number with '*' for digits")
    mask = (1 << bits) - 1
    for place, digit in enumerate(reversed(text[2:])):
        if digit == "*":
            mask &= ~(((1 << digit_bits) - 1) << place * digit_bits)
    return _number(text.replace("*", "0")), mask


def _ternary(text: str, bits: int) -> str:
    value, _, mask = text.partition("&&&")
    if mask:
        return f"{_number(value):#x}&&&{_number(mask):#x}"
    low, care = _wildcards(value, bits)
    return f"{low:#x}&&&{care:#x}"


def _lpm(text: str, bits: int) -> str:
    value, _, length = text.partition("/")
    if length:
        return f"{_number(value):#x}/{_number(length)}"
    low, care = _wildcards(value, bits)
    prefix = care.bit_count()
    if care != ((1 << prefix) - 1) << (bits - prefix):
        raise StfError(f"the '*' of '{text}' are not at its end")
    return f"{low:#x}/{prefix}"


def _range(text: str, _bits: int) -> str:
    low, _, high = text.partition("->")
    return f"{_number(low)}->{_number(high or low)}"


_KEY_WORDS = {"exact": _exact, "valid": _exact, "ternary": _ternary, "optional": _ternary, "lpm": _lpm, "range": _range}
