# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the Thrift connection, byte for byte, against a server that plays back prepared answers."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from sfc_testbed.testbed.targets.bmv2.thrift import Refusal, ThriftConnection, ThriftError


class FakeServer:
    """A server that accepts one connection, records the requests and sends prepared answers."""

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
    fake = FakeServer()
    yield fake
    fake.close()


def _head(kind: int, name: str) -> bytes:
    return struct.pack(">Ii", 0x8001_0000 | kind, len(name)) + name.encode() + struct.pack(">i", 0)


def _reply(fields: bytes, kind: int = 2) -> bytes:
    return _head(kind, "method") + fields + b"\0"


def _call(server: FakeServer, answer: bytes) -> object:
    server.answers.append(answer)
    with ThriftConnection("127.0.0.1", server.port) as connection:
        return connection.call("standard", "bm_register_read", 0, "depth", 5)


def _i32(number: int, value: int) -> bytes:
    return b"\x08" + struct.pack(">hi", number, value)


def _string(number: int, value: bytes) -> bytes:
    return b"\x0b" + struct.pack(">hi", number, len(value)) + value


def test_a_call_is_encoded_in_the_binary_protocol(server: FakeServer) -> None:
    assert _call(server, _reply(b"\x0a\x00\x00" + struct.pack(">q", 7))) == 7
    [request] = server.requests
    assert request == _head(1, "standard:bm_register_read") + _i32(1, 0) + _string(2, b"depth") + _i32(3, 5) + b"\0"


def test_a_declared_exception_becomes_a_refusal(server: FakeServer) -> None:
    server.answers += [_reply(b"\x0c\x00\x01" + _i32(1, 17) + b"\0"), _reply(b"")]
    with ThriftConnection("127.0.0.1", server.port) as connection:
        with pytest.raises(Refusal) as caught:
            connection.call("standard", "bm_mt_delete_entry", 0, "t", 1)
        assert caught.value.code == 17
        assert connection.call("standard", "bm_mt_delete_entry", 0, "t", 1) is None


def test_a_number_that_does_not_fit_is_not_sent(server: FakeServer) -> None:
    server.answers.append(_reply(b""))
    with ThriftConnection("127.0.0.1", server.port) as connection:
        with pytest.raises(ValueError, match="session"):
            connection.call("simple_switch", "mirroring_session_delete", 1 << 40)
        connection.call("simple_switch", "mirroring_session_delete", 1)
    [request] = server.requests
    assert request == _head(1, "simple_switch:mirroring_session_delete") + _i32(1, 1) + b"\0"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (_reply(_string(1, b"nope") + _i32(2, 1), kind=3), "bm_register_read: nope"),
        (_reply(b""), "bm_register_read: Missing result"),
        (_reply(b"\x07\x00\x00"), "bm_register_read: Missing result"),
    ],
    ids=["unknown method", "no result", "unknown type"],
)
def test_an_answer_without_a_result_is_an_error(server: FakeServer, answer: bytes, words: str) -> None:
    with pytest.raises(ThriftError, match=words):
        _call(server, answer)


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 400 Bad Request", _head(2, "method") + b"\x0a\x00\x00\x01", _head(2, "method")[:3]],
    ids=["other protocol", "incomplete answer", "incomplete header"],
)
def test_a_broken_answer_ends_the_connection(server: FakeServer, answer: bytes) -> None:
    """The remaining bytes would be taken for the answer to the next call."""
    server.answers.append(answer)
    with ThriftConnection("127.0.0.1", server.port, timeout_s=0.2) as connection:
        with pytest.raises((ThriftError, TimeoutError)):
            connection.call("standard", "bm_register_read", 0, "r", 0)
        with pytest.raises(ThriftError, match="closed"):
            connection.call("standard", "bm_register_read", 0, "r", 0)


def test_a_lost_connection_is_an_error(server: FakeServer) -> None:
    with ThriftConnection("127.0.0.1", server.port) as connection, pytest.raises(ThriftError):
        connection.call("standard", "bm_register_read", 0, "r", 0)


def test_a_switch_without_all_its_services_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """A switch listens before it has registered its services. The client has to try again with a new connection."""

    def unknown(*_: object) -> None:
        raise ThriftError("get_time_elapsed_us: Unknown service: simple_switch")

    monkeypatch.setattr(ThriftConnection, "call", unknown)
    with socket.create_server(("127.0.0.1", 0)) as server:
        with pytest.raises(ConnectionError, match="Unknown service"):
            ThriftConnection.to_ready_switch(server.getsockname()[1])
        accepted, _ = server.accept()
        with accepted:
            assert accepted.recv(1) == b""
