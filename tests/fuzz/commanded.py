# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the command in this process in a new folder, and checks its output, exit code and files.

The command is stopped where a run, its page, a sweep, a reproduction, a validation or a network would start; all code
before that runs, including the checks of the output folder. For `clean`, which ends processes, and `doctor`, which
tests the machine, only the arguments are parsed. The machine's capabilities for live runs are not checked, so that all
machines behave the same.
"""

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

from sfc_testbed.cli.app import main
from sfc_testbed.cli.output import LONGEST_LINE

STATUSES = {0, 2, 3, 4, 130}
REFUSED = 2
_LONGEST_REFUSAL = LONGEST_LINE + 20
_WARNING = "! "
"""Prefix of a message about a skipped file. There is one message per file, so there may be several."""
_STARTS = (
    "sfc_testbed.api.retrying.execute_plan",
    "sfc_testbed.api.sweeping.run_sweep",
    "sfc_testbed.cli.verbs.reproduce.reproduce",
    "sfc_testbed.cli.verbs.validate.validate",
    "sfc_testbed.cli.verbs.clean.clean",
    "sfc_testbed.testbed.watch.watch.watching",
)


def type_words(words: Sequence[str], prepare: Callable[[Path], object]) -> None:
    """Run the command in a new folder filled by `prepare`, and check its exit code, output and files."""
    unexpected: list[BaseException] = []
    with tempfile.TemporaryDirectory() as name, _inside(Path(name)) as folder:
        prepare(folder)
        before = _listing(folder)
        out, errors = _Screen(), _Screen()
        with _stopped(unexpected), contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = main(list(words))
        for error in unexpected:
            raise error
        if words:  # without a word the help is printed
            _check(status, out.getvalue(), errors.getvalue())
        changes = _listing(folder) ^ before
        assert status != REFUSED or not changes, f"refused, but something was changed: {sorted(changes)!a}"


def _listing(folder: Path) -> set[tuple[str, int, int]]:
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
    assert status in STATUSES, f"undocumented exit code {status}: {errors!a}"
    lines = errors.split("\n")[:-1]
    refusals = [line for line in lines if not line.startswith(_WARNING)]
    assert status == 0 or len(refusals) <= 1, f"more than one line on stderr: {errors!a}"
    assert all(line.isprintable() for line in lines), f"unprintable characters on stderr: {errors!a}"
    assert all(len(line) <= _LONGEST_REFUSAL for line in refusals), f"a line too long to read: {errors!a}"
    assert status != REFUSED or lines or out, "refused without a message"
    assert out.replace("\n", "").isprintable(), f"unprintable characters on stdout: {out!a}"


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
    prompt = ModuleType("sfc_testbed.testbed.prompt.start")
    prompt.open_prompt = _stop  # type: ignore[attr-defined]
    parent = ModuleType("sfc_testbed.testbed.prompt")
    with contextlib.ExitStack() as stack:
        for name in _STARTS:
            stack.enter_context(mock.patch(name, _stop))
        stack.enter_context(
            mock.patch("sfc_testbed.cli.failure.save_traceback", lambda error, words: unexpected.append(error))
        )
        stack.enter_context(mock.patch("sfc_testbed.testbed.targets.capabilities.CAPABILITIES", ()))
        stack.enter_context(mock.patch("sfc_testbed.cli.verbs.doctor.CAPABILITIES", ()))
        stack.enter_context(mock.patch.dict(sys.modules, {parent.__name__: parent, prompt.__name__: prompt}))
        yield


def _stop(*words: Any, **options: Any) -> NoReturn:
    raise typer.Exit(0)
