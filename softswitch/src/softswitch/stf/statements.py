# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Parses the text of a packet test into statements.

Owns the grammar (docs/stf.md). It must not know programs, commands or switches: names and numbers stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

_COMMENT = re.compile(r'(?P<quoted>"[^"]*")|#.*')
"""A comment, or a name in quotes, in which `#` begins no comment."""
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>0[xX][0-9a-fA-F*]+|0[bB][01*]+|0[oO][0-7*]+|[0-9]+(?:\.[0-9]+)?)
    |(?P<name>[A-Za-z_$][\w$]*(?:\[[0-9]+\])?(?:\.[A-Za-z_$][\w$]*(?:\[[0-9]+\])?)*|"[^"]+")
    |(?P<mark>&&&|->|==|!=|<=|>=|[()<>:,/=|]))""",
    re.VERBOSE,
)
_PACKET = re.compile(r"[0-9a-f]*")
_EXPECT = re.compile(r"[0-9a-f*]*\$?")
LAST_PORT = 511
_PORT_DIGITS = 3
_CONDITIONS = ("==", "!=", "<=", ">=", "<", ">")

DIRECT_COMMANDS = (
    "mirroring_add",
    "mirroring_add_mc",
    "mirroring_delete",
    "mirroring_get",
    "mc_mgrp_create",
    "mc_node_create",
    "mc_node_update",
    "mc_node_associate",
    "counter_read",
    "counter_write",
    "register_read",
    "register_write",
    "register_reset",
    "meter_get_rates",
    "meter_set_rates",
    "meter_array_set_rates",
    "pvs_add",
    "pvs_remove",
    "pvs_get",
    "pvs_clear",
    "set_crc16_parameters",
    "set_crc32_parameters",
)
"""The statements that are passed on unchanged as control commands."""


class StfError(ValueError):
    """Bad input; the message is one line that names the error, with the line number if there is one."""


class CommandRefused(StfError):
    """The switch under test refuses a command of the test."""


@dataclass(frozen=True)
class Packet:
    """A frame that is sent to a port."""

    line: int
    port: int
    frame: bytes


@dataclass(frozen=True)
class Expect:
    """The expected next frame from a port. `pattern`: hex digits, `*` for any digit; None matches any frame."""

    line: int
    port: int
    pattern: str | None
    exact_length: bool


@dataclass(frozen=True)
class NoPacket:
    """An assertion that no unmatched frame is left."""

    line: int


@dataclass(frozen=True)
class ActionCall:
    """An action with arguments by name."""

    name: str
    arguments: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Add:
    """A table entry; `label` names it for direct counters."""

    line: int
    table: str
    priority: int | None
    keys: tuple[tuple[str, str], ...]
    action: ActionCall
    label: str | None


@dataclass(frozen=True)
class SetDefault:
    """A table's default action."""

    line: int
    table: str
    action: ActionCall


@dataclass(frozen=True)
class RemoveAll:
    """The removal of all entries of all tables without const entries."""

    line: int


@dataclass(frozen=True)
class Wait:
    """A wait until all packets have left the switch."""

    line: int


@dataclass(frozen=True)
class Direct:
    """A control command that is passed on unchanged."""

    line: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class Check:
    """A condition on a cell; `cell` is an index or `$label`, `unit` packets, bytes or value."""

    line: int
    name: str
    cell: str
    unit: str
    condition: str
    number: int


Statement: TypeAlias = Packet | Expect | NoPacket | Add | SetDefault | RemoveAll | Wait | Direct | Check


def parse(text: str) -> list[Statement]:
    """Return the statements of a test. Raise StfError for a line that is not a statement."""
    statements = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = _COMMENT.sub(lambda found: found["quoted"] or "", raw).strip()
        if line:
            try:
                statements.append(_statement(number, line))
            except StfError as error:
                raise StfError(f"line {number}: {error}") from None
    return statements


def _statement(number: int, line: str) -> Statement:
    keyword, _, rest = line.partition(" ") if " " in line else line.partition("\t")
    keyword = keyword.lower()
    if keyword in ("packet", "expect"):
        return _frame(number, keyword, rest)
    words = _Words(rest)
    statement: Statement
    if keyword in DIRECT_COMMANDS:
        return Direct(number, (keyword, *rest.split()))
    if keyword == "add":
        statement = _add(number, words)
    elif keyword == "setdefault":
        statement = SetDefault(number, words.take("name"), ActionCall(words.take("name"), _arguments(words)))
    elif keyword in ("check_counter", "check_register"):
        statement = _check(number, keyword, words)
    elif keyword == "remove":
        words.expect("name", "all")
        statement = RemoveAll(number)
    elif keyword == "no_packet":
        statement = NoPacket(number)
    elif keyword == "wait":
        statement = Wait(number)
    else:
        raise StfError(f"no statement '{keyword}'")
    words.end()
    return statement


