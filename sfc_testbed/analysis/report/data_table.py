# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A table or a text of a page, as text without HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sfc_testbed.analysis.formatting import UNIT_SCALES


@dataclass(frozen=True)
class Unfolded:
    """A text below a table that unfolds by a click on the name of a row."""

    anchor: str
    """The identifier of the text on the page."""
    title: str
    text: str


@dataclass(frozen=True)
class DataTable:
    """A table; the first column is text, the others are figures. `note` explains it in a sentence or two.

    A table without headings is a text: its note.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    unfolded: Sequence[Unfolded] = ()
    """A text for each row; none for a table without such texts."""

    @property
    def paragraphs(self) -> list[str]:
        """The paragraphs of the note."""
        return [paragraph for paragraph in self.note.split("\n\n") if paragraph.strip()]


_NUMBER = re.compile(r"(-?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[-+][0-9]+)?)(?: ?([A-Za-zµ]+))?")


def sort_value(cell: str) -> float | None:
    """Return the number by which a table is sorted if the text of a cell is not just this number; None otherwise.

    The number is in bytes or µs, whatever the unit in the text.
    """
    if cell.isdecimal():
        return None
    found = _NUMBER.match(cell)
    if found is None:
        return None
    number, unit = found.groups()
    return float(number.replace(",", "")) * UNIT_SCALES.get(unit, 1.0)


_LONGEST_FIGURE = 40
"""The most characters of a figure. A column with a longer cell has sentences."""


def column_kind(heading: str, cells: Sequence[str]) -> str:
    """Return the style of a column: path, prose (sentences), text, or empty for figures."""
    if heading == "folder":
        return "path"
    if any(len(cell) > _LONGEST_FIGURE for cell in cells):
        return "prose"
    return "" if any(not cell[:1].isalpha() for cell in cells) else "text"


_PHONE_PIXELS = 340
"""The width of a table on a phone with 390 pixels, without margins."""
_CHARACTER_PIXELS, _PADDING_PIXELS = 8.2, 14


def is_wide(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a table is too wide for a phone, estimated from its longest texts. Headings and names may wrap."""
    names = max((len(word) for row in rows for word in row[0].split()), default=0)
    figures = [max((len(row[place]) for row in rows), default=0) for place in range(1, len(headings))]
    words = [max(map(len, heading.split()), default=0) for heading in headings]
    longest = map(max, words, [names, *figures])
    return sum(_CHARACTER_PIXELS * characters + _PADDING_PIXELS for characters in longest) > _PHONE_PIXELS
