# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What is done in a process of its own: a module of this tree, told what to do on stdin, that answers on stdout.

Memory, signals and interpreter state go with the process, and an executor on another machine needs words alone.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Protocol

from hosts.io.parent import die_with_parent
from testbed.interrupt import EXIT_STATUS, Interrupt
from testbed.jobs.process import PARENT_VARIABLE

ROOT = Path(__file__).resolve().parents[2]
SERVE = "--serve"
"""Word for a module: every line on stdin is a payload, and every answer a line on stdout."""


@dataclass(frozen=True)
class Task:
    """`python -m module` with what `payload` gives on stdin, asked when the task begins: each of many may be long."""

    module: str
    payload: Callable[[], str]
    is_served: bool = False
    """Whether a process may do several of them, one after the other: the module knows `SERVE`. They share an
    interpreter, which takes as long to start as a short run, and nothing else that they would tell."""

    @property
    def words(self) -> tuple[str, ...]:
        return sys.executable, "-m", self.module


@dataclass(frozen=True)
class TaskEnd:
    """How a task ended. `was_stopped`: it had been asked to, because of Ctrl-C."""

    status: int
    answer: str
    complaints: str
    was_stopped: bool

    @property
    def last_words(self) -> str:
        """The line that says what failed."""
        if self.status < 0:
            return f"killed by {signal.Signals(-self.status).name}"
        return (self.complaints.strip().splitlines() or [f"ended with {self.status}"])[-1]


Take = Callable[[int, TaskEnd], None]


class Executor(Protocol):
    """Where tasks run."""

    def run(self, tasks: Sequence[Task], take: Take, interrupt: Interrupt, *, one_at_a_time: bool = False) -> None:
        """Runs tasks and hands over each one's number and end. Once interrupted it starts none and stops all.

        `one_at_a_time`: on each machine, because they would take each other's processor time.
        """


def begin_task() -> None:
    """First thing in a task's process: it ends with the one that started it, even if that one was killed.

    Asked to end where it measures nothing, it cleans up and ends without a word.
    """
    signal.signal(signal.SIGTERM, _leave)
    die_with_parent(signal.SIGTERM, int(os.environ.pop(PARENT_VARIABLE, "0")) or None)


def _leave(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(EXIT_STATUS)
