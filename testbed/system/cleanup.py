# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ends what a dead run left behind: its processes (and with them its namespaces and links) and its state folder."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import psutil

from testbed.system.run_ids import STATE_ROOT, is_alive, known_runs, owner_of, processes_of

_TERMINATE_SECONDS = 2.0
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What was done about one run."""

    run_id: str
    processes: int
    is_still_running: bool


def clean(run_ids: list[str] | None = None) -> list[Cleaned]:
    """Ends the remains of the named runs, or of all runs whose runner is gone. A living run is only ended by name."""
    results: list[Cleaned] = []
    for run_id in known_runs():
        if run_ids is not None and run_id not in run_ids:
            continue
        owner = owner_of(run_id)
        if owner is not None:
            if run_ids is None:
                results.append(Cleaned(run_id, 0, is_still_running=True))
                continue
            end_processes([owner])
        remains = processes_of(run_id)
        end_processes(remains)
        shutil.rmtree(STATE_ROOT / run_id, ignore_errors=True)
        results.append(Cleaned(run_id, len(remains), is_still_running=False))
    return results


def end_processes(processes: Sequence[psutil.Process]) -> None:
    """SIGTERM, then SIGKILL for those that stay; returns once all are gone.

    `psutil.wait_procs` would wait for zombies too, for ever where nobody reaps orphans (a container without an init).
    """
    _signal_all(processes, signal.SIGTERM)
    deadline = time.monotonic() + _TERMINATE_SECONDS
    while any(map(is_alive, processes)) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    _signal_all(processes, signal.SIGKILL)
    while any(map(is_alive, processes)):
        time.sleep(_POLL_SECONDS)


def _signal_all(processes: Sequence[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):  # said as well when its pid has another owner by now
            process.send_signal(number)
