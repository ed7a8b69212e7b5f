# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""C names derived from P4 names, unique within a scope. It must not know which objects the names belong to."""

from __future__ import annotations

import re
from collections.abc import Iterable

_RESERVED = frozenset(
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "bool",
        "true",
        "false",
        "phv",
        "local",
        "packet",
        "pipeline",
        "valid",
        "next",
        "pass",
        "headers",
        "none",
        "errno",
        "NULL",
        "EOF",
        "asm",
        "typeof",
        "linux",
        "unix",
    ]
)


def identifier(name: str) -> str:
    """Return a C identifier that resembles the P4 name."""
    text = re.sub(r"[^0-9A-Za-z]+", "_", name).strip("_") or "anonymous"
    if text[0].isdigit() or text in _RESERVED:
        text += "_" if text in _RESERVED else ""
        text = f"n{text}" if text[0].isdigit() else text
    return text


class Scope:
    """A source of identifiers that are unique in one C scope."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._used: set[str] = set(taken)

    def unique(self, name: str) -> str:
        """Return an identifier for `name`, with a number appended if it is already in use."""
        base = identifier(name)
        candidate, number = base, 1
        while candidate in self._used:
            number += 1
            candidate = f"{base}_{number}"
        self._used.add(candidate)
        return candidate


def c_string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def c_comment(text: str) -> str:
    """Return a one-line C comment. The text comes from the P4 program and is escaped so it cannot end the comment."""
    printable = re.sub(r"[^ -~]", "?", text)
    return f"/* {printable.replace('*/', '* /').replace('/*', '/ *')} */"
