# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a narrow terminal shows of a table, against a wide one."""

from __future__ import annotations

from rich.console import Console, RenderableType

_WIDE = 1_000


def lost(shown: RenderableType, width: int) -> list[str]:
    """Words that stand whole on a wide terminal and not on one of this width."""
    narrow = printed(shown, width).split()
    assert "…" not in "".join(narrow)
    return [
        word for word in dict.fromkeys(printed(shown, _WIDE).split()) if not word.startswith("─") and word not in narrow
    ]


def printed(shown: RenderableType, width: int = 80) -> str:
    """Return what a terminal of this width shows."""
    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(shown)
    return capture.get()
