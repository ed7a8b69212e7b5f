# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A writer of C text with lines, indentation and blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from softswitch.codegen.ir.limits import LONGEST_CODE
from softswitch.codegen.ir.names import c_comment, c_string
from softswitch.codegen.ir.source import CodegenError


def literal(text: str) -> str:
    """Return text for a format of printf that prints it unchanged."""
    return text.replace("%", "%%")


class Writer:
    """A collector of C lines. `logs`: whether the code logs the way of packets."""

    def __init__(self, *, logs: bool = False) -> None:
        self.logs = logs
        self.depth = 0
        """The number of blocks around the next line."""
        self._lines: list[str] = []
        self._length = 0

    def line(self, text: str = "") -> None:
        self._lines.append("    " * self.depth + text if text else "")
        self._length += len(self._lines[-1])
        if self._length > LONGEST_CODE:
            raise CodegenError(f"the program is too long: its C code has more than {LONGEST_CODE} characters")

    def lines(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.line(text)

    def comment(self, text: str) -> None:
        """Write a one-line comment; empty text writes no line."""
        if text:
            self.line(c_comment(text))

    def log(self, level: str, text: str, *arguments: str) -> None:
        """Write a call that logs a line, if the code logs. `text` is a format of printf; see `literal`."""
        if self.logs:
            words = ", ".join([c_string(text), *arguments])
            self.line(f"sw_log(pipeline, packet, SW_LOG_{level.upper()}, {words});")

    def count_turn(self, what: str, source: str, *leave: str) -> None:
        """Write the count of a turn of a loop. After the last turn the lines `leave` end the pass."""
        with self.block(f"if (sw_is_endless(packet, {c_string(f'{source}, {what}' if source else what)}))"):
            self.lines(leave)

    def label(self, name: str) -> None:
        """Write a jump label at the left margin; the empty statement after it allows a declaration to follow."""
        self._lines.append(f"{name}:;")

    @contextmanager
    def block(self, head: str, tail: str = "") -> Iterator[None]:
        """Write `head {`, the indented lines of the with-block, and `}tail`."""
        if head.startswith("else") and self._lines[-1].endswith("}"):
            self._lines[-1] += f" {head} {{"
        else:
            self.line(f"{head} {{" if head else "{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}" + tail)

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"
