# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How much processor time the parts of a live run take between its start and its last flow."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from testbed.recording.outcome import Silent

_AGENT = "hosts.agent"
_SWITCH = ("--die-with-parent", "simple_switch")


@dataclass(frozen=True, slots=True)
class ProcessorTime:
    """Taken since each process began, all of a kind together, and when that was so."""

    at_ns: int
    agents_ns: int
    agents: int
    switches_ns: int
    """With what else forwards frames, such as the wires of a target whose ports do not delay."""
    runner_ns: int

    def since(self, before: ProcessorTime) -> ProcessorTime:
        """What was taken between the two; `at_ns` is how long that was."""
        return ProcessorTime(
            self.at_ns - before.at_ns,
            self.agents_ns - before.agents_ns,
            self.agents,
            self.switches_ns - before.switches_ns,
            self.runner_ns - before.runner_ns,
        )


class Watch(Silent):
    """Progress that looks at the children of this process when all hosts are up and when all flows are done."""

    def __init__(self) -> None:
        self.before: ProcessorTime | None = None
        self.after: ProcessorTime | None = None

    def hosts_up(self, count: int, total: int) -> None:
        if count == total:
            self.before = taken()

    def flows_done(self, count: int, total: int) -> None:
        if count == total and self.after is None:
            self.after = taken()


def taken() -> ProcessorTime:
    """By this process and its children so far."""
    agents, switches = [], []
    for child in psutil.Process().children(recursive=True):
        try:
            words = child.cmdline()
            if _AGENT in words:
                agents.append(_of(child))
            elif any(each in word for word in words for each in _SWITCH):
                switches.append(_of(child))
        except psutil.NoSuchProcess:
            continue
    return ProcessorTime(time.monotonic_ns(), sum(agents), len(agents), sum(switches), _of(psutil.Process()))


def _of(process: psutil.Process) -> int:
    """In ns; the kernel counts them where it has scheduler statistics, else ticks of 10 ms."""
    try:
        tasks = list(Path(f"/proc/{process.pid}/task").iterdir())
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)
    except (OSError, IndexError, ValueError):
        times = process.cpu_times()
        ticks_ns: int = round((times.user + times.system) * 1e9)
        return ticks_ns


def busy_cores(seconds: float) -> float:
    """How many cores' worth of work the machine does while this process sleeps."""
    share: float = psutil.cpu_percent(interval=seconds)
    return share / 100 * (os.cpu_count() or 1)
