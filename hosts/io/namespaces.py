# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Temporary moves of a thread into another network namespace, to open sockets or make interfaces there.

A socket stays in the namespace in which it was opened, so one process can serve many hosts.
docs/decisions/dependencies.md explains why this does not use pyroute2.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_CLONE_NEWNET = 0x40000000
# `os.unshare` and `os.setns` exist only since Python 3.12, so the C library is called.
_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def network_namespace(pid: int) -> Iterator[None]:
    """Run the body in the network namespace of process `pid`.

    Raises OSError if the process does not exist or entering its namespace is forbidden.
    """
    target = open_network_namespace(pid)
    try:
        with entered(target):
            yield
    finally:
        os.close(target)


def open_network_namespace(pid: int | None = None) -> int:
    """Return a descriptor of the network namespace of process `pid`, or of this thread without a `pid`.

    The open descriptor keeps the namespace alive. Raises OSError if the process does not exist or access is forbidden.
    """
    path = "/proc/thread-self/ns/net" if pid is None else f"/proc/{pid}/ns/net"
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


@contextmanager
def entered(namespace: int) -> Iterator[None]:
    """Run the body in the network namespace of a descriptor. Raises OSError if entering it is forbidden."""
    with _moved(lambda: _set_namespace(namespace)):
        yield


@contextmanager
def new_network_namespace() -> Iterator[None]:
    """Run the body in a new network namespace, which disappears with the last process in it. Raises OSError."""
    with _moved(leave_namespace):
        yield


def leave_namespace() -> None:
    """Move this thread permanently into a new network namespace. Raises OSError."""
    _check(_libc.unshare(_CLONE_NEWNET), "unshare")


@contextmanager
def _moved(move: Callable[[], None]) -> Iterator[None]:
    original = open_network_namespace()
    try:
        move()
        try:
            yield
        finally:
            _set_namespace(original)
    finally:
        os.close(original)


def _set_namespace(descriptor: int) -> None:
    _check(_libc.setns(descriptor, _CLONE_NEWNET), "setns")


def _check(result: int, call: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
