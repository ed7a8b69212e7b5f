# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compares a table on a narrow terminal with the same table on a wide one."""

from __future__ import annotations

from rich.console import Console, RenderableType

_WIDE = 1_000


def lost(table: RenderableType, width: int) -> list[str]:
    """Return the words that are complete on a wide terminal but not on a terminal of this width."""
    narrow = printed(table, width).split()
    assert "…" not in "".join(narrow)
    wide = dict.fromkeys(printed(table, _WIDE).split())
    return [word for word in wide if not word.startswith("─") and word not in narrow]


def printed(table: RenderableType, width: int = 80) -> str:
    """Return what a terminal of this width shows."""
    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(table)
    return capture.get()
