# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the statements of a test against any switch.

Owns the order of statements, the comparison of frames with patterns and the verdict. It must not know the meaning of
commands and frames.
"""

from __future__ import annotations

import operator
import re
from collections import deque
from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import Protocol

from softswitch.stf.program import ProgramNames, find
from softswitch.stf.statements import (
    Add,
    Check,
    CommandRefused,
    Direct,
    Expect,
    NoPacket,
    Packet,
    RemoveAll,
    SetDefault,
    Statement,
    StfError,
    Wait,
)


class Target(Protocol):
    """A switch under test."""

    def command(self, line: str) -> str:
        """Run a control command in `simple_switch_CLI` syntax and return its answer. Raise ValueError if refused."""

    def send(self, port: int, frame: bytes) -> list[tuple[int, bytes]]:
        """Send a frame to a port and return all frames (port, frame) that leave until the switch is idle."""

    def drops(self) -> list[str]:
        """Return the reasons of the drops since the last call, each as the end of a sentence; may always be empty."""


class TestFailure(Exception):
    """The switch did not behave as the test expects; the message shows the first difference."""

    __test__ = False  # keeps pytest from collecting this class


_HANDLE = re.compile(r"handle (\d+)")
_COUNTER = re.compile(r"\( *(\d+) bytes, (\d+) packets\)|BmCounterValue\(packets=(\d+), bytes=(\d+)\)")
_REGISTER = re.compile(r"= *(\d+)\s*$")
_SHOWN_DROPS = 8
_BYTES_A_ROW = 16
_CONDITIONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


def run(statements: Iterable[Statement], names: ProgramNames, target: Target) -> None:
    """Run a test to its end. Raise TestFailure at the first difference, StfError for bad input, and CommandRefused if
    the switch refuses a command."""
    _Run(names, target).run(statements)


class _Run:
    def __init__(self, names: ProgramNames, target: Target) -> None:
        self._names = names
        self._target = target
        self._waiting: dict[int, deque[tuple[int, bytes]]] = {}
        """Frames that left and are not yet matched by an `expect`, by port: (line of the `packet` statement, frame)."""
        self._expected: list[Expect] = []
        self._drops: list[str] = []
        """Sentences with the drops since the last met expectation."""
        self._handles: dict[str, str] = {}

    def run(self, statements: Iterable[Statement]) -> None:
        for statement in statements:
            try:
                self._statement(statement)
            except (StfError, ValueError) as error:
                kind = CommandRefused if isinstance(error, CommandRefused) else StfError
                raise kind(f"line {statement.line}: {error}") from None
        self._settle()
        self._nothing_waits("the end")

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Packet():
                for port, frame in self._target.send(statement.port, statement.frame):
                    self._waiting.setdefault(port, deque()).append((statement.line, frame))
                subject = f"the packet of line {statement.line} was dropped"
                self._drops += [f"{subject} {reason}" for reason in self._target.drops()]
            case Expect():
                self._expected.append(statement)
            case NoPacket():
                self._settle()
                self._nothing_waits(f"line {statement.line}")
                self._drops.clear()
            case Wait():
                self._settle()
            case Check():
                self._check(statement)
            case _:
                self._control(statement)

    def _control(self, statement: Statement) -> None:
        match statement:
            case Add():
                self._add(statement)
            case SetDefault():
                self._command(self._names.set_default_command(statement))
            case RemoveAll():
                for table in self._names.tables.values():
                    if not table.is_const:
                        self._command(f"table_clear {table.name}")
            case Direct():
                self._command(" ".join(statement.words))

    def _command(self, line: str) -> str:
        try:
            return self._target.command(line)
        except ValueError as error:
            raise CommandRefused(f"refused: {line}: {error}") from None

    def _add(self, statement: Add) -> None:
        answer = self._command(self._names.add_command(statement))
        handle = _HANDLE.search(answer)
        if statement.label and handle:
            self._handles[statement.label] = handle.group(1)

    def _check(self, check: Check) -> None:
        cell = check.cell
        if cell.startswith("$"):
            if cell[1:] not in self._handles:
                raise StfError(f"no entry has the label '{cell[1:]}'")
            cell = self._handles[cell[1:]]
        value = self._register(check.name, cell) if check.unit == "value" else self._counter(check, cell)
        if not _CONDITIONS[check.condition](value, check.number):
            raise TestFailure(
                f"line {check.line}: {check.name}({check.cell}) is {value}, wanted {check.condition} {check.number}"
            )

    def _register(self, name: str, cell: str) -> int:
        answer = self._command(f"register_read {find(name, self._names.registers, 'register')} {cell}")
        match = _REGISTER.search(answer)
        if match is None:
            raise StfError(f"cannot read '{answer}'")
        return int(match.group(1))

    def _counter(self, check: Check, cell: str) -> int:
        answer = self._command(f"counter_read {find(check.name, self._names.counters, 'counter')} {cell}")
        match = _COUNTER.search(answer)
        if match is None:
            raise StfError(f"cannot read '{answer}'")
        n_bytes, packets = match.group(1) or match.group(4), match.group(2) or match.group(3)
        return int(packets if check.unit == "packets" else n_bytes)

    def _settle(self) -> None:
        """Compare the expectations so far with the frames so far, in order on each port."""
        expected, self._expected = self._expected, []
        for expect in expected:
            waiting = self._waiting.get(expect.port)
            if not waiting:
                message = f"line {expect.line}: no frame came out of port {expect.port}{self._elsewhere()}"
                raise TestFailure("\n".join([message, *self._drops[-_SHOWN_DROPS:]]))
            _compare(expect, *waiting.popleft())
        if expected:
            self._drops.clear()

    def _elsewhere(self) -> str:
        ports = sorted(port for port, frames in self._waiting.items() if frames)
        return f", but of {', '.join(map(str, ports))}" if ports else ""

    def _nothing_waits(self, where: str) -> None:
        for port, frames in sorted(self._waiting.items()):
            if frames:
                line, frame = frames[0]
                raise TestFailure(
                    f"{where}: port {port} sent a frame that is not expected, after line {line}\n{hex_diff('', frame)}"
                )


def _compare(expect: Expect, sent_line: int, frame: bytes) -> None:
    if expect.pattern is None:
        return
    problem = first_difference(expect.pattern, expect.exact_length, frame)
    if problem:
        raise TestFailure(
            f"line {expect.line}: port {expect.port}, after the packet of line {sent_line}: {problem}\n"
            + hex_diff(expect.pattern, frame)
        )


def first_difference(pattern: str, exact_length: bool, frame: bytes) -> str | None:
    """Return the first mismatch of a frame, or None if it matches. Longer frames match unless `exact_length` is set."""
    digits = frame.hex()
    for place, (wanted, got) in enumerate(zip(pattern, digits, strict=False)):
        if wanted not in ("*", got):
            wanted_byte = pattern[place & ~1 : (place & ~1) + 2]
            return f"byte {place // 2} is {digits[place & ~1 : (place & ~1) + 2]}, not {wanted_byte}"
    if len(digits) < len(pattern):
        return f"{len(frame)} bytes are fewer than {(len(pattern) + 1) // 2}"
    if exact_length and len(digits) > len(pattern):
        return f"{len(frame)} bytes are more than {(len(pattern) + 1) // 2}"
    return None


def hex_diff(pattern: str, frame: bytes) -> str:
    """Return rows of the pattern and the frame in hex; rows that differ are marked, with carets under their digits."""
    digits = frame.hex()
    rows = []
    step = 2 * _BYTES_A_ROW
    for at in range(0, max(len(pattern), len(digits)), step):
        wanted, got = pattern[at : at + step], digits[at : at + step]
        marks = "".join(_mark(w, g) for w, g in zip_longest(wanted, got, fillvalue=" "))
        differs = bool(marks.strip())
        rows.append(f"{'-' if differs else ' '} {at // 2:04x}  {_spaced(wanted)}")
        if differs:
            rows += [f"+ {at // 2:04x}  {_spaced(got)}", f"        {_spaced(marks)}".rstrip()]
    return "\n".join(rows)


def _mark(wanted: str, got: str) -> str:
    return " " if wanted in ("*", got) else "^"


def _spaced(digits: str) -> str:
    return " ".join(digits[i : i + 2] for i in range(0, len(digits), 2))
