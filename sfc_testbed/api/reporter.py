# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The interface for reports to the user while something runs: lines of text, and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol

from sfc_testbed.testbed.recording.outcome import Progress, Silent

if TYPE_CHECKING:
    from sfc_testbed.testbed.jobs.job import Tell  # loads slowly, and a single run has no jobs

Update = Callable[[str], None]
"""A callback that changes the text of a status line."""

WARNING = "yellow"
"""The style of lines that the user should know before using the results."""


class Reporter(Protocol):
    """A way to report to the user."""

    def note(self, line: str, style: str = "") -> None:
        """Report a line of text."""

    def status(self, text: str) -> AbstractContextManager[Update]:
        """Show a line during the body of a `with` statement; the body may change the line."""

    def run(self, title: str) -> AbstractContextManager[Progress]:
        """Show the progress of a run during the body."""

    def jobs(self) -> AbstractContextManager[Tell]:
        """Show the progress of many runs during the body."""


class SilentReporter:
    """A reporter that shows nothing."""

    def note(self, line: str, style: str = "") -> None:
        pass

    @contextmanager
    def status(self, text: str) -> Iterator[Update]:
        yield lambda text: None

    @contextmanager
    def run(self, title: str) -> Iterator[Progress]:
        yield Silent()

    @contextmanager
    def jobs(self) -> Iterator[Tell]:
        yield lambda state: None
