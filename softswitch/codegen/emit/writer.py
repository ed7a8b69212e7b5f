# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A dumb writer of C text: it knows lines, indentation and blocks, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from softswitch.codegen.ir.names import c_comment


class Writer:
    """Collects lines of C."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def line(self, text: str = "") -> None:
        """One line at the current indentation."""
        self._lines.append("    " * self._depth + text if text else "")

    def lines(self, texts: Iterable[str]) -> None:
        """Several lines at the current indentation."""
        for text in texts:
            self.line(text)

    def comment(self, text: str) -> None:
        """A one-line comment; empty text writes nothing."""
        if text:
            self.line(c_comment(text))

    def label(self, name: str) -> None:
        """A jump target, at the left margin of the function's body; the empty statement lets anything follow."""
        self._lines.append(f"{name}:;")

    @contextmanager
    def block(self, head: str, tail: str = "") -> Iterator[None]:
        """`head {` ... `}tail`."""
        if head.startswith("else") and self._lines[-1].endswith("}"):
            self._lines[-1] += f" {head} {{"
        else:
            self.line(f"{head} {{" if head else "{")
        self._depth += 1
        yield
        self._depth -= 1
        self.line("}" + tail)

    def text(self) -> str:
        """Everything written."""
        return "\n".join(self._lines) + "\n"
