# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A table or a text of a page, as text without HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class DataTable:
    """A table; the first column is text, the others are figures. `note` explains it in a sentence or two.

    A table without headings is a text: its note.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    @property
    def paragraphs(self) -> list[str]:
        """The paragraphs of the note."""
        return [paragraph for paragraph in self.note.split("\n\n") if paragraph.strip()]


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
