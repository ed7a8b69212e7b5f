# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Control of a running switch over its Unix socket.

Owns the wire format: one line of request, lines of answer, then `OK` or `ERROR <text>`. It must not know the commands.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

_MOST_WAITING_BYTES = 1 << 14
"""The maximum size of lines that are sent without a wait for their answers. A socket accepts as much without blocking,
so a switch that waits for its answers to be read cannot wait forever."""


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
        self._send([line])
        return self._answer()

    def commands(self, lines: Sequence[str]) -> list[str | CommandError]:
        """Run commands in order, with few waits for the switch; return the output or the refusal of each."""
        if any("\n" in line for line in lines):
            raise CommandError("a command is one line")
        return [result for group in _groups(lines) for result in self._results(group)]

    def _results(self, lines: Sequence[str]) -> list[str | CommandError]:
        self._send(lines)
        results: list[str | CommandError] = []
        for _ in lines:
            try:
                results.append(self._answer())
            except CommandError as error:
                results.append(error)
        return results

    def _send(self, lines: Sequence[str]) -> None:
        self._file.write("".join(f"{line}\n" for line in lines).encode())
        self._file.flush()

    def _answer(self) -> str:
        """Return the answer to the next command. Raise CommandError if it is refused, ConnectionError if cut off."""
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


def results_of(control: Commands, lines: Sequence[str]) -> list[str | CommandError]:
    """Run commands in order and return the output or the refusal of each."""
    if isinstance(control, ControlClient):
        return control.commands(lines)
    results: list[str | CommandError] = []
    for line in lines:
        try:
            results.append(control.command(line))
        except CommandError as error:
            results.append(error)
    return results


def _groups(lines: Sequence[str]) -> Iterator[list[str]]:
    """Divide lines into groups that are sent together."""
    group: list[str] = []
    size = 0
    for line in lines:
        if group and size + len(line) >= _MOST_WAITING_BYTES:
            yield group
            group, size = [], 0
        group.append(line)
        size += len(line) + 1
    if group:
        yield group
