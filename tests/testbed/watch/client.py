# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A client of the page's server, which reads its stream as a browser does."""

from __future__ import annotations

import json
import re
import socket
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

SECONDS = 60
HEAD_END, EVENT_END = b"\r\n\r\n", b"\n\n"


@dataclass(frozen=True)
class Event:
    number: int
    kind: str
    data: Any


def address(url: str) -> tuple[int, str]:
    """Return the port and the token of a page's address."""
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([^/]+)/", url)
    assert found is not None, url
    return int(found[1]), found[2]


def request(target: str, *headers: str, method: str = "GET", host: str = "localhost:8000") -> bytes:
    """Return the head of a request. The default host is that of a forwarded port."""
    return "".join(f"{line}\r\n" for line in (f"{method} {target} HTTP/1.1", f"Host: {host}", *headers, "")).encode()


def answer(port: int, head: bytes) -> bytes:
    """Send a request and return the whole answer, until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port), SECONDS) as connection:
        connection.sendall(head)
        content = b""
        while part := connection.recv(1 << 16):
            content += part
    return content


def status(port: int, head: bytes) -> int:
    return int(answer(port, head).split(b" ")[1])


@contextmanager
def streamed(url: str, *headers: str) -> Iterator[Iterator[Event]]:
    """Connect to the stream and provide its events as they come; leaving the context disconnects."""
    port, token = address(url)
    with socket.create_connection(("127.0.0.1", port), SECONDS) as connection:
        connection.sendall(request(f"/{token}/stream", *headers))
        yield _events(connection)


def _events(connection: socket.socket) -> Iterator[Event]:
    head, content = _until(connection, b"", HEAD_END)
    assert head.startswith(b"HTTP/1.1 200 "), head
    while True:
        try:
            text, content = _until(connection, content, EVENT_END)
        except EOFError:
            return
        fields = dict(line.split(": ", 1) for line in text.decode().split("\n") if not line.startswith(":"))
        if fields:
            yield Event(int(fields["id"]), fields["event"], json.loads(fields["data"]))


def _until(connection: socket.socket, content: bytes, end: bytes) -> tuple[bytes, bytes]:
    """Return what precedes `end`, and what follows it so far. EOFError if the connection ends before."""
    while end not in content:
        part = connection.recv(1 << 16)
        if not part:
            raise EOFError
        content += part
    before, _, rest = content.partition(end)
    return before, rest


def values(text: str) -> list[Any]:
    """Return the values of a column of a chunk."""
    kind, _, content = text.partition(":")
    found: list[Any] = np.frombuffer(b64decode(content), dtype=f"<{kind}").tolist()
    return found


def rows(events: list[Event], part: str) -> pl.DataFrame:
    """Return the rows of a part in all chunks, in the order of the chunks."""
    frames = [
        pl.DataFrame({name: values(text) for name, text in event.data[part].items()})
        for event in events
        if event.kind == "chunk" and part in event.data
    ]
    return pl.concat(frames)
