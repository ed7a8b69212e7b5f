# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads calls in Thrift's binary protocol from a stream, within bounds on size and depth.

A message has no length field: it ends where its outermost struct stops, and its parts state their own lengths. A sender
could therefore demand any amount of memory, time or stack. Library readers have no bounds, so this module has its own.
It must not know the meaning of calls.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

MOST_BYTES = 4 << 20
"""The maximum size of a message; adding a table entry takes some hundred bytes."""
MOST_ELEMENTS = 1 << 16
"""The maximum number of elements in all containers of a message, including fields of structs."""
MOST_DEPTH = 8
"""The maximum nesting of structs and containers; the deepest call has 4 levels."""

BOOL, DOUBLE, STRING, STRUCT, MAP, SET, LIST = 2, 4, 11, 12, 13, 14, 15

_MOST_NAME_BYTES = 256
_CHUNK_BYTES = 1 << 16
_VERSION = 0x8001
_CALL = 1
_STOP = 0
_FIXED_BYTES = {BOOL: 1, 3: 1, DOUBLE: 8, 6: 2, 8: 4, 10: 8}  # types 3, 6, 8, 10: signed with 8, 16, 32, 64 bits

Fields: TypeAlias = dict[int, tuple[int, Any]]
"""A struct: (type, value) by field number. The value of a list is a pair: element type and elements."""


class Malformed(Exception):
    """The received bytes are not a call in Thrift's binary protocol, or exceed the bounds."""


@dataclass(frozen=True)
class Call:
    """A received call; `sequence` is the caller's number for it."""

    name: str
    sequence: int
    arguments: Fields


class CallReader:
    """Reads the calls of a stream. Bytes that arrive together are parsed without a wait for each part."""

    def __init__(self, stream: asyncio.StreamReader, timeout_s: float) -> None:
        self._stream = stream
        self._timeout_s = timeout_s
        self._received = bytearray()
        self._n_taken = 0
        """The number of bytes at the beginning of `_received` that belong to parsed parts."""
        self._deadline_s = 0.0

    async def read(self) -> Call | None:
        """Read a whole call; return None if the other side closes the connection between calls.

        Waits for the first byte without a limit, then for the rest until the timeout. Raises Malformed, TimeoutError,
        and EOFError if the connection ends within a call.
        """
        del self._received[: self._n_taken]
        self._n_taken = 0
        if self._received:
            await asyncio.sleep(0)  # lets the calls of other clients pass a client that sends many without a pause
        else:
            self._received += await self._stream.read(_CHUNK_BYTES)
        if not self._received:
            return None
        self._deadline_s = asyncio.get_running_loop().time() + self._timeout_s
        return await _Message(self.take).call()

    async def take(self, count: int) -> bytes:
        """Return the next bytes of the call that is being read."""
        end = self._n_taken + count
        while len(self._received) < end:
            await self._receive()
        part = bytes(self._received[self._n_taken : end])
        self._n_taken = end
        return part

    async def _receive(self) -> None:
        left_s = self._deadline_s - asyncio.get_running_loop().time()
        try:
            chunk = await asyncio.wait_for(self._stream.read(_CHUNK_BYTES), max(left_s, 0.0))
        except asyncio.TimeoutError as error:  # before Python 3.11 not the same class as TimeoutError
            raise TimeoutError from error
        if not chunk:
            raise EOFError("the connection ended within a call")
        self._received += chunk


class _Message:
    """A message being read, with the remaining bounds; `source` returns the next bytes."""

    def __init__(self, source: Callable[[int], Awaitable[bytes]]) -> None:
        self._source = source
        self._bytes_left = MOST_BYTES
        self._elements_left = MOST_ELEMENTS

    async def call(self) -> Call:
        head = await self._take(4)
        if int.from_bytes(head[:2], "big") != _VERSION or head[3] != _CALL:
            raise Malformed("not a call in the binary protocol")
        length = await self._integer(4)
        if length > _MOST_NAME_BYTES:
            raise Malformed(f"a method's name of {length} bytes")
        name = await self._take(length)
        if not name.isascii():
            raise Malformed("a method's name that is not ASCII")
        return Call(name.decode(), await self._integer(4), await self._struct(1))

    async def _take(self, count: int) -> bytes:
        if not 0 <= count <= self._bytes_left:
            raise Malformed(f"a message of more than {MOST_BYTES} bytes")
        self._bytes_left -= count
        return await self._source(count)

    async def _integer(self, n_bytes: int) -> int:
        return int.from_bytes(await self._take(n_bytes), "big", signed=True)

    async def _struct(self, depth: int) -> Fields:
        fields: Fields = {}
        while (kind := (await self._take(1))[0]) != _STOP:
            self._count(1)
            number = await self._integer(2)
            fields[number] = kind, await self._value(kind, depth)
        return fields

    async def _value(self, kind: int, depth: int) -> Any:
        if kind == STRING:
            return await self._take(await self._integer(4))
        if kind in _FIXED_BYTES:
            raw = await self._take(_FIXED_BYTES[kind])
            return struct.unpack(">d", raw)[0] if kind == DOUBLE else int.from_bytes(raw, "big", signed=True)
        if depth == MOST_DEPTH:
            raise Malformed(f"structs and containers more than {MOST_DEPTH} deep")
        if kind == STRUCT:
            return await self._struct(depth + 1)
        if kind in (MAP, SET, LIST):
            kinds = tuple(await self._take(2 if kind == MAP else 1))
            return kinds[0], await self._elements(kinds, depth + 1)
        raise Malformed(f"a value of type {kind}")

    async def _elements(self, kinds: tuple[int, ...], depth: int) -> list[Any]:
        """Read the elements of a container; for a map they are alternating keys and values."""
        count = await self._integer(4)
        self._count(count)
        return [await self._value(kind, depth) for _ in range(count) for kind in kinds]

    def _count(self, elements: int) -> None:
        self._elements_left -= elements
        if elements < 0 or self._elements_left < 0:
            raise Malformed(f"containers of more than {MOST_ELEMENTS} elements")
