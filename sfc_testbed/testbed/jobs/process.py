# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A task in a separate process. Starting Python takes as long as a short run, so a process can serve several tasks.

This module is also pickled by value for Dask workers, which cannot import it (`testbed.jobs.cluster`).
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence

from os_helpers.child import Child

PARENT_VARIABLE = "SFC_TESTBED_PARENT"
"""The environment variable with the PID of a task's starter.

A task compares it with its parent, in case the starter ended before the task asked the kernel for a death signal.
"""
PATIENCE_S = 60.0
"""Time for a run to save its measurements after SIGTERM. Then it is killed."""
SHARE = "share "
"""The beginning of a line with the share of the task that is done, from 0 to 1. All other lines are answers."""
_POLL_S = 0.2


class TaskProcess(Child):
    """A process that reads a payload on stdin and answers on stdout, after lines with the `share` that is done.

    Without a payload, the process serves tasks: `give` sends the payload of each as a line, and each answer is a line.
    """

    def __init__(self, words: Sequence[str], payload: str | None, folder: str) -> None:
        self.words = words
        self.was_stopped = False
        self._was_hurried = False
        self._serves = payload is None
        self._answers: list[str] = []
        self.share = 0.0
        with tempfile.TemporaryFile() as payload_file:  # a pipe could fill before the process reads it
            payload_file.write((payload or "").encode())
            payload_file.seek(0)
            super().__init__(
                "a task",
                words,
                folder=folder,
                variables={PARENT_VARIABLE: str(os.getpid())},
                stdin=subprocess.PIPE if self._serves else payload_file,
            )

    @property
    def is_free(self) -> bool:
        """Whether the process can take another task."""
        return self._serves and not self.was_stopped and self.status is None

    def give(self, payload: str) -> None:
        """Send the next task. If the process has ended and does not read it, the task ends with the process."""
        self._answers, self.share = [], 0.0
        self.tell(payload)

    def is_done(self) -> bool:
        """Read the available output and return whether the task has answered or the process has ended."""
        self._read()
        return self.has_ended or (self._serves and bool(self._answers))

    def request_stop(self, *, is_urgent: bool = False) -> None:
        """Ask the process to end, and once more if it has become urgent. It then keeps nothing and only cleans up."""
        if not self.was_stopped:
            self.was_stopped = True
            self.ask_to_end(PATIENCE_S)
        elif is_urgent and not self._was_hurried:
            self._was_hurried = True
            self.send_signal(signal.SIGTERM)
        self._close_stdin()

    def end(self) -> tuple[int, str, str, bool]:
        """Return exit status, answer, stderr text, and whether the process was asked to end.

        Wait for the end of the process, unless it can take another task.
        """
        if self.is_free:
            return os.EX_OK, "\n".join(self._answers), "", False
        return self.dismiss()

    def dismiss(self) -> tuple[int, str, str, bool]:
        """Wait for the process, which ends after its last task. Return the values of `end`."""
        self._close_stdin()
        status = self._process.wait()
        self._read()
        errors = self.errors()
        self._close()
        return status, "\n".join(self._answers), errors, self.was_stopped

    def kill(self) -> None:
        self.was_stopped = True
        super().kill()

    def _read(self) -> None:
        for line in self.lines():
            if line.startswith(SHARE):
                self.share = float(line.removeprefix(SHARE))
            else:
                self._answers.append(line)


def run_watched(
    words: Sequence[str], payload: str, folder: str, is_wanted: Callable[[], bool]
) -> tuple[int, str, str, bool]:
    """Run a task until it ends or is no longer wanted. Return the values of `TaskProcess.end`."""
    if not is_wanted():
        return -signal.SIGTERM, "", "", True
    process = TaskProcess(words, payload, folder)
    try:
        while not process.is_done():
            if not is_wanted():
                process.request_stop()
            time.sleep(_POLL_S)
    except BaseException:
        process.kill()
        raise
    return process.end()
