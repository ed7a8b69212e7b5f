# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tables of generated documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table as text, with a newline at the end."""
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"
