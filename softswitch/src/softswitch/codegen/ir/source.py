# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""JSON values that carry their path and their P4 source position.

Owns paths, types of JSON values and source positions, so that every error message can name its place. It must not know
the meaning of the values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from os_helpers.visible import visible
from softswitch.codegen.ir.limits import DEEPEST, LONGEST_TEXT, MOST_NUMBER, MOST_OBJECTS, WIDEST_BITS

MALFORMED = (ValueError, TypeError, LookupError, AttributeError, AssertionError, ArithmeticError, RecursionError)
"""The errors of loaders and emitters for documents that no compiler writes."""
_HEXADECIMAL = re.compile(r"\s*(-?)(?:0[xX])?([0-9a-fA-F]+)\s*")
_LONGEST_SHOWN = 60
_LONGEST_PATH = 200
_LONGEST_MESSAGE = 300


class CodegenError(Exception):
    """A program that cannot be turned into C.

    The message is one line. It names the construct, its JSON path and, if the JSON holds them, the P4 file and line.
    """

    has_place = False
    """Whether the message names a place."""


@dataclass(frozen=True)
class Json:
    """A value inside a JSON document, its path from the root, and the nearest P4 source position around it."""

    value: Any
    path: str = "$"
    source: str = ""
    depth: int = 0

    def __getitem__(self, key: str | int) -> Json:
        """Return the member `key`. Raise CodegenError if it is missing."""
        if isinstance(key, str):
            if not isinstance(self.value, dict):
                raise self.error(f"expected an object with the member '{key}', found {shown(self.value)}")
            if key not in self.value:
                raise self.error(f"missing member '{key}'")
            return self._child(self.value[key], f".{key}")
        if not isinstance(self.value, list) or not 0 <= key < len(self.value):
            raise self.error(f"missing element {key}")
        return self._child(self.value[key], f"[{key}]")

    def get(self, key: str) -> Json | None:
        """Return the member `key`, or None if it is missing or null."""
        if not isinstance(self.value, dict) or self.value.get(key) is None:
            return None
        return self[key]

    def get_text(self, key: str) -> str | None:
        """Return the string member `key`, or None if it is missing or null."""
        member = self.get(key)
        return None if member is None else member.text()

    def items(self, key: str | None = None, most: int = MOST_OBJECTS) -> Iterator[Json]:
        """Yield the elements of this array, or of the array member `key` (a missing member is an empty array)."""
        array = self if key is None else self.get(key)
        if array is None:
            return
        if not isinstance(array.value, list):
            raise array.error(f"expected an array, found {shown(array.value)}")
        if len(array.value) > most:
            raise array.error(f"an array of {len(array.value)} elements; the limit is {most}")
        for index, element in enumerate(array.value):
            yield array._child(element, f"[{index}]")

    def members(self) -> Iterator[tuple[str, Json]]:
        """Yield the members of this object with their names. The path of a member has its number, not its name."""
        if not isinstance(self.value, dict):
            raise self.error(f"expected an object, found {shown(self.value)}")
        for number, (key, value) in enumerate(self.value.items()):
            yield key, self._child(value, f"{{{number}}}")

    def text(self) -> str:
        """Return this string. Its characters may be any but lone surrogates, which are not text."""
        if not isinstance(self.value, str):
            raise self.error(f"expected a string, found {shown(self.value)}")
        if len(self.value) > LONGEST_TEXT:
            raise self.error(f"a string of {len(self.value)} characters; the limit is {LONGEST_TEXT}")
        if not _is_text(self.value):
            raise self.error(f"the string {shown(self.value)} is not valid Unicode")
        return self.value

    def integer(self, least: int = 0, most: int = MOST_NUMBER, what: str = "the number") -> int:
        """Return this integer, which must lie between `least` and `most`. An integral `1.0` counts, as in BMv2."""
        value = self.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(f"expected an integer, found {shown(value)}")
        if not least <= value <= most:
            raise self.error(f"{what} is {shown(value)}; the limits are {least} and {most}")
        return value

    def width(self, least: int = 0, most: int = WIDEST_BITS) -> int:
        """Return this number of bits."""
        return self.integer(least, most, "the width")

    def hexstr(self, bits: int = WIDEST_BITS) -> int:
        """Return the integer in BMv2's notation of constants: hexadecimal, with or without 0x, possibly negative. Its
        absolute value must fit into `bits` bits."""
        match = _HEXADECIMAL.fullmatch(self.text())
        if match is None:
            raise self.error(f"expected a hexadecimal string, found {shown(self.value)}")
        digits = match[2].lstrip("0")
        if 4 * len(digits) > bits + 3:
            raise self.error(f"a constant of about {4 * len(digits)} bits; the limit is {bits}")
        return int(match[1] + (digits or "0"), 16)

    def flag(self, key: str) -> bool:
        """Return the boolean member `key`, or False if it is missing."""
        member = self.get(key)
        if member is None:
            return False
        if not isinstance(member.value, bool) and member.value not in (0, 1):
            raise member.error(f"expected a boolean, found {shown(member.value)}")
        return bool(member.value)

    @property
    def log_place(self) -> str:
        """The file and line of this value itself for the packet log, `FILE(LINE) ` as in BMv2; empty if unknown."""
        name, line = _file_and_line(self.value)
        return f"{name}({line}) " if name else ""

    @property
    def fragment(self) -> str:
        """The P4 source text of this value itself; empty if unknown."""
        info: Any = self.value.get("source_info") if isinstance(self.value, dict) else None
        text = info.get("source_fragment") if isinstance(info, dict) else None
        return text.strip()[:LONGEST_TEXT] if isinstance(text, str) else ""

    def error(self, message: str) -> CodegenError:
        """Return a CodegenError with the path and source position of this value."""
        place = f" ({self.source})" if self.source else ""
        path = self.path
        if len(path) > _LONGEST_PATH:
            path = f"{path[: _LONGEST_PATH // 2]}...{path[-_LONGEST_PATH // 2 :]}"
        if len(message) > _LONGEST_MESSAGE:
            message = f"{message[:_LONGEST_MESSAGE]}..."
        error = CodegenError(visible(f"{message} at {path}{place}"))
        error.has_place = True
        return error

    @contextmanager
    def locating(self) -> Iterator[None]:
        """Add the path of this value to errors that have no place. Errors of Python become CodegenError: they are
        raised for documents that no compiler writes."""
        try:
            yield
        except CodegenError as error:
            raise error if error.has_place else self.error(str(error)) from error
        except MALFORMED as error:
            raise self.error(f"the form of this part is not supported ({type(error).__name__})") from error

    def _child(self, value: Any, step: str) -> Json:
        if self.depth >= DEEPEST:
            raise self.error(f"the JSON is nested more than {DEEPEST} deep")
        return Json(value, self.path + step, _position(value) or self.source, self.depth + 1)


def shown(value: Any) -> str:
    """Return a value of a document for a message, cut to a short text."""
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'an array'} of {len(value)}"
    text = hex(value) if isinstance(value, int) and value.bit_length() > _LONGEST_SHOWN else repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _file_and_line(value: Any) -> tuple[str, str]:
    """Return the P4 file and line in a value's own source_info, or empty strings."""
    info: Any = value.get("source_info") if isinstance(value, dict) else None
    name = info.get("filename") if isinstance(info, dict) else None
    if not isinstance(name, str) or not _is_text(name):
        return "", ""
    line = info.get("line")
    return name[-_LONGEST_PATH:], str(line) if isinstance(line, int) and 0 <= line <= MOST_NUMBER else "?"


def _position(value: Any) -> str:
    """Return `file:line` from a value's own source_info, or an empty string."""
    name, line = _file_and_line(value)
    return f"{name.rsplit('/', 1)[-1]}:{line}" if name else ""
