# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The messages for a client's stream that the client has not read yet, up to a number of bytes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

from grpc import StatusCode

from softswitch.p4runtime.status import Refusal

MOST_UNREAD_BYTES = 8 << 20
"""The maximum size of the unread messages of a client."""
MOST_UNREAD_OF_ALL_BYTES = 64 << 20
"""The maximum size of the unread messages of all clients, except for what each of them may have in any case."""
SURE_BYTES = 256 << 10
"""The size of the unread messages that a client may have in any case."""
BYTES_OF_A_MESSAGE = 1 << 10
"""The memory that a message takes besides its content."""


class UnreadBytes:
    """The size of the unread messages of all clients."""

    def __init__(self) -> None:
        self.value = 0


class Outbox:
    """The unread messages of a stream, in order, until the stream ends.

    Messages above the limits are dropped. A client that misses an arbitration could not know whether it is primary, so
    that its stream ends instead: `on_overflow` is called once.
    """

    def __init__(self, on_overflow: Callable[[], None], of_all: UnreadBytes) -> None:
        self.refusal: Refusal | None = None
        """Why the stream ends, if the client did not end it."""
        self.unread_bytes = 0
        self._on_overflow = on_overflow
        self._of_all = of_all
        self._messages: deque[tuple[int, Any]] = deque()
        self._is_ended = False
        self._changed = asyncio.Event()

    def put(self, message: Any) -> None:
        """Add a message if it fits."""
        size = message.ByteSize() + BYTES_OF_A_MESSAGE
        if self._is_ended:
            return
        if self._has_room(size):
            self._messages.append((size, message))
            self._resize(self.unread_bytes + size)
            self._changed.set()
        elif message.WhichOneof("update") == "arbitration":
            limits = f"at most {MOST_UNREAD_BYTES}, and of all clients {MOST_UNREAD_OF_ALL_BYTES}"
            text = f"the client does not read its messages: {self.unread_bytes} bytes wait; {limits}"
            self.forget()
            self.end(Refusal(StatusCode.RESOURCE_EXHAUSTED, text))
            self._on_overflow()

    def end(self, refusal: Refusal | None = None) -> None:
        """End the stream after the messages that wait."""
        if not self._is_ended:
            self._is_ended, self.refusal = True, refusal
            self._changed.set()

    async def messages(self) -> AsyncIterator[Any]:
        """Yield the messages until the stream ends."""
        while self._messages or not self._is_ended:
            if not self._messages:
                self._changed.clear()
                await self._changed.wait()
                continue
            size, message = self._messages.popleft()
            self._resize(self.unread_bytes - size)
            yield message

    def forget(self) -> None:
        """Forget the messages that wait."""
        self._messages.clear()
        self._resize(0)

    def _has_room(self, size: int) -> bool:
        unread_bytes = self.unread_bytes + size
        has_room_in_all = self._of_all.value + size <= MOST_UNREAD_OF_ALL_BYTES
        return unread_bytes <= MOST_UNREAD_BYTES and (has_room_in_all or unread_bytes <= SURE_BYTES)

    def _resize(self, n_bytes: int) -> None:
        self._of_all.value += n_bytes - self.unread_bytes
        self.unread_bytes = n_bytes
