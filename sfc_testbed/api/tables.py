# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A table of results, for the terminal, notebooks, LaTeX, CSV and Markdown."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from sfc_testbed.api.console import TextConsole
from sfc_testbed.request.arguments import checked_call
from sfc_testbed.request.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

_WIDEST = 120
_HTML = '<pre style="white-space:pre;overflow-x:auto;line-height:normal">{code}</pre>'
_LATEX = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "µ": r"\textmu{}",
    "–": "--",
}


class Table:
    """A table of results. `print` shows it on a terminal, and a notebook shows it as output of a cell."""

    def __init__(self, whole: RenderableType, main: RichTable, frame: pl.DataFrame) -> None:
        """`whole` is all that is shown, `main` the table of it that has a row per result, `frame` the exact figures."""
        self._whole = whole
        self._main = main
        self.frame = frame
        """The exact figures as a polars frame."""

    @property
    def headings(self) -> list[str]:
        """The headings of the columns as shown."""
        return [_plain(column.header) for column in self._main.columns]

    @property
    def rows(self) -> list[list[str]]:
        """The cells of the rows as shown."""
        return [
            list(map(_plain, cells)) for cells in zip(*(column.cells for column in self._main.columns), strict=True)
        ]

    @checked_call
    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the exact figures as CSV, and write them to a file if `path` is given."""
        return _written(self.frame.write_csv(), path)

    @checked_call
    def to_latex(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the table as shown, for LaTeX with the package booktabs; write it to a file if `path` is given."""
        places = "".join("r" if column.justify == "right" else "l" for column in self._main.columns)
        lines = [
            "% needs \\usepackage{booktabs}",
            f"\\begin{{tabular}}{{{places}}}",
            "\\toprule",
            _latex_row(self.headings),
            "\\midrule",
            *map(_latex_row, self.rows),
            "\\bottomrule",
            "\\end{tabular}",
        ]
        return _written("\n".join(lines) + "\n", path)

    @checked_call
    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the table as shown, in Markdown; write it to a file if `path` is given."""
        rule = ["---:" if column.justify == "right" else "---" for column in self._main.columns]
        rows = [self.headings, rule, *self.rows]
        return _written(
            "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows), path
        )

    def __rich__(self) -> RenderableType:
        return self._whole

    def __str__(self) -> str:
        console = TextConsole()
        console.width = min(_WIDEST, shutil.get_terminal_size((_WIDEST, 0)).columns)
        with console.capture() as captured:
            console.print(self._whole)
        return "\n".join(line.rstrip() for line in captured.get().splitlines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        console = Console(
            record=True,
            file=io.StringIO(),
            width=_WIDEST,
            force_jupyter=False,
            force_terminal=True,
            legacy_windows=False,
        )
        console.print(self._whole)
        return console.export_html(inline_styles=True, code_format=_HTML)


def _plain(cell: object) -> str:
    text = cell.plain if isinstance(cell, Text) else str(cell)
    return " ".join(text.replace("/\n", "/").split())


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join("".join(_LATEX.get(character, character) for character in cell) for cell in cells) + r" \\"


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{os.fspath(path)}: {error.strerror}") from error
    return text
