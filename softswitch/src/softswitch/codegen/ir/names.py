# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The only way of a program's names and texts into C: identifiers from numbers, and strings and comments of safe bytes.

A program may come from another author or another machine, so its names are data. An identifier contains no character of
a name. Strings and comments contain printable ASCII alone; every other byte is written as an escape. Therefore no text
of a program can end a string, a comment or a line.
"""

from __future__ import annotations

import re

from os_helpers.visible import visible

_UNSAFE = re.compile(rb'[^ -~]|["\\?]')
"""Bytes that a C string needs as escapes. A question mark could begin a trigraph."""
_UNSAFE_IN_COMMENT = re.compile(r"[^ -~]|[\\*?]")
"""Characters that are not shown. A backslash could join lines, and an asterisk end the comment."""
_LONGEST_COMMENT = 200


class Scope:
    """A source of identifiers that are unique in one C scope: a prefix and a number."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._used = 0

    def unique(self) -> str:
        """Return an identifier that this scope has not returned before."""
        self._used += 1
        return f"{self._prefix}{self._used - 1}"


def c_string(text: str) -> str:
    """Return a C string of one line. Invisible characters in the text become visible, so that no name of a program
    can end a line of the switch's output or hide in it."""
    return c_message(visible(text))


def c_message(text: str) -> str:
    """Return a C string with the bytes of a text that may contain line breaks. C strings end at NUL, so NUL becomes
    visible."""
    data = text.replace("\0", "\\x00").encode(errors="backslashreplace")
    return f'"{_UNSAFE.sub(_octal, data).decode()}"'


def _octal(match: re.Match[bytes]) -> bytes:
    """Return the escape of a byte. Octal escapes have at most three digits, so that a digit after one is not part of
    it."""
    return b"\\%03o" % match[0][0]


def c_comment(text: str) -> str:
    """Return a one-line C comment with the start of a text."""
    shown = text if len(text) <= _LONGEST_COMMENT else f"{text[:_LONGEST_COMMENT]}..."
    return f"/* {_UNSAFE_IN_COMMENT.sub('.', shown)} */"
