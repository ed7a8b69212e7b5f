# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The answers to Reads, which wait in this process until their clients take them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from grpc import StatusCode

from softswitch.p4runtime import messages
from softswitch.p4runtime.portions import MOST_PORTION_BYTES, portions
from softswitch.p4runtime.status import refuse

MOST_ANSWER_BYTES = 128 << 20
"""The maximum size of the answers to a Read."""
MOST_WAITING_BYTES = 256 << 20
"""The maximum size of the answers to all Reads. A Read of one portion is not counted, so that it always succeeds."""


class WaitingBytes:
    """The size of the answers that wait."""

    def __init__(self) -> None:
        self.value = 0


class Answers:
    """The answers to one Read. They are kept as gRPC sends them, because messages take ten times as much memory."""

    def __init__(self, waiting: WaitingBytes) -> None:
        self._waiting = waiting
        self._answers: deque[bytes] = deque()
        self._n_bytes = 0

    def add(self, entities: Iterable[Any]) -> Iterator[None]:
        """Add entities, and yield after each portion. Raise Refusal if there are too many; then none is added."""
        before, added = self._n_bytes, []
        try:
            for portion in portions(entities):
                added.append(messages.v1.ReadResponse(entities=portion).SerializeToString())
                self._resize(self._n_bytes + len(added[-1]))
                _check(self._n_bytes, MOST_ANSWER_BYTES, "the answer has more than")
                _check(self._waiting.value, MOST_WAITING_BYTES, "the unread answers to all Reads have more than")
                yield
        except BaseException:
            self._resize(before)
            raise
        self._answers.extend(added)

    def taken(self) -> Iterator[bytes]:
        """Yield the answers in order."""
        while self._answers:
            answer = self._answers.popleft()
            yield answer
            self._resize(self._n_bytes - len(answer))

    def close(self) -> None:
        """Forget the answers that were not taken."""
        self._answers.clear()
        self._resize(0)

    def _resize(self, n_bytes: int) -> None:
        self._waiting.value += max(n_bytes, MOST_PORTION_BYTES) - max(self._n_bytes, MOST_PORTION_BYTES)
        self._n_bytes = n_bytes


def _check(n_bytes: int, limit: int, what: str) -> None:
    if n_bytes > limit:
        refuse(StatusCode.RESOURCE_EXHAUSTED, f"{what} {limit} bytes; read single tables, entries or cells")
