# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The connection from the runner to the process of the page's server: JSON lines and open files, in one direction.

The runner never waits for the server while the network runs: what the socket does not take stays in memory up to a
limit, beyond which records are left out and counted. The server gets open files instead of paths, so it needs no rights
on the run's folder.
"""

from __future__ import annotations

import json
import os
import socket
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_UNSENT_BYTES = 32_000_000
MOST_FILES = 200
"""Open files in one message; the kernel allows 253."""
_READ_BYTES = 1 << 18


@dataclass
class _Unsent:
    line: bytes
    files: Sequence[int]


class Sender:
    """The runner's end."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._unsent: deque[_Unsent] = deque()
        self._unsent_bytes = 0
        self.lost = 0
        """The number of optional messages that were left out, because the server does not keep up."""

    def send(self, message: Mapping[str, Any], files: Sequence[int] = (), *, is_optional: bool = False) -> None:
        """Send a message and close the files, now or when the socket takes them. An optional message may be lost."""
        if is_optional and self._unsent_bytes > MOST_UNSENT_BYTES:
            self.lost += 1
            return
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        self._unsent.append(_Unsent(line, files))
        self._unsent_bytes += len(line)
        self.flush()

    def flush(self) -> None:
        """Send as much as the socket takes. A server that has ended takes everything and ignores it."""
        while self._unsent:
            first = self._unsent[0]
            try:
                sent = socket.send_fds(self._socket, [first.line], first.files)
            except (BlockingIOError, InterruptedError, TimeoutError):
                return
            except OSError:
                sent = len(first.line)
            for descriptor in first.files:
                os.close(descriptor)
            first.files = ()
            first.line = first.line[sent:]
            self._unsent_bytes -= sent
            if not first.line:
                self._unsent.popleft()

    def finish(self, seconds: float) -> None:
        """Send the rest within a time limit and close the connection, which ends the server."""
        self._socket.settimeout(seconds)
        self.flush()
        for unsent in self._unsent:
            for descriptor in unsent.files:
                os.close(descriptor)
        self._socket.close()


class Receiver:
    """The server's end. `fileno` is readable when messages have arrived."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._partial = b""
        self._files: deque[int] = deque()
        self.is_closed = False
        """Whether the runner has closed the connection, or has ended."""

    def fileno(self) -> int:
        return self._socket.fileno()

    def messages(self) -> list[dict[str, Any]]:
        """Return the messages that have arrived; wait if there is nothing."""
        content, files, _, _ = socket.recv_fds(self._socket, _READ_BYTES, MOST_FILES)
        self.is_closed = not content
        self._files += files
        *lines, self._partial = (self._partial + content).split(b"\n")
        return [json.loads(line) for line in lines]

    def files(self, count: int) -> list[int]:
        """Return the open files that a message came with."""
        return [self._files.popleft() for _ in range(count)]
