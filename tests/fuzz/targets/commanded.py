# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The command in this process, in a folder of its own, and what must hold whatever is typed or lies there.

It stops where a run, a sweep, a reproduction, a validation or a network would start: everything before that is the
product's own, all checks of the output's place among it. `clean` ends processes and `doctor` asks the whole machine, so
of these two only the words are read; whether the machine can do live runs is not asked either, so that all machines try
the same.
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
"""Begins a line about a file that was passed over: one each, so there may be several."""
_STARTS = (
    "command.retrying.execute_plan",
    "command.verbs.sweep.run_sweep",
    "command.verbs.reproduce.reproduce",
    "command.verbs.validate.validate",
    "command.verbs.clean.clean",
)


def type_words(words: Sequence[str], prepare: Callable[[Path], None]) -> int:
    """Types words in a new folder with what `prepare` puts there; the exit code. Raises Finding."""
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
    """Everything below a folder: name, kind and size."""
    found = set()
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            status = path.lstat()
            size = status.st_size if stat.S_ISREG(status.st_mode) else 0
            found.add((str(path.relative_to(folder)), stat.S_IFMT(status.st_mode), size))
    return found


def _check(status: int, out: str, errors: str) -> None:
    if status not in STATUSES:
        raise Finding("an exit code that is not documented", f"{status} {errors[:300]}")
    lines = errors.split("\n")[:-1]
    refusals = [line for line in lines if not line.startswith(_TOLD)]
    if status != 0 and len(refusals) > 1:  # what is about to be run may be told at any length
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
    """A stream that, like a real one, holds text that can be encoded and no other."""

    def write(self, text: str) -> int:
        text.encode()
        return super().write(text)


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[Path]:
    back = Path.cwd()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(back)


@contextlib.contextmanager
def _stopped(unexpected: list[BaseException]) -> Iterator[None]:
    """Nothing runs, nothing is ended, and what nobody expected comes here rather than into a file."""
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
