# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A pool of processes for virtual runs that ends with the command: on Ctrl-C, on an error, and with kill -9."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess

from hosts.io.parent import die_with_parent

_PATIENCE_S = 15


@contextmanager
def worker_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes of a fresh interpreter. If the body raises, waiting jobs are dropped and running ones asked to end.

    A run that is asked to end keeps what it measured; one that has not ended after a while is killed. The pool is left
    once all have.
    """
    others = set(active_children())
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin, initargs=(os.getpid(),))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        _end(set(active_children()) - others)
        raise
    finally:
        pool.shutdown(wait=True)


def _end(children: Collection[BaseProcess]) -> None:
    """A worker that dies while it hands over a result leaves a lock behind, on which another would wait for ever."""
    for child in children:
        child.terminate()
    deadline = time.monotonic() + _PATIENCE_S
    for child in children:
        child.join(max(0.0, deadline - time.monotonic()))
        if child.is_alive():
            child.kill()


def _begin(parent: int) -> None:
    """A group of its own, so that Ctrl-C reaches the command alone, which passes it on once."""
    os.setpgrp()
    die_with_parent(signal.SIGKILL, parent)
