# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tasks for separate processes: modules of this tree that read a payload on stdin and answer on stdout.

A process isolates memory, signals and interpreter state. An executor on another machine needs only the command line.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Protocol

from os_helpers.parent import die_with_parent
from sfc_testbed.testbed.interrupt import EXIT_STATUS, Interrupt
from sfc_testbed.testbed.jobs.process import PARENT_VARIABLE

SERVE = "--serve"
"""The option of a task's module for several tasks: every line on stdin is a payload, every line on stdout an answer."""


@dataclass(frozen=True)
class Task:
    """A task: `python -m module` with the result of `payload` on stdin.

    `payload` is called when the task begins, because the payloads of many tasks may take much memory.
    """

    module: str
    payload: Callable[[], str]
    is_served: bool = False
    """Whether one process may execute several of these tasks in sequence. The module has to support `SERVE`."""
    is_resumable: bool = False
    """Whether the task keeps nothing if it is stopped, and may be run again: it is then killed."""
    memory_bytes: int = 0
    """The memory that the task is expected to need. Tasks that do not fit into memory together run in sequence."""

    @property
    def words(self) -> tuple[str, ...]:
        return sys.executable, "-m", self.module


@dataclass(frozen=True)
class TaskEnd:
    """The end of a task. `was_stopped`: the task was asked to end, because of Ctrl-C."""

    status: int
    answer: str
    complaints: str
    was_stopped: bool

    @property
    def last_words(self) -> str:
        """The line that names the cause of a failure."""
        if self.status < 0:
            return f"killed by {signal.Signals(-self.status).name}"
        return (self.complaints.strip().splitlines() or [f"ended with {self.status}"])[-1]


Take = Callable[[int, TaskEnd], None]
Shares = Callable[[Mapping[int, float]], None]
"""A progress callback with the share of each running task that is done, by the number of the task."""


def ignore(shares: Mapping[int, float]) -> None:
    """Ignore the shares of running tasks. This is the default callback."""


class Executor(Protocol):
    """A way to run tasks."""

    @property
    def parallel(self) -> int:
        """The number of tasks that run at the same time."""

    def run(
        self,
        tasks: Sequence[Task],
        take: Take,
        interrupt: Interrupt,
        shares: Shares = ignore,
        *,
        one_at_a_time: bool = False,
    ) -> None:
        """Run tasks and call `take` with the number and the end of each. After an interrupt, stop all and start none.

        `shares` is called now and then, if the shares of running tasks are known. `one_at_a_time`: run one task at a
        time on each machine, because tasks would compete for processor time.
        """


def begin_task() -> None:
    """Tie this process to its starter: it ends when the starter ends, even by SIGKILL. Call this first in a task.

    On SIGTERM outside a run, the process cleans up and ends silently.
    """
    signal.signal(signal.SIGTERM, _leave)
    die_with_parent(signal.SIGTERM, int(os.environ.pop(PARENT_VARIABLE, "0")) or None)


def _leave(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(EXIT_STATUS)
