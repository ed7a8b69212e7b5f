# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A task in a separate process: start, supervision and end. Uses the standard library only.

This module is also pickled by value for Dask workers, which cannot import it (`testbed.jobs.cluster`).
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence

PARENT_VARIABLE = "SFC_TESTBED_PARENT"
"""The environment variable with the PID of a task's starter.

A task compares it with its parent, in case the starter ended before the task asked the kernel for a death signal.
"""
PATIENCE_S = 60.0
"""Time for a run to save its measurements after SIGTERM. Then it is killed."""
_POLL_S = 0.2


class TaskProcess:
    """A process that reads `payload` on stdin and answers on stdout. Ctrl-C in the terminal does not reach it."""

    def __init__(self, words: Sequence[str], payload: str | None, folder: str) -> None:
        """Start the process. Without a payload, stdin is a pipe."""
        self.was_stopped = False
        self._was_hurried = False
        self._kill_at = 0.0
        self._answer = b""
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process; a pipe could fill)
        with tempfile.TemporaryFile() as words_in:
            words_in.write((payload or "").encode())
            words_in.seek(0)
            self._process = subprocess.Popen(
                list(words),
                cwd=folder,
                env={**os.environ, PARENT_VARIABLE: str(os.getpid())},
                stdin=subprocess.PIPE if payload is None else words_in,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                start_new_session=True,
            )
        os.set_blocking(self.fileno(), False)

    def fileno(self) -> int:
        """Return the descriptor of the answer, which becomes readable when the task has answered or ended."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def has_ended(self) -> bool:
        """Read the available output and return whether the process has ended.

        Kill it if it was stopped too long ago.
        """
        assert self._process.stdout is not None
        while chunk := self._process.stdout.read(1 << 16):
            self._answer += chunk
        if self.was_stopped and time.monotonic() > self._kill_at:
            self._process.kill()
        return self._process.poll() is not None

    def stop(self, *, is_urgent: bool = False) -> None:
        """Ask the process to end, and once more if it has become urgent. It then keeps nothing and only cleans up."""
        if not self.was_stopped:
            self.was_stopped = True
            self._kill_at = time.monotonic() + PATIENCE_S
            self._process.send_signal(signal.SIGTERM)
        elif is_urgent and not self._was_hurried:
            self._was_hurried = True
            self._process.send_signal(signal.SIGTERM)

    def end(self) -> tuple[int, str, str, bool]:
        """Wait for the process. Return exit status, answer, stderr text, and whether it was asked to end."""
        status = self._process.wait()
        self.has_ended()
        assert self._process.stdout is not None
        self._process.stdout.close()
        with self._complaints as complaints:
            complaints.seek(0)
            errors = complaints.read().decode(errors="replace")
        return status, self._answer.decode(errors="replace"), errors, self.was_stopped

    def kill(self) -> None:
        """Kill the process at once."""
        self._process.kill()


def run_watched(
    words: Sequence[str], payload: str, folder: str, is_wanted: Callable[[], bool]
) -> tuple[int, str, str, bool]:
    """Run a task until it ends or is no longer wanted. Return the values of `TaskProcess.end`."""
    if not is_wanted():
        return -signal.SIGTERM, "", "", True
    process = TaskProcess(words, payload, folder)
    try:
        while not process.has_ended():
            if not is_wanted():
                process.stop()
            time.sleep(_POLL_S)
    except BaseException:
        process.kill()
        raise
    return process.end()
