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
from dataclasses import dataclass
from pathlib import Path

RUN_VARIABLE = "SFC_TESTBED_RUN"
STATE_ROOT = Path("/run/sfc-testbed")
_OWNER_FILE = "owner"


@dataclass(frozen=True, slots=True)
class Process:
    """A process that cannot be confused with a later one of the same pid: start time in clock ticks since boot."""

    pid: int
    started: int

    @classmethod
    def find(cls, pid: int) -> Process | None:
        """The process that has this pid now."""
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return None
        fields = stat.rpartition(")")[2].split()
        return None if fields[0] in "ZX" else cls(pid, int(fields[19]))

    def is_alive(self) -> bool:
        return Process.find(self.pid) == self


def new_run_id() -> str:
    """A name no other run has: seconds since the epoch and chance."""
    return f"{int(time.time()):x}-{secrets.token_hex(4)}"


def claim_state_directory(run_id: str) -> Path:
    """Makes the run's state folder (sockets, command files) and notes who owns it."""
    folder = STATE_ROOT / run_id
    folder.mkdir(parents=True, mode=0o755)
    owner = Process.find(os.getpid())
    assert owner is not None
    (folder / _OWNER_FILE).write_text(f"{owner.pid} {owner.started}\n")
    return folder


def owner_of(run_id: str) -> Process | None:
    """The runner of a run, if its state folder still says so."""
    try:
        pid, started = (STATE_ROOT / run_id / _OWNER_FILE).read_text().split()
        return Process(int(pid), int(started))
    except (OSError, ValueError):
        return None


def known_runs() -> Iterator[str]:
    """Run ids that have a state folder or a living process."""
    seen = set(_processes_by_run())
    if STATE_ROOT.is_dir():
        seen |= {entry.name for entry in STATE_ROOT.iterdir() if entry.is_dir()}
    yield from sorted(seen)


def processes_of(run_id: str) -> list[Process]:
    """Living processes that carry the run's id, this one left out."""
    return [process for process in _processes_by_run().get(run_id, []) if process.pid != os.getpid()]


def _processes_by_run() -> dict[str, list[Process]]:
    marker = f"{RUN_VARIABLE}=".encode()
    found: dict[str, list[Process]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        values = [item.removeprefix(marker) for item in environment if item.startswith(marker)]
        process = Process.find(int(entry.name)) if values else None
        if process is not None:
            found.setdefault(values[0].decode(), []).append(process)
    return found
