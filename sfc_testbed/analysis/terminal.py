# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tables that show all their text on a narrow terminal, where Rich would cut cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

PROSE = 1
"""The `ratio` that marks a column of sentences. These columns become narrower first if there is not enough room."""

_LEAST_PROSE, _MOST_PROSE = 12, 24
"""The minimum width of a column of sentences depends on its longest word, but is between these, in characters."""

_ENDLESS = 10_000


class Fitted:
    """A table that fits the available width: sentences wrap first, then other cells, between words.

    If this is not enough, the table is split into parts below each other, and each part repeats the key columns. A word
    is split only if the key columns and one more column do not fit.
    """

    def __init__(self, table: Table, keys: int = 1) -> None:
        """Wrap a table. `keys`: the number of key columns, which come first and identify a row."""
        self._table = table
        self._keys = keys

    @property
    def table(self) -> Table:
        """The whole table."""
        return self._table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        if self._table.title:
            yield Text.assemble(self._table.title, style=self._table.title_style or "")
        endless = options.update(max_width=_ENDLESS)
        spans = [_span_of(column, console, endless) for column in self._table.columns]
        beside = [
            self._beside(self._table.columns[:count], console, endless) for count in range(len(self._table.columns) + 1)
        ]
        for part in self._parts(spans, beside, options.max_width):
            columns = [self._table.columns[number] for number in part]
            yield self._part(
                columns, _widths([spans[number] for number in part], options.max_width - beside[len(part)])
            )
            if self._table.box is None and part[-1] + 1 < len(spans):
                yield ""

    def _parts(self, spans: Sequence[_Span], beside: Sequence[int], width: int) -> Iterator[list[int]]:
        """Yield the column numbers of each part: all columns if they fit, else as many as fit at their good width.

        `beside`: the characters outside the columns, by the number of columns.
        """
        numbers = list(range(len(spans)))
        if beside[-1] + sum(span.least for span in spans) <= width:
            yield numbers
            return
        part = keys = numbers[: self._keys]
        for number in numbers[self._keys :]:
            wider = [*part, number]
            if len(part) > len(keys) and beside[len(wider)] + sum(spans[column].good for column in wider) > width:
                yield part
                wider = [*keys, number]
            part = wider
        yield part

    def _beside(self, columns: Sequence[Column], console: Console, endless: ConsoleOptions) -> int:
        """Return the number of characters in a row that are outside the columns, such as borders."""
        narrow = self._part(columns, [1] * len(columns))
        return Measurement.get(console, endless, narrow).maximum - len(columns)

    def _part(self, columns: Sequence[Column], widths: Sequence[int]) -> Table:
        table = self._table
        part = Table(
            *(
                Column(column.header, justify=column.justify, style=column.style, overflow="fold", width=width)
                for column, width in zip(columns, widths, strict=True)
            ),
            box=table.box,
            padding=table.padding,
            pad_edge=table.pad_edge,
            collapse_padding=table.collapse_padding,
            show_header=table.show_header,
        )
        for cells in zip(*(column.cells for column in columns), strict=True):
            part.add_row(*cells)
        return part


@dataclass(frozen=True)
class _Span:
    """The minimum width of a column and its width without wrapping, in characters."""

    least: int
    whole: int
    is_prose: bool

    @property
    def good(self) -> int:
        """The width in a table with several parts, in which only sentences wrap."""
        return self.least if self.is_prose else self.whole


def _span_of(column: Column, console: Console, endless: ConsoleOptions) -> _Span:
    widths = [Measurement.get(console, endless, cell) for cell in (column.header, *column.cells)]
    least, whole = (max(getattr(width, name) for width in widths) for name in ("minimum", "maximum"))
    if column.ratio:
        return _Span(min(whole, max(_LEAST_PROSE, min(least, _MOST_PROSE))), whole, is_prose=True)
    return _Span(least, max(least, min(whole, column.max_width or whole)), is_prose=False)


def _widths(spans: Sequence[_Span], room: int) -> list[int]:
    """Return the width of each column, in characters, as near to its full width as possible."""
    widths = [span.whole for span in spans]
    prose = [number for number, span in enumerate(spans) if span.is_prose]
    while sum(widths) > room:
        wide = [number for number in prose if widths[number] > spans[number].least]
        if wide:
            widths[max(wide, key=lambda number: widths[number])] -= 1
            continue
        number = max(range(len(spans)), key=lambda number: widths[number] - spans[number].least)
        slack = widths[number] - spans[number].least
        if slack > 0:
            widths[number] -= min(slack, sum(widths) - room)
        elif max(widths) > 1:
            widths[widths.index(max(widths))] -= 1
        else:
            break
    return widths
