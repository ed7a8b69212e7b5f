# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ends what a dead run left behind: processes (and with them namespaces and links), containers, its state folder."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

import psutil

from testbed.errors import UsageError
from testbed.system.containers import remove_containers
from testbed.system.run_ids import (
    is_alive,
    is_run_id,
    known_runs,
    owner_of,
    processes_of,
    remove_state_directory,
)

SAVE_SECONDS = 120.0
"""How long a runner that was asked to end may take to save what it measured; seconds are usual, queues may be deep."""
_TERMINATE_SECONDS = 2.0
_POLL_SECONDS = 0.02


class RunnerEnd(Enum):
    """What became of a run's runner."""

    WAS_GONE = "was gone"
    LEFT_ALONE = "left alone"
    ENDED = "ended"
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What was done about one run."""

    run_id: str
    runner: RunnerEnd
    waited_s: float = 0.0
    """For the runner to end."""
    processes: int = 0
    """That were ended beside it."""


def clean(
    run_ids: Sequence[str] | None = None, *, before_waiting: Callable[[str, float], None] = lambda run_id, seconds: None
) -> list[Cleaned]:
    """Ends the remains of the named runs, or of all runs whose runner is gone. A living run is only ended by name.

    Its runner is asked first. `before_waiting` hears for which run, and how long at most. UsageError for a name that is
    no run's; nothing has then been done.
    """
    known = known_runs()
    for name in run_ids or ():
        if not is_run_id(name):
            raise UsageError(f"no run id: {name!a}")
        if name not in known:
            raise UsageError(f"there is no run {name}")
    return [
        _clean_run(run_id, run_ids is not None, before_waiting)
        for run_id in known
        if run_ids is None or run_id in run_ids
    ]


def end_processes(processes: Sequence[psutil.Process]) -> None:
    """SIGTERM, then SIGKILL for those that stay; returns once all are gone."""
    _signal_all(processes, signal.SIGTERM)
    if not _are_gone_within(processes, _TERMINATE_SECONDS):
        _kill(processes)


def _clean_run(run_id: str, is_named: bool, before_waiting: Callable[[str, float], None]) -> Cleaned:
    owner = owner_of(run_id)
    end, waited_s = RunnerEnd.WAS_GONE, 0.0
    if owner is not None:
        if not is_named:
            return Cleaned(run_id, RunnerEnd.LEFT_ALONE)
        before_waiting(run_id, SAVE_SECONDS)
        began_s = time.monotonic()
        end = _end_runner(owner)
        waited_s = time.monotonic() - began_s
    ended = _end_processes_of(run_id)
    remove_containers(run_id)
    with suppress(FileNotFoundError):  # a runner that ended by itself has removed it
        remove_state_directory(run_id)
    return Cleaned(run_id, end, waited_s, ended)


def _end_processes_of(run_id: str) -> int:
    """How many. Until a look finds none: a process shows no environment while it becomes another program, and may start
    others until it has ended."""
    ended = 0
    while processes := processes_of(run_id):
        end_processes(processes)
        ended += len(processes)
    return ended


def _end_runner(owner: psutil.Process) -> RunnerEnd:
    """One SIGTERM asks it to save and to end; a second would make it drop what it measured."""
    _signal_all([owner], signal.SIGTERM)
    if _are_gone_within([owner], SAVE_SECONDS):
        return RunnerEnd.ENDED
    _kill([owner])
    return RunnerEnd.KILLED


def _kill(processes: Sequence[psutil.Process]) -> None:
    _signal_all(processes, signal.SIGKILL)
    while any(map(is_alive, processes)):
        time.sleep(_POLL_SECONDS)


def _are_gone_within(processes: Sequence[psutil.Process], seconds: float) -> bool:
    """`psutil.wait_procs` would wait for zombies too, for ever where nobody reaps orphans (no init in a container)."""
    deadline = time.monotonic() + seconds
    while any(map(is_alive, processes)):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _signal_all(processes: Sequence[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):  # said as well when its pid has another owner by now
            process.send_signal(number)
