# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A curve in text: values as columns of block characters, with a scale and a dotted line at a threshold."""

from __future__ import annotations

from collections.abc import Sequence

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_THRESHOLD = "┄"
_LABEL_COLUMNS = 10


def curve(values: Sequence[int], *, columns: int, rows: int, threshold: int | None = None) -> list[str]:
    """Return the lines of a curve of the latest values, top line first; the newest value is the rightmost column."""
    latest = list(values)[-curve_columns(columns) :]
    top = max([*latest, threshold or 0, 1])
    at_row = None if not threshold else min(rows - 1, threshold * rows // top)
    lines = []
    for row in range(rows - 1, -1, -1):
        cells = [_cell(value * rows * 8 // top - row * 8) for value in latest]
        if row == at_row:
            cells = [_THRESHOLD if cell == " " else cell for cell in cells]
        lines.append(f"{_label(row, rows, top, at_row, threshold):>{_LABEL_COLUMNS - 1}} {''.join(cells)}")
    return lines


def curve_columns(columns: int) -> int:
    """Return how many values fit into a number of text columns beside the scale."""
    return max(1, columns - _LABEL_COLUMNS)


def _cell(eighths: int) -> str:
    return _EIGHTHS[max(0, min(8, eighths))]


def _label(row: int, rows: int, top: int, at_row: int | None, threshold: int | None) -> str:
    if row == rows - 1:
        return kilobytes(top)
    if row == at_row and threshold:
        return kilobytes(threshold)
    return "0" if row == 0 else ""


def kilobytes(size_bytes: int) -> str:
    """Return a size in kilobytes as text, such as `250 KB`."""
    return f"{size_bytes / 1000:.0f} KB"
