# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The shell of a Mininet node, never waited for without an end: one that cannot start, or has gone, is an error.

Mininet itself holds both ends of a node's terminal and waits until a prompt appears there, which a dead shell never
writes.
"""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import suppress
from typing import Any

from testbed.errors import RunError

START_SECONDS = 30.0
_POLL_MS = 200
_PROMPT = chr(127)


class WatchedShell:
    """Stands before a node class of Mininet's among the bases. RunError where Mininet would wait for ever."""

    name: str
    shell: Any
    stdout: Any
    _deadline_s: float | None = None
    """Until when a starting shell must have answered; None once it has."""
    _has_prompted = False

    def startShell(self, mnopts: str | None = None) -> None:
        """Starts it and waits until it has answered."""
        self._deadline_s = time.monotonic() + START_SECONDS
        try:
            super().startShell(mnopts)  # type: ignore[misc]
        except BaseException:
            self._give_up()
            raise
        self._deadline_s = None

    def read(self, size: int = 1024) -> str:
        """What the shell has said, at least something; at first up to its prompt."""
        said = self._said(size, "")
        while not self._has_prompted and not said.endswith(_PROMPT):
            said += self._said(size, said)
        self._has_prompted = True
        return said

    def waitReadable(self, timeoutms: int | None = None) -> Any:
        """Waits until there is something to read."""
        if timeoutms is None:
            self._wait_for_words("")
        return super().waitReadable(timeoutms)  # type: ignore[misc]

    def _said(self, size: int, before: str) -> str:
        self._wait_for_words(before)
        words: str = super().read(size)  # type: ignore[misc]
        return words

    def _wait_for_words(self, before: str) -> None:
        words = select.poll()  # Mininet's own is also ready when the shell could be written to, which it always can
        words.register(self.stdout, select.POLLIN)
        while not words.poll(_POLL_MS):
            if self.shell.poll() is not None and not words.poll(0):
                moment = " before it was ready" if self._deadline_s is not None else ""
                raise RunError(f"the shell of {self.name} ended{moment}: {_last_line(before)}")
            if self._deadline_s is not None and time.monotonic() > self._deadline_s:
                raise RunError(f"the shell of {self.name} did not answer within {START_SECONDS:g} s")

    def _give_up(self) -> None:
        if self.shell is not None:
            with suppress(ProcessLookupError):  # it may have no group of its own yet, or be gone
                os.killpg(self.shell.pid, signal.SIGKILL)
            self.shell.kill()
            self.cleanup()  # type: ignore[attr-defined]


def _last_line(said: str) -> str:
    lines = said.strip().splitlines()
    return lines[-1] if lines else "it said nothing"
