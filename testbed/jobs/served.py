# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A process that does one task after the other, since an interpreter with its libraries takes as long to start as a
short run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from testbed.jobs.process import TaskProcess


class ServingProcess(TaskProcess):
    """Payloads go to it as lines, answers come as lines. What a task's process may leave behind, this may too.

    `has_ended` and `end` are about the task that it was given last.
    """

    def __init__(self, module: str, words: Sequence[str], folder: str) -> None:
        super().__init__(words, None, folder)
        self.module = module

    @property
    def is_free(self) -> bool:
        """Whether it can be given another one."""
        return not self.was_stopped and self._process.poll() is None

    def give(self, payload: str) -> None:
        """The next task; one that is not read any more ends with the process."""
        assert self._process.stdin is not None
        self._answer = b""
        with suppress(BrokenPipeError):
            self._process.stdin.write(payload.encode() + b"\n")
            self._process.stdin.flush()

    def has_ended(self) -> bool:
        """Reads what it has said so far; whether that was an answer, or its last."""
        return super().has_ended() or self._answer.endswith(b"\n")

    def stop(self, *, is_urgent: bool = False) -> None:
        super().stop(is_urgent=is_urgent)
        self._give_no_more()

    def end(self) -> tuple[int, str, str, bool]:
        """As of a task's own process; this one goes on unless it was stopped or has ended."""
        if self.is_free:
            return os.EX_OK, self._answer.decode(errors="replace"), "", False
        self._give_no_more()
        return super().end()

    def kill(self) -> None:
        self.was_stopped = True
        super().kill()

    def dismiss(self) -> None:
        """It has done what it was given, and ends."""
        self._give_no_more()
        super().end()

    def _give_no_more(self) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
