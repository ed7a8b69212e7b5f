# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The exchange of bytes between all workers of a run at the end of each round.

Workers only know the protocol `Exchange`. `SharedMemory` implements it for processes forked from the one that created
it, with anonymous memory and event counters, so that nothing stays behind, however a process ends.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from threading import Lock
from typing import Protocol

Part = Sequence[bytes | memoryview]
"""The bytes from one worker to another in a round, in pieces."""

_WORD_BYTES = 8
_LINE_BYTES = 64
"""A cache line: words that different workers write are on lines of their own."""
_CHECKS = 2_000
"""Checks for another worker's part before sleeping: about 100 us, as long as waking up takes."""
_TURNS = 2
"""Areas used in turn: a worker may write the next round while another one reads; it is never further ahead."""


class ExchangeError(Exception):
    """The frames of a round are too large for the exchange."""


class Exchange(Protocol):
    """A meeting of all workers at the end of each round."""

    def swap(self, parts: Sequence[Part]) -> list[memoryview]:
        """Give each worker its part, wait for the parts of the others, and return them; one's own part is empty.

        The returned memory is writable and keeps its content until the next call.
        """


class SharedMemory:
    """An exchange between forked processes, which need no system call as long as nobody waits for long.

    A worker publishes the number of its last complete round in memory. A worker that has waited for a while marks
    itself as asleep and sleeps on its event counter, which the others increment for a worker that is marked.
    """

    def __init__(self, workers: int, room_bytes: int) -> None:
        """Reserve room for `workers` that each send another one at most `room_bytes` per round.

        Unused bytes take no memory.
        """
        self._workers = workers
        self._room = room_bytes
        self._area = -(-(_WORD_BYTES + room_bytes) // _LINE_BYTES) * _LINE_BYTES
        words_bytes = 2 * workers * _LINE_BYTES
        self._memory = memoryview(mmap.mmap(-1, words_bytes + _TURNS * workers * workers * self._area))
        self._areas = self._memory[words_bytes:]
        words = self._memory[:words_bytes].cast("q")[:: _LINE_BYTES // _WORD_BYTES]
        self._published, self._asleep = words[:workers], words[workers:]
        self._bells = [os.eventfd(0) for _ in range(workers)]
        self._checks = _CHECKS if workers <= len(os.sched_getaffinity(0)) else 0
        self._fence = Lock()
        self._fence.acquire()
        self._mine = -1
        self._round = 0

    def close(self) -> None:
        """Close the event counters."""
        for bell in self._bells:
            os.close(bell)

    def join(self, mine: int) -> None:
        """Use this exchange as the worker with the number `mine` from now on."""
        self._mine = mine

    def swap(self, parts: Sequence[Part]) -> list[memoryview]:
        """Exchange parts as described in `Exchange`. Raises ExchangeError for a part that is too large."""
        others = [number for number in range(self._workers) if number != self._mine]
        self._round += 1
        for other in others:
            self._write(other, parts[other])
        self._order()
        self._published[self._mine] = self._round
        self._order()
        for other in others:
            if self._asleep[other]:
                os.eventfd_write(self._bells[other], 1)
        for other in others:
            self._wait_for(other)
        self._order()
        return [memoryview(b"") if other == self._mine else self._read(other) for other in range(self._workers)]

    def _wait_for(self, other: int) -> None:
        """Wait until another worker has published this round."""
        published, number = self._published, self._round
        for _ in range(self._checks):
            if published[other] >= number:
                return
        self._asleep[self._mine] = 1
        self._order()
        while published[other] < number:
            os.eventfd_read(self._bells[self._mine])
        self._asleep[self._mine] = 0

    def _order(self) -> None:
        """Let no access to memory move across this call, on any processor: releasing and taking a lock does that."""
        self._fence.release()
        self._fence.acquire()

    def _at(self, sender: int, receiver: int) -> int:
        turn = self._round % _TURNS
        return ((turn * self._workers + sender) * self._workers + receiver) * self._area

    def _write(self, other: int, part: Part) -> None:
        length = sum(map(len, part))
        if length > self._room:
            raise ExchangeError(f"{length} bytes of one round do not fit between two workers ({self._room})")
        areas, at = self._areas, self._at(self._mine, other)
        for piece in (length.to_bytes(_WORD_BYTES, "little"), *part):
            areas[at : at + len(piece)] = piece
            at += len(piece)

    def _read(self, other: int) -> memoryview:
        at = self._at(other, self._mine)
        begin = at + _WORD_BYTES
        return self._areas[begin : begin + int.from_bytes(self._areas[at:begin], "little")]
