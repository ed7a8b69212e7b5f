# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Where the command speaks, and its exit codes."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

EXIT_DONE = 0
EXIT_UNEXPECTED = 1
EXIT_BAD_INPUT = 2
EXIT_INVALID = 3
EXIT_CLAIM = 4
EXIT_INTERRUPTED = 130

EXIT_CODES: Mapping[int, str] = {
    EXIT_DONE: "done",
    EXIT_UNEXPECTED: "an error nobody expected: one line, its traceback is in the file it names",
    EXIT_BAD_INPUT: "bad input: one line, nothing was started or written",
    EXIT_INVALID: "not to be trusted: a verdict is invalid, a job or a line of --exec failed, stored files are damaged",
    EXIT_CLAIM: "--strict: a claim does not hold (reproduce, compare), a figure misses its tolerance (validate)",
    EXIT_INTERRUPTED: "interrupted by Ctrl-C or SIGTERM, whatever the verdict: one line says what was kept",
}
"""Where two apply, the higher one is given. README.md and `--help` show this table."""

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
