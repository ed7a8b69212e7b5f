# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The Thrift client's encoding, byte for byte, against a server that only plays back what it was told to answer."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest

from testbed.targets.bmv2.thrift import (
    DeclaredException,
    ThriftConnection,
    ThriftError,
    boolean,
    i32,
    i64,
    list_of_binaries,
    list_of_records,
    record,
    record_of,
    text,
)


class FakeServer:
    """Accepts one connection, answers each request with the next prepared answer, and keeps the requests."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(5)
        self.port: int = self._listener.getsockname()[1]
        self.answers: list[bytes] = []
        self.requests: list[bytes] = []
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            peer, _ = self._listener.accept()
            self._answer(peer)

    def _answer(self, peer: socket.socket) -> None:
        with peer:
            while request := peer.recv(65_536):
                self.requests.append(request)
                if not self.answers:
                    return
                peer.sendall(self.answers.pop(0))

    def close(self) -> None:
        self._thread.join()
        self._listener.close()


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """Closed after the connection of the test is."""
    fake = FakeServer()
    yield fake
    fake.close()


def _head(kind: int, name: str, sequence: int) -> bytes:
    return struct.pack(">Ii", 0x8001_0000 | kind, len(name)) + name.encode() + struct.pack(">i", sequence)


def _reply(fields: bytes, sequence: int = 1, kind: int = 2) -> bytes:
    return _head(kind, "method", sequence) + fields + b"\0"


def _call(server: FakeServer, answer: bytes) -> object:
    server.answers.append(answer)
    with ThriftConnection("127.0.0.1", server.port) as connection:
        return connection.call("standard", "method", i32(0))


def test_a_call_is_encoded_as_the_protocol_says(server: FakeServer) -> None:
    """Version and type, multiplexed name, sequence number, then each argument with its type and number."""
    server.answers.append(_reply(b"\x08\x00\x00" + struct.pack(">i", 7)))
    with ThriftConnection("127.0.0.1", server.port) as connection:
        answer = connection.call("standard", "add", i32(5), text("ab"), boolean(True), i64(-1))
    assert answer == 7
    [request] = server.requests
    assert request == (
        _head(1, "standard:add", 1)
        + b"\x08\x00\x01" + struct.pack(">i", 5)
        + b"\x0b\x00\x02" + struct.pack(">i", 2) + b"ab"
        + b"\x02\x00\x03\x01"
        + b"\x0a\x00\x04" + struct.pack(">q", -1)
        + b"\x00"
    )  # fmt: skip


def test_lists_and_structs() -> None:
    """A list has its type and length; a struct leaves out what is None and ends with a stop."""
    assert list_of_binaries([b"x", b""]).payload == b"\x0b" + struct.pack(">ii", 2, 1) + b"x" + struct.pack(">i", 0)
    inner = record(None, i32(1))
    assert inner.payload == b"\x08\x00\x02" + struct.pack(">i", 1) + b"\0"
    assert inner == record_of({2: i32(1)})
    assert list_of_records([inner]).payload == b"\x0c" + struct.pack(">i", 1) + inner.payload


def test_answers_of_every_kind(server: FakeServer) -> None:
    """Void, structs in lists, maps, and 64-bit integers as an array."""
    extra = b"\x0d\x00\x02\x0b\x0b" + struct.pack(">i", 1) + 2 * (struct.pack(">i", 1) + b"k")
    port = b"\x08\x00\x01" + struct.pack(">i", 3) + extra + b"\0"
    server.answers += [
        _reply(b""),
        _reply(b"\x0f\x00\x00\x0c" + struct.pack(">i", 1) + port, 2),
        _reply(b"\x0f\x00\x00\x0a" + struct.pack(">i3q", 3, 1, -2, 1 << 40), 3),
    ]
    with ThriftConnection("127.0.0.1", server.port) as connection:
        assert connection.call("s", "void") is None
        assert connection.call("s", "ports") == [{1: 3, 2: {b"k": b"k"}}]
        cells = connection.call("s", "cells")
    assert np.array_equal(cells, [1, -2, 1 << 40])


def test_a_declared_exception_is_told_apart(server: FakeServer) -> None:
    """A result's field above 0 is an exception of the service, here with code 17."""
    with pytest.raises(DeclaredException) as caught:
        _call(server, _reply(b"\x0c\x00\x01\x08\x00\x01" + struct.pack(">i", 17) + b"\0"))
    assert caught.value.fields == {1: 17}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (_reply(b"\x0b\x00\x01" + struct.pack(">i", 4) + b"nope", kind=3), "nope"),
        (_reply(b"", sequence=9), "not asked for"),
        (b"HTTP/1.1 400 Bad Request", "not a strict binary"),
        (_reply(b"\x0b\x00\x00" + struct.pack(">i", -5)), "length of -5"),
        (_reply(b"\x07\x00\x00"), "type 7"),
        (_head(2, "method", 1), "closed"),
    ],
)
def test_anything_else_is_an_error(server: FakeServer, answer: bytes, words: str) -> None:
    """Unknown methods, foreign protocols and cut connections end a call with a reason."""
    if words == "closed":
        server.answers = []
        with ThriftConnection("127.0.0.1", server.port) as connection, pytest.raises(ThriftError, match=words):
            connection.call("standard", "method")
        return
    with pytest.raises(ThriftError, match=words):
        _call(server, answer)
