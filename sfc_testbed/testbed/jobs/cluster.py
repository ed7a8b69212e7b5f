# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Executes tasks on an existing Dask scheduler.

Tasks are sent as command lines, so the scheduler and workers do not import the testbed. Each worker's machine needs an
installed copy of this tree at the same path and the result folders on a shared file system.
"""

from __future__ import annotations

import logging
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from ssl import SSLError
from typing import Any

import cloudpickle
from distributed import Client, Event, Future, get_worker
from distributed.comm.core import CommClosedError

from os_helpers import child, waiting
from sfc_testbed.place import neutral_folder
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.jobs import process
from sfc_testbed.testbed.jobs.process import run_watched
from sfc_testbed.testbed.jobs.task import Shares, Take, Task, TaskEnd, ignore

_ANSWER_S = 10
"""Time for the scheduler to answer, and time for it to have a worker."""
_POLL_S = 0.5
_TLS = "tls://"
_TLS_ERRORS = (CommClosedError, SSLError, FileNotFoundError, PermissionError)
"""Errors of certificates that do not match, cannot be parsed or are missing."""
_HOW = "docs/security.md says how to configure it"

# Pickle the functions for workers by value, because these modules are not on a worker's import path.
for _module in (child, waiting, process, sys.modules[__name__]):
    cloudpickle.register_pickle_by_value(_module)


class ClusterExecutor:
    """An executor with as many concurrent tasks as the cluster has threads."""

    def __init__(self, scheduler: str) -> None:
        self._scheduler = scheduler

    @cached_property
    def parallel(self) -> int:
        """The number of threads of all workers at the first call."""
        with _client(self._scheduler) as client:
            return sum(client.nthreads().values())

    def run(
        self,
        tasks: Sequence[Task],
        take: Take,
        interrupt: Interrupt,
        shares: Shares = ignore,
        *,
        one_at_a_time: bool = False,
    ) -> None:
        """Run tasks. Raise UsageError without the scheduler or a worker.

        `one_at_a_time` is ignored: a live run takes a lock on its machine itself. The memory of a task and the shares
        of running tasks are ignored, too: the workers are on other machines.
        """
        with _client(self._scheduler) as client:
            name = f"sfc-testbed-{secrets.token_hex(8)}"
            stop = Event(name, client=client)
            futures = {_submit(client, task, name, number): number for number, task in enumerate(tasks)}
            while futures:
                interrupt.stop_if_urgent()
                if interrupt.is_requested:
                    with suppress(OSError):  # if the scheduler is gone, all tasks are cancelled
                        stop.set()
                time.sleep(_POLL_S)
                for future in [pending for pending in futures if pending.done()]:
                    take(futures.pop(future), _end_of(future))


def _submit(client: Client, task: Task, name: str, number: int) -> Future[Any]:
    key = f"{name}-{number}"
    words, payload, folder = task.words, task.payload(), str(neutral_folder())
    # A lambda, because Dask would send a module's function by the module's name.
    return client.submit(lambda: run_watched(words, payload, folder, _watch(name, key)), key=key, pure=False)


def _watch(name: str, key: str) -> Callable[[], bool]:
    """Return a function that tells on a worker whether its task is still wanted: no Ctrl-C, and a connected client."""
    stop = Event(name)
    tasks = get_worker().state.tasks

    def is_wanted() -> bool:
        task = tasks.get(key)
        return task is not None and task.state == "executing" and not stop.is_set()

    return is_wanted


def _end_of(future: Future[Any]) -> TaskEnd:
    if future.cancelled():
        return TaskEnd(1, "", "the connection to the scheduler was lost", was_stopped=False)
    error = future.exception()
    if error is not None:
        return TaskEnd(1, "", f"not started by its worker: {error}", was_stopped=False)
    return TaskEnd(*future.result())


def _why_not(scheduler: str, error: Exception) -> str:
    """Return why there is no connection to a scheduler, as a phrase."""
    if isinstance(error, RuntimeError):  # for example, Dask is configured to refuse addresses without TLS
        return str(error)
    if scheduler.startswith(_TLS) and isinstance(error, TypeError):
        return f"Dask has no certificate for TLS; {_HOW}"
    if scheduler.startswith(_TLS) and isinstance(error, _TLS_ERRORS):
        return f"TLS failed ({str(error).splitlines()[0]}); {_HOW}"
    return "no Dask scheduler answers there"


@contextmanager
def _client(scheduler: str) -> Iterator[Client]:
    """Yield a client that uses TLS as configured in Dask. Raise UsageError without a scheduler or a worker."""
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # the command reports errors, once
    try:
        client = Client(scheduler, timeout=_ANSWER_S)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise UsageError(f"--scheduler {scheduler}: {_why_not(scheduler, error)}") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_ANSWER_S)
        except TimeoutError as error:
            raise UsageError(f"--scheduler {scheduler}: it has no worker") from error
        yield client
