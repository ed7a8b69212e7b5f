# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Live progress of a run on a terminal: hosts up, flows done, buffer of the fullest switch."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from native.visible import visible

_ENDING = "interrupted: results are saved as soon as the queues are empty; press Ctrl-C again to end without them"


class LiveProgress(Progress):
    """A progress line for a run, removed when the run is over."""

    def __init__(self, title: str, console: Console) -> None:
        super().__init__(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}", markup=False),
            TextColumn("{task.fields[buffer]}", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,  # it would leave an empty line
        )
        self._run = self.add_task(visible(title), total=None, unit="starting", buffer="")
        self._is_ending_announced = False

    def hosts_up(self, count: int, total: int) -> None:
        self.update(self._run, completed=count, total=total, unit="hosts up")

    def flows_done(self, count: int, total: int) -> None:
        self.update(self._run, completed=count, total=total, unit="flows done")

    def hottest_buffer(self, switch: str, used_bytes: int) -> None:
        self.update(self._run, buffer=f"{switch} holds {used_bytes / 1e6:.2f} MB")

    def draining(self, is_interrupted: bool) -> None:
        self.update(self._run, unit="done, ending")
        if is_interrupted and not self._is_ending_announced and self.console.is_terminal:
            self._is_ending_announced = True
            self.console.print(_ENDING, soft_wrap=True)


class JobProgress(Progress):
    """A progress line that counts completed runs."""

    def __init__(self, console: Console, unit: str) -> None:
        super().__init__(
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn(unit, markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,  # it would leave an empty line
        )
        self._jobs = self.add_task("", total=None)

    def tell(self, done: int, total: int, label: str) -> None:
        """Show that `done` of `total` runs are done, the last of them `label`; without a terminal, print a line."""
        if not self.console.is_terminal:
            self.console.print(visible(f"{done}/{total} {label}"), soft_wrap=True)
        self.update(self._jobs, completed=done, total=total, description=visible(label))
