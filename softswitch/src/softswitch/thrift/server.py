# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Serves clients: reads whole calls and writes answers. A client cannot block the others.

Owns sockets and time limits. An idle client stays connected, such as an open prompt of simple_switch_CLI. A client that
stops within a call or does not read its answers is disconnected.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress

from softswitch.thrift.framing import Call, CallReader, Malformed

MOST_CLIENTS = 16
TIMEOUT_S = 10.0


class Server:
    """A server that answers calls on a listening socket until `end` is called."""

    def __init__(
        self, listener: socket.socket, answer: Callable[[Call], bytes], tell: Callable[[str], None], timeout_s: float
    ) -> None:
        self._listener = listener
        self._answer = answer
        self._tell = tell
        self._timeout_s = timeout_s
        self._clients: set[asyncio.StreamWriter] = set()
        self._ended: asyncio.Future[str] | None = None

    async def serve(self) -> str:
        """Serve until `end` is called; return the reason passed to `end`."""
        self._ended = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(self._serve_client, sock=self._listener)
        try:
            return await self._ended
        finally:
            server.close()
            for client in self._clients:
                client.close()

    def end(self, reason: str) -> None:
        """End `serve`; must be called in its event loop."""
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(reason)

    async def _serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._clients) == MOST_CLIENTS:
            self._tell(f"more than {MOST_CLIENTS} clients: the newest is turned away")
            writer.close()
            return
        self._clients.add(writer)
        try:
            await self._answer_all(reader, writer)
        except Malformed as error:
            self._tell(f"disconnected a client: {error}")
        except TimeoutError:
            self._tell(f"disconnected a client: no data for {self._timeout_s:g} s within a call")
        except (EOFError, OSError):
            pass  # the client has disconnected
        finally:
            self._clients.discard(writer)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls = CallReader(reader, self._timeout_s)
        while (call := await calls.read()) is not None:
            try:
                writer.write(self._answer(call))
            except OSError as error:  # raised by the connection to the switch, not by the client's
                self.end(f"lost the switch: {error}")
                return
            if writer.transport.get_write_buffer_size():  # else the kernel has the answer, and there is no need to wait
                try:
                    await asyncio.wait_for(writer.drain(), self._timeout_s)
                except asyncio.TimeoutError as error:  # before Python 3.11 not the same class as TimeoutError
                    raise TimeoutError from error
