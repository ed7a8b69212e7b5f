# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tables that lose nothing on a narrow terminal. Rich by itself cuts off what has no room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

PROSE = 1
"""`ratio` of a column of sentences: where room is short, it is these that give way first."""

_LEAST_PROSE, _MOST_PROSE = 12, 24
"""Characters: a column of sentences need be no wider than this to be read, whatever words are in it."""

_ENDLESS = 10_000


class Fitted:
    """Shows a table in whatever width there is: sentences wrap, then other cells between words.

    Where even that is too wide, the table goes on below, with its first columns once more. Only where those and one
    more have no room beside one another does a word go on in the next line.
    """

    def __init__(self, table: Table, keys: int = 1) -> None:
        """`keys`: so many of the first columns say what a row is of."""
        self._table = table
        self._keys = keys

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
        """Numbers of the columns that stand side by side: all, else as many as fit without a wrap of their own."""
        numbers = list(range(len(spans)))
        if beside[-1] + sum(each.least for each in spans) <= width:
            yield numbers
            return
        part = keys = numbers[: self._keys]
        for number in numbers[self._keys :]:
            wider = [*part, number]
            if len(part) > len(keys) and beside[len(wider)] + sum(spans[each].good for each in wider) > width:
                yield part
                wider = [*keys, number]
            part = wider
        yield part

    def _beside(self, columns: Sequence[Column], console: Console, endless: ConsoleOptions) -> int:
        """Characters of a row that belong to no column."""
        narrow = self._part(columns, [1] * len(columns))
        return Measurement.get(console, endless, narrow).maximum - len(columns)

    def _part(self, columns: Sequence[Column], widths: Sequence[int]) -> Table:
        table = self._table
        part = Table(
            *(
                Column(each.header, justify=each.justify, style=each.style, overflow="fold", width=width)
                for each, width in zip(columns, widths, strict=True)
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
    """Characters that a column needs, and that it would like."""

    least: int
    whole: int
    is_prose: bool

    @property
    def good(self) -> int:
        """Where there are several parts, no cell but a sentence need wrap."""
        return self.least if self.is_prose else self.whole


def _span_of(column: Column, console: Console, endless: ConsoleOptions) -> _Span:
    found = [Measurement.get(console, endless, cell) for cell in (column.header, *column.cells)]
    least, whole = (max(getattr(each, name) for each in found) for name in ("minimum", "maximum"))
    if column.ratio:
        return _Span(min(whole, max(_LEAST_PROSE, min(least, _MOST_PROSE))), whole, is_prose=True)
    return _Span(least, max(least, min(whole, column.max_width or whole)), is_prose=False)


def _widths(spans: Sequence[_Span], room: int) -> list[int]:
    """Characters for each column, as near to what it would like as there is room."""
    widths = [each.whole for each in spans]
    prose = [number for number, each in enumerate(spans) if each.is_prose]
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
