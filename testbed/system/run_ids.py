# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The name of a run in everything it makes, so that `clean` finds its remains and nothing else.

Every process of a run has `SFC_TESTBED_RUN=<run id>` in its environment (children inherit it), and every file outside
the run's folder lies in `STATE_ROOT/<run id>/`. Network namespaces are unnamed and die with their last process.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

RUN_VARIABLE = "SFC_TESTBED_RUN"
STATE_ROOT = Path("/run/sfc-testbed")
_OWNER_FILE = "owner"
_GONE = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


def is_alive(process: psutil.Process) -> bool:
    """Whether it still runs. A zombie does not; a later process of the same pid is another one."""
    try:
        return process.is_running() and process.status() not in _GONE
    except psutil.NoSuchProcess:
        return False


def new_run_id() -> str:
    """A name no other run has: seconds since the epoch and chance."""
    return f"{int(time.time()):x}-{secrets.token_hex(4)}"


def claim_state_directory(run_id: str) -> Path:
    """Makes the run's state folder (sockets, command files) and notes who owns it."""
    folder = STATE_ROOT / run_id
    folder.mkdir(parents=True, mode=0o755)
    (folder / _OWNER_FILE).write_text(f"{os.getpid()} {_started_ticks(psutil.Process())}\n")
    return folder


def owner_of(run_id: str) -> psutil.Process | None:
    """The living runner of a run, if its state folder still says so."""
    try:
        pid, ticks = (STATE_ROOT / run_id / _OWNER_FILE).read_text().split()
        owner = psutil.Process(int(pid))
        return owner if is_alive(owner) and _started_ticks(owner) == int(ticks) else None
    except (OSError, ValueError, psutil.NoSuchProcess):
        return None


def known_runs() -> Iterator[str]:
    """Run ids that have a state folder or a living process."""
    seen = set(_processes_by_run())
    if STATE_ROOT.is_dir():
        seen |= {entry.name for entry in STATE_ROOT.iterdir() if entry.is_dir()}
    yield from sorted(seen)


def processes_of(run_id: str) -> list[psutil.Process]:
    """Living processes that carry the run's id, this one left out."""
    return [process for process in _processes_by_run().get(run_id, []) if process.pid != os.getpid()]


def _processes_by_run() -> dict[str, list[psutil.Process]]:
    found: dict[str, list[psutil.Process]] = {}
    for process in psutil.process_iter(["environ"]):
        run_id = (process.info["environ"] or {}).get(RUN_VARIABLE)  # None for processes of other users
        if run_id is not None and is_alive(process):
            found.setdefault(run_id, []).append(process)
    return found


def _started_ticks(process: psutil.Process) -> int:
    """When it was started, in the kernel's ticks since boot: psutil says it by the wall clock, which may be set."""
    ticks: int = round((process.create_time() - psutil.boot_time()) * os.sysconf("SC_CLK_TCK"))
    return ticks
