# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Control of Python's garbage collection in imports, in planning and in virtual runs, and of freed memory.

Hardly any of their objects are dropped. With millions of flows and queue pairs, the search for reference cycles would
double the time of planning. Memory without cycles is freed as usual.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = gc.get_threshold()
_YOUNG_OBJECTS = 100_000
_NEVER = 2**30


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
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, _NEVER, _NEVER)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def collect_all_objects() -> None:
    """Restore normal garbage collection."""
    gc.set_threshold(*_THRESHOLDS)
    gc.unfreeze()


def return_freed_memory() -> None:
    """Return the memory that is free within the heap to the system, and exclude all objects from garbage collection.

    The C library keeps free memory otherwise, even after millions of messages. C libraries other than glibc have no
    such call. A search for cycles would take 50 ms, and any run leaves only a thousand small objects in cycles.
    """
    import ctypes  # only virtual runs that end need it

    gc.freeze()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
