# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The events that a page gets, as Server-Sent Events, and the position of each page in them.

Pages share the stored events, so a slow page costs no memory. A page that connects late begins with the first event.
If the stored chunks exceed a limit, the oldest are deleted; a page that has not read them gets an event `gap` in their
place. Other events, such as the scene of a run, are kept.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

MOST_BYTES = 64_000_000
"""Bytes of chunks that are stored."""
CHUNK, GAP = "chunk", "gap"


@dataclass(frozen=True)
class _Event:
    number: int
    kind: str
    text: bytes


class Stream:
    """The stored events, oldest first, numbered from 1."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._events: list[_Event] = []
        self._most_bytes = most_bytes
        self._chunk_bytes = 0
        self._latest = 0

    @property
    def latest(self) -> int:
        """The number of the latest event; 0 if there is none."""
        return self._latest

    def add(self, kind: str, data: str) -> None:
        """Add an event; `data` is one line, such as JSON."""
        self._latest += 1
        event = _Event(self._latest, kind, _event_text(kind, data, self._latest))
        self._events.append(event)
        if kind == CHUNK:
            self._chunk_bytes += len(event.text)
            self._delete_chunks()

    def after(self, number: int, most_bytes: int) -> tuple[int, bytes]:
        """Return the events after a number, at least one and then up to `most_bytes`, and the number of the last."""
        begin = bisect_left(self._events, number + 1, key=lambda event: event.number)
        texts: list[bytes] = []
        size = 0
        for event in self._events[begin:]:
            if size and size + len(event.text) > most_bytes:
                break
            texts.append(event.text)
            size += len(event.text)
            number = event.number
        return number, b"".join(texts)

    def _delete_chunks(self) -> None:
        """Replace the oldest chunks by gaps if all chunks exceed the limit; a quarter of the limit is then free."""
        if self._chunk_bytes <= self._most_bytes:
            return
        kept: list[_Event] = []
        for event in self._events:
            if event.kind == CHUNK and self._chunk_bytes > self._most_bytes * 3 // 4:
                self._chunk_bytes -= len(event.text)
                if kept and kept[-1].kind == GAP:
                    kept.pop()
                kept.append(_Event(event.number, GAP, _event_text(GAP, "{}", event.number)))
            else:
                kept.append(event)
        self._events = kept


def _event_text(kind: str, data: str, number: int) -> bytes:
    return f"id: {number}\nevent: {kind}\ndata: {data}\n\n".encode()
