# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Sends messages to all listeners on a Unix socket, in the protocol of a nanomsg publisher.

Both ends first send an eight-byte header with their role. After that only the publisher sends, and listeners filter the
messages themselves. A listener that does not read its messages loses the newest ones.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from softswitch.sockets import is_free

SCHEME = "ipc://"
MOST_LISTENERS = 16
_PUBLISHER, _LISTENER = (b"\0SP\0" + kind.to_bytes(2, "big") + bytes(2) for kind in (0x20, 0x21))
_MOST_WAITING_BYTES = 1 << 20
_TIMEOUT_S = 10.0


class Publisher:
    """The publishing socket; it exists from `open` to `close`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._server: asyncio.Server | None = None
        self._listeners: set[asyncio.StreamWriter] = set()

    @property
    def address(self) -> str:
        return f"{SCHEME}{self._path}"

    @property
    def has_listeners(self) -> bool:
        return bool(self._listeners)

    async def open(self) -> None:
        """Create the socket. Raise OSError if the path is in use or the socket cannot be created."""
        if not is_free(self._path):
            raise FileExistsError(0, "another process listens there")
        self._server = await asyncio.start_unix_server(self._serve, self._path)

    def close(self) -> None:
        if self._server is None:
            return
        self._server.close()
        self._path.unlink(missing_ok=True)
        for listener in self._listeners:
            listener.close()

    def publish(self, message: bytes) -> None:
        framed = b"\x01" + len(message).to_bytes(8, "big") + message
        for listener in self._listeners:
            if listener.transport.get_write_buffer_size() <= _MOST_WAITING_BYTES:
                listener.write(framed)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(_PUBLISHER)
            if await asyncio.wait_for(reader.readexactly(len(_LISTENER)), _TIMEOUT_S) == _LISTENER:
                await self._keep(reader, writer)
        except (EOFError, OSError, asyncio.TimeoutError):
            pass  # the peer is not a listener, or has disconnected
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _keep(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Keep a listener until it disconnects; bytes that it sends are ignored."""
        if len(self._listeners) == MOST_LISTENERS:
            return
        self._listeners.add(writer)
        try:
            while await reader.read(1 << 12):
                pass
        finally:
            self._listeners.discard(writer)
