# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Moving a thread into another network namespace for as long as it takes to open sockets or make interfaces there.

A socket stays in the namespace it was made in, so one process can serve many hosts. Why not by pyroute2:
docs/decisions/dependencies.md.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def network_namespace(pid: int) -> Iterator[None]:
    """Run the body in the network namespace of process `pid`. Raises OSError if there is none or it is forbidden."""
    target = open_network_namespace(pid)
    try:
        with entered(target):
            yield
    finally:
        os.close(target)


def open_network_namespace(pid: int | None = None) -> int:
    """Return a descriptor of the network namespace of process `pid`, or of this thread; it keeps the namespace alive.

    Raises OSError if there is none or it is forbidden.
    """
    path = "/proc/thread-self/ns/net" if pid is None else f"/proc/{pid}/ns/net"
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


@contextmanager
def entered(namespace: int) -> Iterator[None]:
    """Run the body in the network namespace of a descriptor. Raises OSError if that is forbidden."""
    with _moved(lambda: _set_namespace(namespace)):
        yield


@contextmanager
def new_network_namespace() -> Iterator[None]:
    """Run the body in a namespace of its own, which goes with the last process that is in it. Raises OSError."""
    with _moved(leave_namespace):
        yield


def leave_namespace() -> None:
    """Move this thread into a new network namespace, for good. Raises OSError."""
    if hasattr(os, "unshare"):  # from Python 3.12 on; before, the C library's
        os.unshare(_CLONE_NEWNET)
    else:
        _check(_libc.unshare(_CLONE_NEWNET), "unshare")


@contextmanager
def _moved(move: Callable[[], None]) -> Iterator[None]:
    own = open_network_namespace()
    try:
        move()
        try:
            yield
        finally:
            _set_namespace(own)
    finally:
        os.close(own)


def _set_namespace(descriptor: int) -> None:
    if hasattr(os, "setns"):
        os.setns(descriptor, _CLONE_NEWNET)
    else:
        _check(_libc.setns(descriptor, _CLONE_NEWNET), "setns")


def _check(result: int, call: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
