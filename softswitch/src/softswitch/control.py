# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Control of a running switch over its Unix socket.

Owns the wire format: one line of request, lines of answer, then `OK` or `ERROR <text>`. It must not know the commands.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path
from typing import Protocol


class CommandError(ValueError):
    """The switch refused a command; the message is one line that names the wrong word."""


class Commands(Protocol):
    """An object that runs control commands: a connection to a switch's process, or a switch in this process."""

    def command(self, line: str) -> str:
        """Run one command and return its output. Raise CommandError if it is refused."""


class ControlClient:
    """A connection to a switch: to the path of its control socket, or over a socket that is connected already."""

    def __init__(self, switch: Path | str | socket.socket, *, timeout_s: float = 10.0) -> None:
        self._socket = switch if isinstance(switch, socket.socket) else socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout_s)
        try:
            if not isinstance(switch, socket.socket):
                self._socket.connect(str(switch))
        except OSError:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rwb")

    def command(self, line: str) -> str:
        """Run one command and return its output. Raise CommandError if it is refused, ConnectionError if cut off."""
        if "\n" in line:
            raise CommandError("a command is one line")
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        answer: list[str] = []
        for raw in self._file:
            text = raw.decode().rstrip("\n")
            if text == "OK":
                return "\n".join(answer)
            if text.startswith("ERROR "):
                raise CommandError(text.removeprefix("ERROR "))
            answer.append(text)
        raise ConnectionError("the switch closed its control socket")

    def fileno(self) -> int:
        """Return the socket's descriptor; between commands it is readable only once the switch has closed."""
        return self._socket.fileno()

    def close(self) -> None:
        with suppress(OSError):  # flushing a command that a dead switch never read fails
            self._file.close()
        self._socket.close()

    def __enter__(self) -> ControlClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