def _frame(number: int, keyword: str, rest: str) -> Packet | Expect:
    port, _, data = rest.strip().partition(" ")
    pattern = "".join(data.split()).lower()
    if not (port.isascii() and port.isdecimal()):
        raise StfError(f"port '{port}' is not a number")
    if len(port) > _PORT_DIGITS or int(port) > LAST_PORT:
        raise StfError(f"port '{port}' is above {LAST_PORT}")
    if keyword == "packet":
        if not _PACKET.fullmatch(pattern) or len(pattern) % 2:
            raise StfError("packet data are not whole bytes in hex digits")
        return Packet(number, int(port), bytes.fromhex(pattern))
    if not _EXPECT.fullmatch(pattern):
        raise StfError("expected data are not hex digits and '*' with at most a '$' at the end")
    return Expect(number, int(port), pattern.rstrip("$") if pattern else None, pattern.endswith("$"))


class _Words:
    """The words after a keyword, read one by one."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0

    def peek(self) -> tuple[str, str]:
        """Return kind and text of the next word without consuming it."""
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "the end of the line")

    def take(self, kind: str) -> str:
        """Consume and return the next word, which must be of the given kind."""
        next_kind, text = self.peek()
        if next_kind != kind:
            raise StfError(f"a {kind} is missing before {text}")
        self._at += 1
        return text.strip('"')

    def expect(self, kind: str, text: str) -> None:
        """Consume the next word, which must be `text`."""
        if self.take(kind).lower() != text:
            raise StfError(f"'{text}' is missing")

    def follows(self, text: str) -> bool:
        """Consume the next word if it is `text`, and return whether it was."""
        if self.peek()[1] != text:
            return False
        self._at += 1
        return True

    def end(self) -> None:
        """Raise StfError if another word follows."""
        kind, text = self.peek()
        if kind != "end":
            raise StfError(f"unexpected '{text}' at the end")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise StfError(f"'{text[at:].strip()}' cannot be read")
        yield match.lastgroup, match.group(match.lastgroup)
        at = match.end()


def _add(number: int, words: _Words) -> Add:
    table = words.take("name")
    priority = integer(words.take("number")) if words.peek()[0] == "number" else None
    keys = []
    name = words.take("name")
    while words.follows(":"):
        keys.append((name, _value(words)))
        name = words.take("name")
    action = ActionCall(name, _arguments(words))
    label = words.take("name") if words.follows("=") else None
    return Add(number, table, priority, tuple(keys), action, label)


def _value(words: _Words) -> str:
    """Return a number together with the mark and number that make it a prefix, a mask or a range."""
    value = words.take("number")
    for mark in ("/", "&&&", "->"):
        if words.follows(mark):
            return value + mark + words.take("number")
    return value


def _arguments(words: _Words) -> tuple[tuple[str, str], ...]:
    arguments: list[tuple[str, str]] = []
    words.expect("mark", "(")
    while not words.follows(")"):
        if arguments:
            words.expect("mark", ",")
        name = words.take("name")
        words.expect("mark", ":")
        arguments.append((name, words.take("number")))
    return tuple(arguments)


def _check(number: int, keyword: str, words: _Words) -> Check:
    name = words.take("name")
    words.expect("mark", "(")
    cell = words.take(words.peek()[0])
    words.expect("mark", ")")
    unit = "value"
    if keyword == "check_counter":
        if words.peek()[0] == "end":
            return Check(number, name, cell, "packets", ">=", 0)
        unit = words.take("name").lower()
        if unit not in ("packets", "bytes"):
            raise StfError(f"'{unit}' is neither packets nor bytes")
    condition = words.take("mark")
    if condition not in _CONDITIONS:
        raise StfError(f"'{condition}' is not a condition")
    return Check(number, name, cell, unit, condition, integer(words.take("number")))


def integer(text: str) -> int:
    """Return a number in any notation. Raise StfError for a fraction or a number with wildcards."""
    try:
        return int(text) if text.isdecimal() else int(text, 0)
    except ValueError:
        raise StfError(f"'{text}' is not a plain number") from None
