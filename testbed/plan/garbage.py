# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Millions of flows, messages and queue pairs are made and hardly one is dropped: Python's search for circles of
references among them would take as long again. Memory without circles is freed as ever."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = gc.get_threshold()
_YOUNG_OBJECTS = 100_000
_NEVER = 2**30


@contextmanager
def no_garbage_searched() -> Iterator[None]:
    """Circles wait until the end."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def search_new_objects_only() -> None:
    """What is there stays, and what is made is searched once, while it is young. No engine of ours makes circles; a
    congestion control of somebody else's that makes them with every packet does not fill the memory.

    Nor is anything searched when the process ends, which gives all of it back at once.
    """
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, _NEVER, _NEVER)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def search_all_objects() -> None:
    """As before."""
    gc.set_threshold(*_THRESHOLDS)
    gc.unfreeze()
