# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A process that executes one task after the other, because starting Python takes as long as a short run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from testbed.jobs.process import TaskProcess


class ServingProcess(TaskProcess):
    """A process that reads payloads as lines and answers in lines.

    `has_ended` and `end` refer to the task given last.
    """

    def __init__(self, module: str, words: Sequence[str], folder: str) -> None:
        super().__init__(words, None, folder)
        self.module = module

    @property
    def is_free(self) -> bool:
        """Whether the process can take another task."""
        return not self.was_stopped and self._process.poll() is None

    def give(self, payload: str) -> None:
        """Send the next task. If the process has ended and does not read it, the task ends with the process."""
        assert self._process.stdin is not None
        self._answer = b""
        with suppress(BrokenPipeError):
            self._process.stdin.write(payload.encode() + b"\n")
            self._process.stdin.flush()

    def has_ended(self) -> bool:
        """Read the available output and return whether the task has answered or the process has ended."""
        return super().has_ended() or self._answer.endswith(b"\n")

    def stop(self, *, is_urgent: bool = False) -> None:
        super().stop(is_urgent=is_urgent)
        self._give_no_more()

    def end(self) -> tuple[int, str, str, bool]:
        """Return the values of `TaskProcess.end` for the current task. A free process continues to run."""
        if self.is_free:
            return os.EX_OK, self._answer.decode(errors="replace"), "", False
        self._give_no_more()
        return super().end()

    def kill(self) -> None:
        self.was_stopped = True
        super().kill()

    def dismiss(self) -> None:
        """End the process after its last task."""
        self._give_no_more()
        super().end()

    def _give_no_more(self) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
