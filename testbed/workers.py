# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A pool of processes for virtual runs that ends with the command: on Ctrl-C, on an error, and with kill -9."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from hosts.io.parent import die_with_parent


@contextmanager
def worker_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes of a fresh interpreter. If the body raises, waiting jobs are dropped and running ones asked to end.

    A run that is asked to end keeps what it measured; the pool is left once all have.
    """
    others = set(active_children())
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin, initargs=(os.getpid(),))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=True)


def _begin(parent: int) -> None:
    """A group of its own, so that Ctrl-C reaches the command alone, which passes it on once."""
    os.setpgrp()
    die_with_parent(signal.SIGKILL, parent)
