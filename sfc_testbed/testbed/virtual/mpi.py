# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The exchange between processes that `mpirun` started, on one or several machines, over MPI with mpi4py.

mpi4py is optional. This module does not know what the processes run or report.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from struct import Struct
from typing import Any, Protocol

from sfc_testbed.testbed.errors import UsageError
from softswitch.engine import Fabric

_SIZES = Struct("=qq")
"""The header of what one rank sends another one: the size of the note, and the size of the records of frames."""
INSTALL = "apt-get install openmpi-bin libopenmpi-dev; .venv/bin/pip install '.[mpi]'"


class Communicator(Protocol):
    """The used part of mpi4py's communicator. Objects are pickled for transport."""

    def Get_rank(self) -> int: ...

    def Get_size(self) -> int: ...

    def alltoall(self, parts: Sequence[Any], /) -> list[Any]: ...

    def gather(self, word: Any, /) -> list[Any] | None: ...

    def bcast(self, word: Any, /) -> Any: ...

    def send(self, word: Any, /, dest: int, tag: int) -> None: ...

    def isend(self, word: Any, /, dest: int, tag: int) -> Any:
        """Return mpi4py's Request, whose `test` and `wait` say whether the message was sent."""

    def iprobe(self, *, source: int, tag: int) -> bool: ...

    def recv(self, *, source: int, tag: int) -> Any: ...


def world(before: Callable[[], None] = lambda: None) -> tuple[Communicator, Callable[[], None]]:
    """Start MPI; return the communicator of all processes of one `mpirun`, and the function that ends MPI here.

    `before` is called after mpi4py was imported and before MPI starts. Raises UsageError if there is no MPI.
    """
    with _requiring_mpi():
        import mpi4py

        mpi4py.rc.thread_level = "funneled"  # libraries of this process have threads, but none of them uses MPI
    before()
    with _requiring_mpi():
        from mpi4py import MPI  # the import starts MPI
    return MPI.COMM_WORLD, MPI.Finalize


@contextmanager
def _requiring_mpi() -> Iterator[None]:
    try:
        yield
    except (ImportError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"--exchange mpi needs mpi4py and an MPI on {platform.node()} ({reason}): {INSTALL}"
        ) from error


class RanksLeft(Exception):
    """A rank has left the run before its end, and so all ranks leave it."""


class Meeting:
    """A rank's end of an exchange (`testbed.virtual.tasks.Exchange`) that any rank may leave.

    A leaving rank sends empty parts to all others, which a staying rank never does. So all ranks notice it in the same
    round, and none waits for a rank that has left.
    """

    def __init__(self, communicator: Communicator, before: Callable[[], None] = lambda: None) -> None:
        """`before` is called before each exchange and may raise."""
        self._communicator = communicator
        self._before = before
        self._mine = communicator.Get_rank()
        self._is_over = False
        self._frames: list[tuple[memoryview, memoryview]] = []
        self._received: list[memoryview] = []

    def send_frames(self, fabric: Fabric) -> None:
        """Keep the frames until `send_note`, because each round takes one call of MPI."""
        self._frames = [fabric.outgoing(other) for other in range(self._communicator.Get_size())]

    def send_note(self, note: bytes) -> None:
        """Exchange notes and frames. Raises RanksLeft if a rank has left."""
        self._before()
        parts = [bytearray().join((_SIZES.pack(len(note), len(frames[0])), note, *frames)) for frames in self._frames]
        self._received = [memoryview(part) for part in self._communicator.alltoall(parts)]
        if not all(self._received):
            self._is_over = True
            raise RanksLeft

    def receive_frames(self, fabric: Fabric) -> None:
        fabric.forget_outgoing()
        for other, part in enumerate(self._received):
            if other != self._mine:
                note_bytes, records_bytes = _SIZES.unpack_from(part)
                frames = part[_SIZES.size + note_bytes :]
                fabric.put_outgoing(frames[:records_bytes], frames[records_bytes:])

    def receive_notes(self) -> list[bytes]:
        begin = _SIZES.size
        return [
            bytes(part[begin : begin + _SIZES.unpack_from(part)[0]])
            for other, part in enumerate(self._received)
            if other != self._mine
        ]

    def leave(self) -> None:
        """Leave the meeting. Every rank calls this once at its end; it does nothing if all ranks have left already."""
        if not self._is_over:
            self._is_over = True
            self._communicator.alltoall([bytearray()] * self._communicator.Get_size())
