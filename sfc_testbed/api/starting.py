# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The reporter of a call: on the terminal, in a notebook, or without progress."""

from __future__ import annotations

from sfc_testbed.api.caller import is_main_thread
from sfc_testbed.api.console import TextConsole
from sfc_testbed.api.notebook import NotebookReporter, is_notebook
from sfc_testbed.api.progress import TerminalReporter
from sfc_testbed.api.reporter import Reporter, SilentReporter


class _LineReporter(SilentReporter):
    """A reporter that prints lines of text and shows no progress."""

    def note(self, line: str, style: str = "") -> None:
        TerminalReporter(TextConsole(stderr=True)).note(line, style)


def reporter_of(*, quiet: bool) -> Reporter:
    """Return the reporter of a call. Only the main thread shows progress, since a terminal has one line for it."""
    if quiet:
        return SilentReporter()
    if not is_main_thread():
        return _LineReporter()
    if is_notebook():
        return NotebookReporter()
    errors = TextConsole(stderr=True)  # a new one, because the caller may have replaced sys.stderr
    return TerminalReporter(errors, errors) if errors.is_terminal else _LineReporter()
