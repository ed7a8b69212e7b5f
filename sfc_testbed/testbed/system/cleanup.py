# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Removes the remains of a dead run: processes with their namespaces and links, containers, and the state folder."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

import psutil

from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.system.containers import remove_containers
from sfc_testbed.testbed.system.run_ids import (
    is_alive,
    is_run_id,
    known_runs,
    owner_of,
    processes_of,
    remove_state_directory,
)

SAVE_SECONDS = 120.0
"""Time for a runner to save its measurements after SIGTERM. Seconds are usual; deep queues take longer."""
_TERMINATE_SECONDS = 2.0
_POLL_SECONDS = 0.02


class RunnerEnd(Enum):
    """The state of a run's runner after `clean`."""

    WAS_GONE = "was gone"
    LEFT_ALONE = "left alone"
    ENDED = "ended"
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The result of `clean` for one run."""

    run_id: str
    runner: RunnerEnd
    waited_s: float = 0.0
    """Time spent waiting for the runner to end."""
    processes: int = 0
    """Number of other processes that were ended."""


def clean(
    run_ids: Sequence[str] | None = None, *, before_waiting: Callable[[str, float], None] = lambda run_id, seconds: None
) -> list[Cleaned]:
    """Remove the remains of the named runs, or of all runs whose runner is gone. A live run is only ended by name.

    The runner of a live run gets SIGTERM and time to save. `before_waiting` is called with the run ID and that time in
    seconds. Raise UsageError for an unknown name before anything is done.
    """
    existing = known_runs()
    for name in run_ids or ():
        if not is_run_id(name):
            raise UsageError(f"not a run ID: {name!a}")
        if name not in existing:
            raise UsageError(f"unknown run {name}")
    return [
        _clean_run(run_id, run_ids is not None, before_waiting)
        for run_id in existing
        if run_ids is None or run_id in run_ids
    ]


def end_processes(processes: Sequence[psutil.Process]) -> None:
    """End processes with SIGTERM, then SIGKILL, and return once all are gone."""
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
    with suppress(FileNotFoundError):  # a runner that ended normally has removed the folder
        remove_state_directory(run_id)
    return Cleaned(run_id, end, waited_s, ended)


def _end_processes_of(run_id: str) -> int:
    """End the processes of a run and return their number.

    The search is repeated until it finds none. A process shows no environment during exec, and it may start others
    before it ends.
    """
    ended = 0
    while processes := processes_of(run_id):
        end_processes(processes)
        ended += len(processes)
    return ended


def _end_runner(owner: psutil.Process) -> RunnerEnd:
    """Send one SIGTERM, which asks the runner to save and end. A second would make it drop its measurements."""
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
    """Wait for processes to end and return whether all have.

    `psutil.wait_procs` also waits for zombies, which never go away in a container without an init process.
    """
    deadline = time.monotonic() + seconds
    while any(map(is_alive, processes)):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _signal_all(processes: Sequence[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):  # also raised if the PID has been reused
            process.send_signal(number)
