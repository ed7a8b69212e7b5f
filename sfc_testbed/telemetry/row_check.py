# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The check of rows that are recorded one by one. The module is compiled, since every signal is a row."""

import sys
from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

_FLOAT: Final = 0
_TEXT: Final = 1
_BOOL: Final = 2
_INTEGER: Final = 3
_KINDS: Final = {"Float64": _FLOAT, "String": _TEXT, "Boolean": _BOOL}
_MOST: Final = sys.float_info.max


class RowCheck:
    """A check whether each value of a row has its column's usual type and fits.

    A row for which it returns False may still fit, for instance with integers in a float column.
    """

    __slots__ = ("_highest", "_kinds", "_lowest", "_nullable")

    def __init__(self, kinds: Sequence[str], nullable: Sequence[bool], ranges: Sequence[tuple[int, int]]) -> None:
        """Take the names of the columns' data types, whether they can be null, and the ranges of integer columns."""
        self._kinds: list[int] = [_KINDS.get(kind, _INTEGER) for kind in kinds]
        self._nullable: list[bool] = list(nullable)
        self._lowest: list[int] = [lowest for lowest, _ in ranges]
        self._highest: list[int] = [highest for _, highest in ranges]

    def is_usual(self, row: tuple[object, ...]) -> bool:
        """Whether a row passes the check."""
        columns = i64(len(self._kinds))
        if len(row) != columns:
            return False
        for place in range(columns):  # noqa: SIM110  a generator takes three times as long
            if not self._fits(row[place], place):
                return False
        return True

    def _fits(self, value: object, place: i64) -> bool:
        kind: i64 = self._kinds[place]
        if value is None:
            return self._nullable[place]
        if isinstance(value, float):
            return kind == _FLOAT and -_MOST <= value <= _MOST
        if isinstance(value, bool):
            return kind == _BOOL
        if isinstance(value, int):
            return kind == _INTEGER and self._lowest[place] <= value <= self._highest[place]
        return kind == _TEXT and isinstance(value, str)
