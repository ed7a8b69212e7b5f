# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The shell of a Mininet node, with time limits: a shell that cannot start, or has ended, raises an error.

Mininet holds both ends of a node's terminal and waits for a prompt there. A dead shell never writes one.
"""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import suppress
from typing import Any

from sfc_testbed.testbed.errors import RunError

START_SECONDS = 30.0
_POLL_MS = 200
_PROMPT = chr(127)


class WatchedShell:
    """A base class placed before a Mininet node class. Raises RunError where Mininet would wait without a limit."""

    name: str
    shell: Any
    stdout: Any
    _deadline_s: float | None = None
    """The time limit for the first answer of a starting shell; None after the answer."""
    _has_prompted = False

    def startShell(self, mnopts: str | None = None) -> None:
        """Start the shell and wait until it has answered."""
        self._deadline_s = time.monotonic() + START_SECONDS
        try:
            super().startShell(mnopts)  # type: ignore[misc]
        except BaseException:
            self._give_up()
            raise
        self._deadline_s = None

    def read(self, size: int = 1024) -> str:
        """Return output of the shell, waiting for at least one character; the first call waits for the prompt."""
        output = self._read_output(size, "")
        while not self._has_prompted and not output.endswith(_PROMPT):
            output += self._read_output(size, output)
        self._has_prompted = True
        return output

    def waitReadable(self, timeoutms: int | None = None) -> Any:
        """Wait until output can be read."""
        if timeoutms is None:
            self._wait_for_output("")
        return super().waitReadable(timeoutms)  # type: ignore[misc]

    def _read_output(self, size: int, before: str) -> str:
        self._wait_for_output(before)
        output: str = super().read(size)  # type: ignore[misc]
        return output

    def _wait_for_output(self, before: str) -> None:
        output = select.poll()  # Mininet's own poll object also reports that the shell accepts input: always true
        output.register(self.stdout, select.POLLIN)
        while not output.poll(_POLL_MS):
            if self.shell.poll() is not None and not output.poll(0):
                moment = " before it was ready" if self._deadline_s is not None else ""
                raise RunError(f"the shell of {self.name} ended{moment}: {_last_line(before)}")
            if self._deadline_s is not None and time.monotonic() > self._deadline_s:
                raise RunError(f"the shell of {self.name} did not answer within {START_SECONDS:g} s")

    def _give_up(self) -> None:
        if self.shell is not None:
            with suppress(ProcessLookupError):  # the shell may have no process group yet, or may have ended
                os.killpg(self.shell.pid, signal.SIGKILL)
            self.shell.kill()
            self.cleanup()  # type: ignore[attr-defined]


def _last_line(output: str) -> str:
    lines = output.strip().splitlines()
    return lines[-1] if lines else "no output"
