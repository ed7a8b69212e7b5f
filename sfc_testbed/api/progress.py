# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Progress on a terminal: the stage of a run, the share that is done, and the time that is left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.status import Status

from os_helpers.visible import visible
from sfc_testbed.testbed.jobs.time_left import in_words
from sfc_testbed.testbed.recording.outcome import Progress as Observer
from sfc_testbed.testbed.recording.outcome import Silent, Stage

if TYPE_CHECKING:
    from sfc_testbed.api.reporter import Update
    from sfc_testbed.testbed.jobs.job import JobsState, Tell  # loads slowly, and a single run has no jobs

_ENDING = "interrupted: results are saved as soon as the queues are empty; press Ctrl-C again to end without them"


@contextmanager
def status(text: str, console: Console) -> Iterator[Status]:
    """Show a line that the caller may update. Ctrl-C while the line appears also restores the terminal."""
    line = console.status(text)
    try:
        line.start()
        yield line
    finally:
        line.stop()


class _Line(Progress):
    """A progress line. Ctrl-C while the line appears also restores the terminal."""

    def start(self) -> None:
        try:
            super().start()
        except BaseException:
            self.stop()
            raise


class RunProgress(_Line):
    """A progress line for a run, removed when the run is over."""

    def __init__(self, title: str, console: Console) -> None:
        super().__init__(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[count]}", markup=False),
            TextColumn("{task.fields[state]}", markup=False),
            TextColumn("{task.fields[buffer]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,  # it would leave an empty line
        )
        self._run = self.add_task(visible(title), total=None, count="", state="starting", buffer="")
        self._is_ending_announced = False

    def stage(self, stage: Stage) -> None:
        self.update(self._run, count="", state=stage, refresh=True)  # a short stage is shown, too

    def share_done(self, share: float) -> None:
        self.update(self._run, completed=share, total=1, count=f"{100 * share:.0f} %", state="done")

    def hosts_up(self, count: int, total: int) -> None:
        self.update(self._run, count=f"{count}/{total} hosts", state="up")

    def flows_done(self, count: int, total: int) -> None:
        self.update(self._run, completed=count, total=total, count=f"{count}/{total} flows", state="done")

    def hottest_buffer(self, switch: str, used_bytes: int) -> None:
        self.update(self._run, buffer=f"{switch} holds {used_bytes / 1e6:.2f} MB")

    def draining(self, is_interrupted: bool) -> None:
        self.update(self._run, state="done, ending")
        if is_interrupted and not self._is_ending_announced and self.console.is_terminal:
            self._is_ending_announced = True
            self.console.print(_ENDING, soft_wrap=True)


class JobProgress(_Line):
    """A progress line for many runs, with the share of their expected work that is done."""

    def __init__(self, console: Console) -> None:
        super().__init__(
            BarColumn(bar_width=30),
            TextColumn("{task.fields[state]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,  # it would leave an empty line
        )
        self._jobs = self.add_task("", total=None, state="starting")

    def tell(self, state: JobsState) -> None:
        """Show the state; without a terminal, print a line for each run that ends."""
        count = f"{state.done}/{state.total}"
        left = "" if state.left_s is None else f", about {in_words(state.left_s)} left"
        if state.ended is not None:
            self.update(self._jobs, description=visible(state.ended))
            if not self.console.is_terminal:
                self.console.print(visible(f"{count} {state.ended}{left}"), soft_wrap=True)
        share = state.done / state.total if state.left_s is None else state.share
        doing = state.after or f"{100 * share:.0f} % done{left}"
        self.update(self._jobs, completed=share, total=1, state=f"{count} runs, {doing}")


class TerminalReporter:
    """A reporter on the terminal. Lines of text and the progress of planning go to stderr, as messages do."""

    def __init__(self, errors: Console, runs: Console | None = None) -> None:
        """`runs` is the console for the progress of runs; None shows no progress of runs."""
        self._errors = errors
        self._runs = runs

    def note(self, line: str, style: str = "") -> None:
        """Print a line."""
        self._errors.print(visible(line), style=style, soft_wrap=True)

    @contextmanager
    def status(self, text: str) -> Iterator[Update]:
        """Show a line during the body, which may change the line."""
        with status(text, self._errors) as line:
            yield line.update

    @contextmanager
    def run(self, title: str) -> Iterator[Observer]:
        """Show the progress of a run during the body."""
        if self._runs is None:
            yield Silent()
            return
        with RunProgress(title, self._runs) as progress:
            yield progress

    @contextmanager
    def jobs(self) -> Iterator[Tell]:
        """Show the progress of many runs during the body."""
        with JobProgress(self._errors) as progress:
            yield progress.tell
