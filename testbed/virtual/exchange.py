# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The exchange of bytes between all workers of a run at the end of each round.

Workers only know the protocol `Exchange`. `SharedMemory` implements it with anonymous memory and an event counter from
each worker to each other, so that nothing stays behind, however a process ends.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

_LENGTH_BYTES = 8
_MARK_BYTES = 1
_MARKS = 256
_MARK_CHECKS = 4_000
"""Checks of another worker's mark before sleeping until its bell: about 100 us, as long as waking up takes."""
_TURNS = 2
"""Areas used in turn: a worker may write the next round while another one reads; it is never further ahead."""


class ExchangeError(Exception):
    """The frames of a round are too large for the exchange."""


class Exchange(Protocol):
    """A meeting of all workers at the end of each round."""

    def swap(self, parts: Sequence[bytes]) -> list[bytes]:
        """Give each worker its part, wait for the parts of the others, and return them; one's own part is empty."""


@dataclass(frozen=True)
class Descriptors:
    """The descriptors of a shared memory; worker i rings `bells[i][j]` for worker j."""

    memory: int
    bells: tuple[tuple[int, ...], ...]
    room_bytes: int

    def numbers(self) -> list[int]:
        """Return all descriptors, which a child process must inherit."""
        return [self.memory, *(bell for row in self.bells for bell in row)]

    def close(self) -> None:
        for number in self.numbers():
            os.close(number)


def shared_memory(workers: int, room_bytes: int) -> Descriptors:
    """Create a memory for `workers` that each send another one at most `room_bytes` per round.

    Unused bytes take no memory.
    """
    memory = os.memfd_create("sfc-testbed")
    os.ftruncate(memory, _TURNS * workers * workers * (_LENGTH_BYTES + room_bytes + _MARK_BYTES))
    bells = tuple(
        tuple(os.eventfd(0, os.EFD_SEMAPHORE | os.EFD_CLOEXEC) for _ in range(workers)) for _ in range(workers)
    )
    return Descriptors(memory, bells, room_bytes)


class SharedMemory:
    """A worker's end of the exchange.

    A bell signals a complete part. The mark behind the part signals it slightly earlier to a worker that is awake.
    """

    def __init__(self, descriptors: Descriptors, mine: int) -> None:
        self._bells = descriptors.bells
        self._mine = mine
        self._room = descriptors.room_bytes
        self._memory = mmap.mmap(descriptors.memory, 0)
        self._turn = 0
        self._mark = 0
        has_core_each = len(descriptors.bells) <= len(os.sched_getaffinity(0))
        self._mark_checks = _MARK_CHECKS if has_core_each else 0

    def swap(self, parts: Sequence[bytes]) -> list[bytes]:
        """Exchange parts as described in `Exchange`. Raises ExchangeError for a part that is too large."""
        others = [number for number in range(len(parts)) if number != self._mine]
        self._mark = (self._mark + 1) % _MARKS
        for other in others:
            self._write(other, parts[other])
            os.eventfd_write(self._bells[self._mine][other], 1)
        received = [b""] * len(parts)
        for other in others:
            self._wait_for_mark(other)
            os.eventfd_read(self._bells[other][self._mine])
            received[other] = self._read(other)
        self._turn = (self._turn + 1) % _TURNS
        return received

    def _at(self, sender: int, receiver: int) -> int:
        workers = len(self._bells)
        return ((self._turn * workers + sender) * workers + receiver) * (_LENGTH_BYTES + self._room + _MARK_BYTES)

    def _wait_for_mark(self, other: int) -> None:
        """Poll the other worker's mark for a limited time; then the bell is waited for."""
        memory, mark = self._memory, self._mark
        at = self._at(other, self._mine) + _LENGTH_BYTES + self._room
        for _ in range(self._mark_checks):
            if memory[at] == mark:
                return

    def _write(self, other: int, part: bytes) -> None:
        if len(part) > self._room:
            raise ExchangeError(f"{len(part)} bytes of one round do not fit between two workers ({self._room})")
        at = self._at(self._mine, other)
        self._memory[at : at + _LENGTH_BYTES] = len(part).to_bytes(_LENGTH_BYTES, "little")
        self._memory[at + _LENGTH_BYTES : at + _LENGTH_BYTES + len(part)] = part
        self._memory[at + _LENGTH_BYTES + self._room] = self._mark

    def _read(self, other: int) -> bytes:
        at = self._at(other, self._mine)
        length = int.from_bytes(self._memory[at : at + _LENGTH_BYTES], "little")
        return self._memory[at + _LENGTH_BYTES : at + _LENGTH_BYTES + length]
