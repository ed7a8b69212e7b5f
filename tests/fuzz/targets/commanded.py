# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the command in this process in a new folder, and checks its output, exit code and files.

The command is stopped where a run, a sweep, a reproduction, a validation or a network would start; all code before that
runs, including the checks of the output folder. For `clean`, which ends processes, and `doctor`, which tests the
machine, only the arguments are parsed. The machine's capabilities for live runs are not checked, so that all machines
behave the same.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn
from unittest import mock

import typer

from command.app import main
from command.output import LONGEST_LINE
from tests.fuzz.target import Finding, kind_of

STATUSES = {0, 2, 3, 4, 130}
REFUSED, UNEXPECTED = 2, 1
_LONGEST_SAID = LONGEST_LINE + 20
_TOLD = "! "
"""Prefix of a message about a skipped file. There is one message per file, so there may be several."""
_STARTS = (
    "command.retrying.execute_plan",
    "command.verbs.sweep.run_sweep",
    "command.verbs.reproduce.reproduce",
    "command.verbs.validate.validate",
    "command.verbs.clean.clean",
)


def type_words(words: Sequence[str], prepare: Callable[[Path], None]) -> int:
    """Run the command in a new folder filled by `prepare`, and return its exit code. Raise Finding if a check fails."""
    unexpected: list[BaseException] = []
    with tempfile.TemporaryDirectory() as name, _inside(Path(name)) as folder:
        prepare(folder)
        before = listing(folder)
        out, errors = _Screen(), _Screen()
        with _stopped(unexpected), contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = main(list(words))
        for error in unexpected:
            raise Finding(f"unexpected {kind_of(error)}", repr(error)[:300]) from error
        if words:  # without a word the help is printed
            _check(status, out.getvalue(), errors.getvalue())
        made = listing(folder) ^ before
        if status == REFUSED and made:
            raise Finding("refused, but something was made", ascii(sorted(made))[:300])
    return status


def listing(folder: Path) -> set[tuple[str, int, int]]:
    """Return the path, kind and size of every file and folder below a folder."""
    entries = set()
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            status = path.lstat()
            size = status.st_size if stat.S_ISREG(status.st_mode) else 0
            entries.add((str(path.relative_to(folder)), stat.S_IFMT(status.st_mode), size))
    return entries


def _check(status: int, out: str, errors: str) -> None:
    if status not in STATUSES:
        raise Finding("an exit code that is not documented", f"{status} {errors[:300]}")
    lines = errors.split("\n")[:-1]
    refusals = [line for line in lines if not line.startswith(_TOLD)]
    if status != 0 and len(refusals) > 1:  # a successful command may print a long preview of its runs
        raise Finding("more than one line on stderr", errors[:1000])
    if not all(line.isprintable() for line in lines):
        raise Finding("something unprintable on stderr", ascii(errors))
    if any(len(line) > _LONGEST_SAID for line in refusals):
        raise Finding("a line too long to read", errors[:_LONGEST_SAID])
    if status == REFUSED and not (lines or out):
        raise Finding("refused without a word", "")
    if not out.replace("\n", "").isprintable():
        raise Finding("something unprintable on stdout", ascii(out)[:1000])


class _Screen(io.StringIO):
    """A stream that, like a real one, raises an error for text that cannot be encoded."""

    def write(self, text: str) -> int:
        text.encode()
        return super().write(text)


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[Path]:
    previous = Path.cwd()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(previous)


@contextlib.contextmanager
def _stopped(unexpected: list[BaseException]) -> Iterator[None]:
    """Stop the command before it runs or ends anything, and collect unexpected errors in the list, not in a file."""
    prompt = ModuleType("testbed.prompt.start")
    prompt.open_prompt = _stop  # type: ignore[attr-defined]
    parent = ModuleType("testbed.prompt")
    with contextlib.ExitStack() as stack:
        for name in _STARTS:
            stack.enter_context(mock.patch(name, _stop))
        stack.enter_context(mock.patch("command.failure.save_traceback", lambda error, words: unexpected.append(error)))
        stack.enter_context(mock.patch("testbed.targets.capabilities.CAPABILITIES", ()))
        stack.enter_context(mock.patch("command.verbs.doctor.CAPABILITIES", ()))
        stack.enter_context(mock.patch.dict(sys.modules, {parent.__name__: parent, prompt.__name__: prompt}))
        yield


def _stop(*words: Any, **options: Any) -> NoReturn:
    raise typer.Exit(0)
