# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A Mininet node whose shell runs in a container: its commands go through Docker's engine."""

from __future__ import annotations

import select
import socket
from typing import Any

from sfc_testbed.testbed.errors import RunError, UsageError
from sfc_testbed.testbed.live.container import PROMPT, HostContainer


class ContainerTerminal:
    """A base class placed before a Mininet node class; the node's parameter `container` is its container.

    Raises RunError with the container's obituary if the shell has ended.
    """

    name: str
    params: dict[str, Any]
    shell: HostContainer | None
    stdin: socket.socket
    readbuf: str
    inToNode: dict[int, Any]
    outToNode: dict[int, Any]

    def startShell(self, mnopts: str | None = None) -> None:
        """Wait for the prompt of a container that has been started."""
        container: HostContainer = self.params["container"]
        self.shell = container
        self.pid = container.pid
        self.stdin = self.stdout = container.terminal
        self.pollOut = select.poll()
        self.pollOut.register(self.stdout)
        self.inToNode[self.stdin.fileno()] = self.outToNode[self.stdout.fileno()] = self
        self.execed, self.lastCmd, self.lastPid, self.readbuf = False, None, None, ""
        while not self.read().endswith(PROMPT):
            pass
        self.waiting = False

    def read(self, size: int = 1024) -> str:
        """Return output of the shell, waiting for at least one character."""
        try:
            if not self.readbuf and not self.stdin.recv(1, socket.MSG_PEEK):
                raise self._end()
        except ConnectionError as error:
            raise self._end() from error
        output: str = super().read(size)  # type: ignore[misc]
        return output

    def write(self, data: str) -> None:
        """Send input to the shell."""
        try:
            super().write(data)  # type: ignore[misc]
        except OSError as error:
            raise self._end() from error

    def popen(self, *words: Any, **options: Any) -> Any:
        """Refuse: Mininet would start a process outside the container, with root's rights."""
        raise UsageError(f"{self.name} is a container: `cmd` starts applications in it, `popen` cannot")

    def terminate(self) -> None:
        """Kill and remove the container."""
        self.cleanup()

    def cleanup(self) -> None:
        """Remove the container, also if its shell did not start."""
        if self.shell is not None:
            self.shell.remove()
        self.shell = None

    def _end(self) -> RunError:
        self.waiting = False  # no answer will come
        assert self.shell is not None
        self.shell.wait()
        return RunError(self.shell.obituary())
