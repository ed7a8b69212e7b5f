# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How the workers of a run meet at the end of each round: everybody gives every other one its bytes.

`Exchange` is all that a worker knows; `SharedMemory` is one: memory without a name, and a counter to wait for from each
to each, so that nothing stays of it, however a process ends.
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
_LOOKS = 4_000
"""At the mark of another worker before one sleeps until its bell: some 100 us. Waking up takes as long."""
_TURNS = 2
"""A worker may write for the next round while another still reads: it cannot be further ahead."""


class ExchangeError(Exception):
    """A round's frames do not fit."""


class Exchange(Protocol):
    """A meeting of all workers, once a round."""

    def swap(self, parts: Sequence[bytes]) -> list[bytes]:
        """Gives each worker its part (one's own is empty) and waits for theirs."""


@dataclass(frozen=True)
class Descriptors:
    """What a process needs of a shared memory: `bells[i][j]` is rung by i for j."""

    memory: int
    bells: tuple[tuple[int, ...], ...]
    room_bytes: int

    def numbers(self) -> list[int]:
        """All that a child must inherit."""
        return [self.memory, *(bell for row in self.bells for bell in row)]

    def close(self) -> None:
        for number in self.numbers():
            os.close(number)


def shared_memory(workers: int, room_bytes: int) -> Descriptors:
    """For so many workers, each of which sends another at most `room_bytes` a round. What is not used takes no room."""
    memory = os.memfd_create("sfc-testbed")
    os.ftruncate(memory, _TURNS * workers * workers * (_LENGTH_BYTES + room_bytes + _MARK_BYTES))
    bells = tuple(
        tuple(os.eventfd(0, os.EFD_SEMAPHORE | os.EFD_CLOEXEC) for _ in range(workers)) for _ in range(workers)
    )
    return Descriptors(memory, bells, room_bytes)


class SharedMemory:
    """One worker's end.

    A bell says that a part is whole; a mark behind the part says so a little earlier to who is awake.
    """

    def __init__(self, descriptors: Descriptors, mine: int) -> None:
        self._bells = descriptors.bells
        self._mine = mine
        self._room = descriptors.room_bytes
        self._memory = mmap.mmap(descriptors.memory, 0)
        self._turn = 0
        self._mark = 0
        has_core_each = len(descriptors.bells) <= len(os.sched_getaffinity(0))
        self._looks = _LOOKS if has_core_each else 0

    def swap(self, parts: Sequence[bytes]) -> list[bytes]:
        """As `Exchange` says. ExchangeError where one has no room."""
        others = [each for each in range(len(parts)) if each != self._mine]
        self._mark = (self._mark + 1) % _MARKS
        for other in others:
            self._write(other, parts[other])
            os.eventfd_write(self._bells[self._mine][other], 1)
        got = [b""] * len(parts)
        for other in others:
            self._look_for(other)
            os.eventfd_read(self._bells[other][self._mine])
            got[other] = self._read(other)
        self._turn = (self._turn + 1) % _TURNS
        return got

    def _at(self, giver: int, taker: int) -> int:
        workers = len(self._bells)
        return ((self._turn * workers + giver) * workers + taker) * (_LENGTH_BYTES + self._room + _MARK_BYTES)

    def _look_for(self, other: int) -> None:
        """Until it has given its part, or for long enough to go to sleep."""
        memory, mark = self._memory, self._mark
        at = self._at(other, self._mine) + _LENGTH_BYTES + self._room
        for _ in range(self._looks):
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
