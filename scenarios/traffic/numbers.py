# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Rows of numbers in text files, as other simulators, spreadsheets and scripts write them.

Columns are separated by blanks, tabs, commas or semicolons. Empty rows and comments (`#` or `//`) are no rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from sfc_testbed.request.quantities import has_unit, in_unit

_COMMENT = re.compile(r"(?:^|\s)(?:#|//).*")
_SEPARATOR = re.compile(r"[,;]")
_NUMBER = re.compile(r"-?(?:[0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,2})?")


class Row(NamedTuple):
    """A row of a file, with the number of its line and its text without comment."""

    line: int
    text: str
    words: tuple[str, ...]


def rows_of(lines: Iterable[str]) -> Iterator[Row]:
    """Yield the rows of a file that are neither empty nor comments."""
    for number, line in enumerate(lines, start=1):
        text = _COMMENT.sub("", line).strip() if "#" in line or "//" in line else line.strip()
        has_separators = "," in text or ";" in text
        words = [word.strip() for word in _SEPARATOR.split(text)] if has_separators else text.split()
        while words and not words[-1]:  # a spreadsheet ends rows that are shorter than others with commas
            words.pop()
        if words:
            yield Row(number, text, tuple(words))


def is_number(text: str) -> bool:
    """Whether a text is a decimal number of ASCII digits."""
    return _NUMBER.fullmatch(text) is not None


def decimal(text: str) -> Decimal:
    """Parse a number exactly. Raises ValueError for other texts, infinities and NaN, and for thousands of digits."""
    if not is_number(text):
        raise ValueError("not a number")
    return Decimal(text)


def whole(text: str) -> int:
    """Parse a whole number, also if it is written as 4096.0 or 4.096e3. Raises ValueError for other numbers."""
    if text.isascii() and text.isdecimal() and len(text) <= 30:
        return int(text)
    value = decimal(text)
    if value != value.to_integral_value():
        raise ValueError("not a whole number")
    return int(value)


def size_bytes(text: str) -> Decimal:
    """Parse a size: a number of bytes, or a quantity with a unit such as 4KB. Raises ValueError for other texts."""
    return Decimal(str(in_unit(text, "bytes"))) if has_unit(text) else decimal(text)
