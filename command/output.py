# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Where the command speaks, and its exit codes."""

from __future__ import annotations

from rich.console import Console

EXIT_UNEXPECTED = 1
EXIT_BAD_INPUT = 2
EXIT_INVALID = 3
EXIT_CLAIM = 4
EXIT_INTERRUPTED = 130

LONGEST_LINE = 500
"""Characters of a refusal, so that a file of one long line does not fill the screen."""

console = Console()
errors = Console(stderr=True)


def say(text: str) -> None:
    """A line as it is: names of folders are no markup, and what a terminal would obey is spelled out."""
    console.print(as_line(text), markup=False, highlight=False, soft_wrap=True)


def as_line(text: str) -> str:
    """Everything that cannot be seen, line ends among it, as its escape."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
