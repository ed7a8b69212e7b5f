# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The command's terminal output, and its exit codes.

All text goes through `TextConsole`, so that no caller has to know who wrote the text.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from os_helpers.visible import visible
from sfc_testbed.place import command_name

if TYPE_CHECKING:
    from sfc_testbed.api.console import TextConsole

    console: TextConsole
    errors: TextConsole

EXIT_DONE = 0
EXIT_UNEXPECTED = 1
EXIT_BAD_INPUT = 2
EXIT_INVALID = 3
EXIT_CLAIM = 4
EXIT_UNFINISHED = 5
EXIT_INTERRUPTED = 130

EXIT_CODES: Mapping[int, str] = {
    EXIT_DONE: "done",
    EXIT_UNEXPECTED: "unexpected error: a message of one line names the file with the traceback",
    EXIT_BAD_INPUT: "bad input: a message of one line; nothing was started or written",
    EXIT_INVALID: "do not trust the result: an invalid verdict, a failed run or --exec line, or damaged files",
    EXIT_CLAIM: "--strict: a claim does not hold, or a result is out of tolerance; check: a class fails a test",
    EXIT_UNFINISHED: "work unfinished: flows did not complete within the run's time (run, compare, sweep, report)",
    EXIT_INTERRUPTED: "interrupted by Ctrl-C or SIGTERM: a message of one line says what was kept",
}
"""Exit codes and their meaning. README.md and `--help` show this table.

If several apply, the first of 130, 3, 5 and 4 is used: a run that cannot be trusted says nothing about its flows, and a
claim about unfinished work is no news.
"""

_ESCAPES = "backslashreplace"

LONGEST_LINE = 500
"""Longest error message, in characters, so that a file with one long line does not fill the screen."""


def allow_any_encoding() -> None:
    """Let the standard streams accept every character in any encoding.

    A character that the encoding of the output lacks, such as µ in ASCII, is printed as an escape.
    """
    for stream, handler in ((sys.stdin, "surrogateescape"), (sys.stdout, _ESCAPES), (sys.stderr, _ESCAPES)):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=handler)


_CONSOLES = {"console": False, "errors": True}


def __getattr__(name: str) -> TextConsole:
    """Return the console of stdout or stderr, made at first use: rich loads slowly, and JSON does without it."""
    if name not in _CONSOLES:
        raise AttributeError(name)
    from sfc_testbed.api.console import TextConsole

    globals()[name] = made = TextConsole(stderr=_CONSOLES[name])
    return made


def say(text: str) -> None:
    """Print one line on stdout; a line end within the text becomes an escape."""
    _print("console", text)


def say_page(page: Path | None, *, is_watched: bool) -> None:
    """Print where the page of a run or comparison is, and after `--watch` the command that plays it again."""
    if page is not None:
        say(f"report: {page}")
        if is_watched:
            say(f"replay: {command_name()} watch {page.parent}")


def complain(text: str, style: str = "") -> None:
    """Print one line on stderr; a line end within the text becomes an escape."""
    _print("errors", text, style)


def _print(name: str, text: str, style: str = "") -> None:
    stream = sys.stderr if _CONSOLES[name] else sys.stdout
    if stream is not None and stream.isatty():
        getattr(sys.modules[__name__], name).print(visible(text), style=style, soft_wrap=True)
    elif stream is not None:
        print(visible(text), file=stream, flush=True)  # the same without rich


def warn(text: str) -> None:
    """Print one line on stderr about something that the user should know before using the results."""
    complain(f"! {text}", "yellow")


def with_fields(text: str, **more: Any) -> str:
    """Return a JSON document with additional last fields, such as the folder of its run."""
    return json.dumps({**json.loads(text), **more}, indent=2, ensure_ascii=False) + "\n"


def say_json(text: str) -> None:
    """Print a JSON document on stdout.

    Characters that are invisible, or that the terminal's encoding lacks, become JSON escapes: the content is the same.
    """
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write("".join(char if _is_plain(char, encoding) else _json_escape(char) for char in text))


def _is_plain(character: str, encoding: str) -> bool:
    if character == "\n" or " " <= character <= "~":
        return True
    return character.isprintable() and character.encode(encoding, "ignore") != b""


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place : place + 2].hex()}" for place in range(0, len(units), 2))
