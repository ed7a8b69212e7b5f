# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Executes tasks on this machine, several in parallel."""

from __future__ import annotations

import resource
from collections.abc import Collection, Mapping, Sequence

from os_helpers.waiting import readable
from sfc_testbed.place import neutral_folder
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.jobs.process import TaskProcess
from sfc_testbed.testbed.jobs.task import SERVE, Shares, Take, Task, TaskEnd, ignore
from sfc_testbed.testbed.system.limits import cores, free_memory_bytes, raise_open_files

_POLL_S = 0.2
_SPARE_DESCRIPTORS = 40
_DESCRIPTORS_PER_TASK = 3
"""The pipes or files for input, answer and errors."""
_MEMORY_SHARE = 0.8
"""The share of the machine's free memory that running tasks may be expected to need."""


class LocalExecutor:
    """An executor with a fixed number of concurrent tasks. It starts a task only when there is memory for it, too."""

    def __init__(self, workers: int | None = None) -> None:
        self.parallel = workers or cores()

    def run(
        self,
        tasks: Sequence[Task],
        take: Take,
        interrupt: Interrupt,
        shares: Shares = ignore,
        *,
        one_at_a_time: bool = False,
    ) -> None:
        limit = 1 if one_at_a_time else self.parallel
        parallel = min(limit, len(tasks))
        raise_open_files(_SPARE_DESCRIPTORS + _DESCRIPTORS_PER_TASK * parallel, f"running {parallel} tasks in parallel")
        room_bytes = _MEMORY_SHARE * free_memory_bytes()
        waiting = dict(enumerate(tasks))
        running: dict[TaskProcess, int] = {}
        free: list[TaskProcess] = []
        try:
            while running or (waiting and not interrupt.is_requested):
                while waiting and len(running) < limit and not interrupt.is_requested:
                    chosen = _fitting(waiting, [tasks[number] for number in running.values()], room_bytes)
                    if chosen is None:
                        break
                    running[_started(waiting.pop(chosen), free)] = chosen
                if interrupt.is_requested:
                    _stop(running, tasks, interrupt)
                readable(running, _POLL_S)
                done = [process for process in running if process.is_done()]
                shares({number: process.share for process, number in running.items()})
                for process in done:
                    number, end = running.pop(process), TaskEnd(*process.end())
                    if process.is_free:
                        free.append(process)
                    take(number, end)
        finally:
            for server in free:
                server.dismiss()
            for process in running:
                process.kill()
                process.end()


def _fitting(waiting: Mapping[int, Task], running: Collection[Task], room_bytes: float) -> int | None:
    """Return the first task that fits into memory beside the running ones; any task fits alone."""
    used_bytes = sum(task.memory_bytes for task in running)
    fitting = (number for number, task in waiting.items() if used_bytes + task.memory_bytes <= room_bytes)
    return next(fitting, None if running else next(iter(waiting)))


def _stop(running: Mapping[TaskProcess, int], tasks: Sequence[Task], interrupt: Interrupt) -> None:
    for process, number in running.items():
        if tasks[number].is_resumable:
            process.kill()
        else:
            process.request_stop(is_urgent=interrupt.is_urgent)


def _started(task: Task, free: list[TaskProcess]) -> TaskProcess:
    """Start a task and return its process: a free serving process if the task may share one, else a new process."""
    if not task.is_served or _has_limited_time():
        return TaskProcess(task.words, task.payload(), str(neutral_folder()))
    words = (*task.words, SERVE)
    while free:
        server = free.pop()
        if server.is_free and server.words == words:
            break
        server.dismiss()
    else:
        server = TaskProcess(words, None, str(neutral_folder()))
    server.give(task.payload())
    return server


def _has_limited_time() -> bool:
    """Return whether processor time is limited. The limit is meant for one task, so processes are not shared."""
    return any(limit != resource.RLIM_INFINITY for limit in resource.getrlimit(resource.RLIMIT_CPU))
