# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Control of Python's garbage collection in imports, in planning and in virtual runs, and of freed memory.

Hardly any of their objects are dropped. With millions of flows and queue pairs, the search for reference cycles would
double the time of planning. Memory without cycles is freed as usual.
"""

from __future__ import annotations

import atexit
import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG_OBJECTS = 100_000
_NEVER = 2**30


class _Users:
    """The runs in this process that collect new objects only, and the thresholds from before the first of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.thresholds = gc.get_threshold()

    def begin(self) -> None:
        """Start anew in a forked process, in which no other thread runs."""
        self.lock = threading.Lock()


_USERS = _Users()
os.register_at_fork(after_in_child=_USERS.begin)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Suspend the search for reference cycles within the context."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def collect_new_objects_only() -> None:
    """Exclude existing objects from garbage collection, and search new objects once while they are young.

    The engine itself makes no reference cycles. A user's congestion control that makes some per packet does not fill
    the memory. At the end of the process nothing is searched, since all memory is freed anyway.
    """
    with _USERS.lock:
        if _USERS.count == 0:
            _USERS.thresholds = gc.get_threshold()
        _USERS.count += 1
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, _NEVER, _NEVER)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def collect_all_objects() -> None:
    """Restore garbage collection as it was before the first run of this process that has not ended."""
    with _USERS.lock:
        _USERS.count = max(0, _USERS.count - 1)
        if _USERS.count > 0:
            return
    gc.set_threshold(*_USERS.thresholds)
    gc.unfreeze()


def exclude_existing_objects() -> None:
    """Exclude existing objects from garbage collection.

    A search for cycles would take 50 ms, and any run leaves only a thousand small objects in cycles.
    """
    gc.freeze()


def return_freed_memory() -> None:
    """Return the memory that is free within the heap to the system.

    The C library keeps it otherwise, even after millions of messages. C libraries other than glibc have no such call.
    """
    import ctypes  # only runs that end need it

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
