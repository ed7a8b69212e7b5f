# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Rows of integers by queue pair number, for what stays of queue pairs whose messages are done.

A run may have millions of queue pairs and only thousands that are active. Queue pairs are numbered from 1, so a row
needs eight bytes per integer and no Python object.
"""

from array import array

from mypy_extensions import i64

_SPARE_SHARE = 8
"""A table grows by this fraction of its size, so that most new rows need no copy."""


class NumberRows:
    """A table with one row per queue pair number. Numbers that were never set are 0."""

    __slots__ = ("_cells", "_width")

    def __init__(self, width: i64) -> None:
        """Make an empty table of rows with `width` integers, each below 2^63."""
        self._width = width
        self._cells = array("q")

    @property
    def end(self) -> int:
        """The number after the last row."""
        return len(self._cells) // self._width

    def get(self, qpn: i64, column: i64) -> int:
        """Return an integer of a queue pair."""
        place = qpn * self._width + column
        return self._cells[place] if place < len(self._cells) else 0

    def set(self, qpn: i64, column: i64, number: int) -> None:
        """Replace an integer of a queue pair."""
        missing = (qpn + 1) * self._width - len(self._cells)
        if missing > 0:
            spare = len(self._cells) // self._width // _SPARE_SHARE * self._width
            self._cells.frombytes(bytes(8 * (missing + spare)))
        self._cells[qpn * self._width + column] = number
