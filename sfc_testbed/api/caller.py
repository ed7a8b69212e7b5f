# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Leaves the caller's process as it was: signal handlers and garbage collection. Says what this process cannot do."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sfc_testbed.testbed.errors import UsageError

_HANDLED = (signal.SIGINT, signal.SIGTERM)


class _Calls:
    """The calls that are under way in this process, in any thread."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start anew, as in a forked process, in which no other thread runs."""
        self.lock = threading.Lock()
        self.live = threading.Lock()
        self.count = 0
        self.had_frozen_objects = False


_CALLS = _Calls()
os.register_at_fork(after_in_child=_CALLS.begin)


@contextmanager
def unchanged_process() -> Iterator[None]:
    """Restore the caller's signal handlers and its garbage collection after the body."""
    handlers = _handlers()
    with _CALLS.lock:
        _CALLS.count += 1
        if _CALLS.count == 1:
            _CALLS.had_frozen_objects = gc.get_freeze_count() > 0
    try:
        yield
    finally:
        with _CALLS.lock:
            _CALLS.count = max(0, _CALLS.count - 1)
            if _CALLS.count == 0 and not _CALLS.had_frozen_objects:
                gc.unfreeze()
        for number, handler in handlers.items():
            if signal.getsignal(number) is not handler:  # polars, when it is loaded, replaces the one of SIGINT
                signal.signal(number, handler)


def _handlers() -> dict[signal.Signals, Any]:
    """Return the handlers that this thread may set: none outside the main thread, none that Python did not install."""
    if not is_main_thread():
        return {}
    return {number: handler for number in _HANDLED if (handler := signal.getsignal(number)) is not None}


def is_main_thread() -> bool:
    """Whether this is the main thread, which alone can handle signals and draw on the terminal."""
    return threading.current_thread() is threading.main_thread()


@contextmanager
def only_live_network() -> Iterator[None]:
    """Hold the place of the one live network of this process. UsageError if there is another one."""
    if not _CALLS.live.acquire(blocking=False):
        raise UsageError(
            "a live network is already up in this process: close it first, or start the other in a process of its own"
        )
    held = _CALLS.live
    try:
        yield
    finally:
        held.release()


def own_workers(workers: int | None) -> int | None:
    """Return the number of processes for a virtual run of this process; None for the fastest.

    A process with several threads should not fork, because a fork copies the locks that other threads hold, and a
    daemonic process of `multiprocessing` must not. Such a process runs alone unless the caller asks for more.
    """
    is_daemon = multiprocessing.current_process().daemon
    if workers is None:
        return 1 if is_daemon or threading.active_count() > 1 else None
    if workers > 1 and is_daemon:
        raise UsageError("--workers: a daemonic process of multiprocessing cannot have children; use workers=1")
    return workers
