# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A console that prints foreign text without its control characters."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from os_helpers.visible import visible


class TextConsole(Console):
    """A console that shows text as text: control characters become escapes, markup and emoji codes stay as typed.

    Line ends stay. A style is the only sequence that a terminal gets, and rich alone makes styles.
    """

    def __init__(self, *, stderr: bool = False, markup: bool = False) -> None:
        """`markup` is for callers that escape foreign text with `rich.markup.escape`."""
        stream = sys.stderr if stderr else sys.stdout
        super().__init__(
            stderr=stderr,
            markup=markup,
            emoji=False,
            highlight=False,
            # FORCE_COLOR, which Jupyter sets for all commands of a notebook, would fill captured output with escapes.
            force_terminal=stream is not None and stream.isatty(),
            force_jupyter=False,
        )

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable, with its control characters escaped."""
        content = _visible_text(renderable) if isinstance(renderable, Text) else renderable  # escapes are wrapped, too
        for segment in super().render(content, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text, keep="\n"))

    def render_str(self, text: str, **options: Any) -> Text:
        """Return the text of a cell or a line."""
        return super().render_str(visible(text, keep="\n"), **options)


def _visible_text(text: Text) -> Text:
    plain = visible(text.plain, keep="\n")
    if plain == text.plain:
        return text
    copied = text.copy()
    copied.plain = plain
    return copied
