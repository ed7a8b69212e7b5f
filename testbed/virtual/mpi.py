# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How workers meet that `mpirun` started, on one machine or many: MPI, by way of mpi4py, which need not be installed.

Knows neither runs nor what is told of them.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from testbed.errors import UsageError

INSTALL = "apt-get install openmpi-bin libopenmpi-dev; .venv/bin/pip install '.[mpi]'"


class Request(Protocol):
    """Of mpi4py's, what is used: something on its way."""

    def test(self) -> tuple[bool, Any]:
        """Whether it has gone, and nothing else of use."""

    def wait(self) -> Any:
        """Until it has."""


class Communicator(Protocol):
    """Of mpi4py's, what is used. Objects travel pickled."""

    def Get_rank(self) -> int: ...

    def Get_size(self) -> int: ...

    def alltoall(self, parts: Sequence[Any], /) -> list[Any]: ...

    def gather(self, word: Any, /) -> list[Any] | None: ...

    def bcast(self, word: Any, /) -> Any: ...

    def send(self, word: Any, /, dest: int, tag: int) -> None: ...

    def isend(self, word: Any, /, dest: int, tag: int) -> Request: ...

    def iprobe(self, *, source: int, tag: int) -> bool: ...

    def recv(self, *, source: int, tag: int) -> Any: ...


def world(before: Callable[[], None] = lambda: None) -> tuple[Communicator, Callable[[], None]]:
    """All processes of one `mpirun`, and what to call when a process has no more to say to the others. UsageError
    where there is no MPI.

    `before` is called once mpi4py is found, before MPI starts.
    """
    with _wanted():
        import mpi4py

        mpi4py.rc.thread_level = "funneled"  # libraries of ours have threads, of which none knows MPI
    before()
    with _wanted():
        from mpi4py import MPI  # starts it: wanted by nobody else
    return MPI.COMM_WORLD, MPI.Finalize


@contextmanager
def _wanted() -> Iterator[None]:
    try:
        yield
    except (ImportError, RuntimeError) as error:
        lacking = str(error).splitlines()[0]
        raise UsageError(
            f"--exchange mpi needs mpi4py and an MPI on {platform.node()} ({lacking}): {INSTALL}"
        ) from error


class RanksLeft(Exception):
    """Some rank has left the run before its end, and with it all have."""


class Meeting:
    """One rank's end of an exchange (`testbed.virtual.exchange.Exchange`) that anybody may leave.

    Who leaves gives nothing to the others, which nobody does who stays: so all know it in the same round, and none
    waits for one that is gone.
    """

    def __init__(self, communicator: Communicator, before: Callable[[], None] = lambda: None) -> None:
        """`before` is called before each swap, and may raise."""
        self._communicator = communicator
        self._before = before
        self._mine = communicator.Get_rank()
        self._is_over = False

    def swap(self, parts: Sequence[bytes]) -> list[bytes]:
        """As `Exchange` says. RanksLeft where one has left."""
        self._before()
        got = self._communicator.alltoall(parts)
        if any(not part for other, part in enumerate(got) if other != self._mine):
            self._is_over = True
            raise RanksLeft
        return got

    def leave(self) -> None:
        """Every rank does, once, whatever ended its part; nothing happens where all have left already."""
        if not self._is_over:
            self._is_over = True
            self._communicator.alltoall([b""] * self._communicator.Get_size())
