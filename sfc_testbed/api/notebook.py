# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Progress in a notebook: one line of the cell's output, which disappears at the end. Nothing here needs a widget."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

from os_helpers.visible import visible
from sfc_testbed.testbed.recording.outcome import Progress, Stage

if TYPE_CHECKING:
    from sfc_testbed.api.reporter import Update
    from sfc_testbed.testbed.jobs.job import JobsState, Tell

_PERIOD_S = 0.2
"""The shortest time between two updates, because each is a message to the browser."""


def is_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class NotebookReporter:
    """A reporter in the output of a cell. Lines of text stay, progress does not."""

    def note(self, line: str, style: str = "") -> None:
        """Print a line."""
        print(visible(line), file=sys.stderr)

    @contextmanager
    def status(self, text: str) -> Iterator[Update]:
        """Show a line during the body, which may change the line."""
        with _shown(text) as line:
            yield line.show

    @contextmanager
    def run(self, title: str) -> Iterator[Progress]:
        """Show the progress of a run during the body."""
        with _shown(f"{title}: starting") as line:
            yield _RunLine(title, line)

    @contextmanager
    def jobs(self) -> Iterator[Tell]:
        """Show the progress of many runs during the body."""
        with _shown("starting") as line:

            def tell(state: JobsState) -> None:
                line.show(f"{state.done} of {state.total} runs, {100 * state.share:.0f} % done", state.share)

            yield tell


class _Line:
    """A line in the output of the cell, with an optional bar."""

    def __init__(self) -> None:
        from IPython.display import HTML, display  # a notebook has it

        self._html = HTML
        self._handle: Any = display(HTML(""), display_id=True)
        self._due_s = 0.0

    def show(self, text: str, share: float | None = None) -> None:
        """Show a text, unless the line has changed just before."""
        if time.monotonic() < self._due_s:
            return
        self._due_s = time.monotonic() + _PERIOD_S
        bar = "" if share is None else f'<progress max="1" value="{share:.3f}"></progress> '
        self._handle.update(self._html(f"{bar}<code>{escape(visible(text))}</code>"))

    def remove(self) -> None:
        self._handle.update(self._html(""))


@contextmanager
def _shown(text: str) -> Iterator[_Line]:
    line = _Line()
    try:
        line.show(text)
        yield line
    finally:
        line.remove()


class _RunLine:
    """The progress of a run as text."""

    def __init__(self, title: str, line: _Line) -> None:
        self._title = title
        self._line = line
        self._buffer = ""

    def stage(self, stage: Stage) -> None:
        self._show(stage)

    def share_done(self, share: float) -> None:
        self._show(f"{100 * share:.0f} % done", share)

    def hosts_up(self, count: int, total: int) -> None:
        self._show(f"{count} of {total} hosts up")

    def flows_done(self, count: int, total: int) -> None:
        self._show(f"{count} of {total} flows done", count / total if total else None)

    def hottest_buffer(self, switch: str, used_bytes: int) -> None:
        self._buffer = f", {switch} holds {used_bytes / 1e6:.2f} MB"

    def draining(self, is_interrupted: bool) -> None:
        self._show("ending: results are saved as soon as the queues are empty" if is_interrupted else "ending")

    def _show(self, text: str, share: float | None = None) -> None:
        self._line.show(f"{self._title}: {text}{self._buffer}", share)
