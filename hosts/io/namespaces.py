# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Entering another process's network namespace for as long as it takes to open sockets there.

A socket stays in the namespace it was made in, so one process can serve many hosts.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def network_namespace(pid: int) -> Iterator[None]:
    """Run the body in the network namespace of process `pid`. Raises OSError if there is none or it is forbidden."""
    target = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _set_namespace(target)
            try:
                yield
            finally:
                _set_namespace(own)
        finally:
            os.close(own)
    finally:
        os.close(target)


def _set_namespace(descriptor: int) -> None:
    """os.setns exists from Python 3.12 on; before, the C library's."""
    if hasattr(os, "setns"):
        os.setns(descriptor, _CLONE_NEWNET)
    elif _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"setns: {os.strerror(number)}")
