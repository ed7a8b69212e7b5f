# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The server of the page, on 127.0.0.1. Connections, streams and waiting times are limited."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from http import HTTPStatus

from sfc_testbed.testbed.watch.requests import (
    MOST_HEAD_BYTES,
    PAGE,
    Refused,
    page_answer,
    read_request,
    refusal,
    stream_head,
)
from sfc_testbed.testbed.watch.stream import Stream

ADDRESS = "127.0.0.1"
MOST_CONNECTIONS = 32
MOST_STREAMS = 8
HEAD_SECONDS = 5.0
"""Time in which a browser must have sent its request."""
STALLED_SECONDS = 20.0
"""Time after which a connection that takes no data is closed. The page connects again and continues."""
_IDLE_SECONDS = 15.0
"""Time after which an idle stream gets a comment, which reveals a browser that has gone."""
_WRITE_BYTES = 65_536
_COMMENT = b": \n\n"


class Server:
    """The server, from `start` to `close`. Call `wake` after events were added to the stream."""

    def __init__(self, page: str, token: str, stream: Stream) -> None:
        self._page = page_answer(page)
        self._token = token
        self._stream = stream
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.Event] = set()
        self._streams = self._woken_for = 0
        self._is_ending = False

    async def start(self) -> int:
        """Listen on a free port and return it."""
        self._server = await asyncio.start_server(self._accept, ADDRESS, 0, limit=MOST_HEAD_BYTES)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def streams(self) -> int:
        """The number of pages that are connected."""
        return self._streams

    def wake(self) -> None:
        """Send new events to all pages, if there are any."""
        if self._woken_for < self._stream.latest or self._is_ending:
            self._woken_for = self._stream.latest
            for event in self._waiting:
                event.set()

    async def close(self, seconds: float) -> None:
        """Give pages this time to receive the remaining events, and end all connections."""
        assert self._server is not None
        self._server.close()
        self._is_ending = True
        self.wake()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(OSError, asyncio.TimeoutError, asyncio.IncompleteReadError):
                await self._answer(reader, writer)
                writer.close()
                await asyncio.wait_for(writer.wait_closed(), STALLED_SECONDS)
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks) > MOST_CONNECTIONS:
            return  # without an answer: to wait for the request would be a connection more
        writer.transport.set_write_buffer_limits(high=_WRITE_BYTES)
        try:
            head = await _head_of(reader)
            request = read_request(head, self._token)
            if request.resource == PAGE:
                await self._write(writer, self._page)
                return
            if self._streams >= MOST_STREAMS:
                raise Refused(HTTPStatus.SERVICE_UNAVAILABLE)
        except Refused as error:
            await self._write(writer, refusal(error.status))
            return
        self._streams += 1
        sending = asyncio.ensure_future(self._send_events(writer, request.last_event or 0))
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._streams -= 1
            sending.cancel()
            leaving.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send_events(self, writer: asyncio.StreamWriter, number: int) -> None:
        """Send the events after a number, then new ones as they come, until the server closes."""
        await self._write(writer, stream_head())
        is_new = asyncio.Event()
        self._waiting.add(is_new)
        try:
            while True:
                is_new.clear()
                number, text = self._stream.after(number, _WRITE_BYTES)
                if text:
                    await self._write(writer, text)
                elif self._is_ending:
                    return
                else:
                    try:
                        await asyncio.wait_for(is_new.wait(), _IDLE_SECONDS)
                    except asyncio.TimeoutError:
                        await self._write(writer, _COMMENT)
        finally:
            self._waiting.discard(is_new)

    async def _write(self, writer: asyncio.StreamWriter, content: bytes) -> None:
        """Write, and wait until nearly all is sent. Raise TimeoutError if the connection takes nothing for long."""
        writer.write(content)
        left = len(content) + _WRITE_BYTES
        while True:
            try:
                await asyncio.wait_for(writer.drain(), STALLED_SECONDS)
                return
            except asyncio.TimeoutError:
                before, left = left, writer.transport.get_write_buffer_size()
                if left >= before:
                    raise


async def _head_of(reader: asyncio.StreamReader) -> bytes:
    """Return the lines of a request's head. Raise Refused if they are too long or come too late."""
    try:
        return await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_SECONDS)
    except asyncio.LimitOverrunError as error:
        raise Refused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE) from error
    except asyncio.TimeoutError as error:
        raise Refused(HTTPStatus.REQUEST_TIMEOUT) from error
