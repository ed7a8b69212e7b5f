# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A node of Mininet's whose shell is that of a container: commands reach it through Docker's engine."""

from __future__ import annotations

import select
import socket
from typing import Any

from testbed.errors import RunError, UsageError
from testbed.live.containers.container import PROMPT, HostContainer


class ContainerTerminal:
    """Stands before a node class of Mininet's among the bases; the node's parameter `container` is its container.

    RunError, in the container's own words, where the shell has gone.
    """

    name: str
    params: dict[str, Any]
    shell: HostContainer | None
    stdin: socket.socket
    readbuf: str
    inToNode: dict[int, Any]
    outToNode: dict[int, Any]

    def startShell(self, mnopts: str | None = None) -> None:
        """Waits for the prompt of a container that has been started."""
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
        """What the shell has said, at least something."""
        try:
            if not self.readbuf and not self.stdin.recv(1, socket.MSG_PEEK):
                raise self._end()
        except ConnectionError as error:
            raise self._end() from error
        said: str = super().read(size)  # type: ignore[misc]
        return said

    def write(self, data: str) -> None:
        """Types into the shell."""
        try:
            super().write(data)  # type: ignore[misc]
        except OSError as error:
            raise self._end() from error

    def popen(self, *words: Any, **options: Any) -> Any:
        """Mininet would start a process of the machine's, with its rights."""
        raise UsageError(f"{self.name} is a container: `cmd` starts programs in it, `popen` cannot")

    def terminate(self) -> None:
        """Ends and removes the container."""
        self.cleanup()

    def cleanup(self) -> None:
        """The same, of a shell that did not start as well."""
        if self.shell is not None:
            self.shell.remove()
        self.shell = None

    def _end(self) -> RunError:
        self.waiting = False  # for an answer that does not come any more
        assert self.shell is not None
        self.shell.wait()
        return RunError(self.shell.obituary())
