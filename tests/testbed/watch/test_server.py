# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The page's server on a socket: its limits, and pages that are late, slow or gone."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from sfc_testbed.testbed.watch import server as served
from sfc_testbed.testbed.watch.server import Server
from sfc_testbed.testbed.watch.stream import Stream
from tests.appearing import comes_true
from tests.testbed.watch.client import SECONDS, answer, request, status, streamed

TOKEN = "p9QyXv"
PAGE = "<!doctype html><title>Live</title>" + "x" * 300_000


class Served:
    """A server whose event loop runs in a thread."""

    def __init__(self, page: str = PAGE) -> None:
        self.stream = Stream()
        self.server = Server(page, TOKEN, self.stream)
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self.server.start(), self.loop).result(SECONDS)
        self.url = f"http://127.0.0.1:{self.port}/{TOKEN}/"

    def add(self, kind: str, data: str = "{}") -> None:
        async def add() -> None:
            self.stream.add(kind, data)
            self.server.wake()

        asyncio.run_coroutine_threadsafe(add(), self.loop).result(SECONDS)

    def close(self, seconds: float = 5.0) -> None:
        asyncio.run_coroutine_threadsafe(self.server.close(seconds), self.loop).result(SECONDS)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(SECONDS)
        self.loop.close()


@pytest.fixture
def run() -> Iterator[Served]:
    run = Served()
    yield run
    run.close(0)
    run.stop()


def test_the_page_needs_the_token_and_a_host_of_this_machine(run: Served) -> None:
    head, _, body = answer(run.port, request(f"/{TOKEN}/", host="localhost:9999")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert body.decode() == PAGE
    for refused in (request("/"), request("/stream"), request(f"/{TOKEN}/", host="evil.example")):
        assert answer(run.port, refused).startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert status(run.port, request(f"/{TOKEN}/../etc/passwd")) == 404
    assert status(run.port, request(f"/{TOKEN}/stream", method="POST")) == 405


def test_only_this_machine_can_connect(run: Served) -> None:
    listening = {sock.getsockname()[0] for sock in run.server._server.sockets}  # type: ignore[union-attr]
    assert listening == {"127.0.0.1"}


def test_a_late_page_gets_everything_so_far_and_then_what_is_new(run: Served) -> None:
    run.add("scene")
    run.add("chunk", "1")
    with streamed(run.url) as early, streamed(run.url) as late:
        assert [next(early).number for _ in range(2)] == [1, 2]
        run.add("chunk", "2")
        assert [next(late).number for _ in range(3)] == [1, 2, 3]
        assert next(early).data == 2


def test_a_page_that_connects_again_continues(run: Served) -> None:
    for number in range(1, 6):
        run.add("chunk", str(number))
    with streamed(run.url, "Last-Event-ID: 3") as events:
        assert [next(events).data for _ in range(2)] == [4, 5]


def test_a_page_that_leaves_disturbs_no_other(run: Served) -> None:
    with streamed(run.url) as staying:
        with streamed(run.url) as leaving:
            run.add("chunk", "1")
            assert next(leaving).data == 1
        for number in range(2, 20):
            run.add("chunk", str(number))
        assert [next(staying).data for _ in range(19)] == [*range(1, 20)]
        assert comes_true(lambda: run.server.streams == 1)


def test_a_page_that_reads_nothing_delays_no_other_and_is_dropped(run: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "STALLED_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", run.port)) as stalled:
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stalled.sendall(request(f"/{TOKEN}/stream"))
        assert comes_true(lambda: run.server.streams == 1)
        text = '"' + "x" * 1_000_000 + '"'
        for _ in range(20):
            run.add("chunk", text)
        with streamed(run.url) as events:
            assert [next(events).number for _ in range(20)] == [*range(1, 21)]
        assert comes_true(lambda: run.server.streams == 0)


def test_a_slow_page_that_keeps_reading_gets_everything(run: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "STALLED_SECONDS", 3.0)
    for number in range(20):
        run.add("chunk", f'"{number:0200000}"')
    with streamed(run.url) as events:
        for number in range(20):
            threading.Event().wait(0.05)
            assert str(next(events).data).lstrip("0") == (str(number) if number else "")


def test_connections_and_streams_are_limited(run: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "MOST_STREAMS", 2)
    monkeypatch.setattr(served, "MOST_CONNECTIONS", 5)
    with ExitStack() as connections:
        for _ in range(2):
            connections.enter_context(streamed(run.url))
        assert comes_true(lambda: run.server.streams == 2)
        assert status(run.port, request(f"/{TOKEN}/stream")) == 503
        assert status(run.port, request(f"/{TOKEN}/")) == 200
        for _ in range(3):
            connections.enter_context(socket.create_connection(("127.0.0.1", run.port)))
        assert comes_true(lambda: len(run.server._tasks) == 5)
        with pytest.raises((ConnectionError, IndexError)):  # without an answer
            status(run.port, request(f"/{TOKEN}/"))
    assert comes_true(lambda: not run.server._tasks)
    assert status(run.port, request(f"/{TOKEN}/")) == 200


def test_a_request_that_never_ends_is_refused(run: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "HEAD_SECONDS", 0.1)
    assert answer(run.port, b"GET / HTTP/1.1\r\n").startswith(b"HTTP/1.1 408 ")
    assert answer(run.port, b"GET / HTTP/1.1\r\nX: " + b"x" * 9000).startswith(b"HTTP/1.1 431 ")


def test_the_end_of_the_server_sends_what_remains(run: Served) -> None:
    with streamed(run.url) as events:
        run.add("scene")
        assert next(events).kind == "scene"
        run.stream.add("end", "{}")
        run.close()
        assert [event.kind for event in events] == ["end"]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", run.port))
