# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Measures the processor time of a live run's processes between its start and its last flow."""

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
    """Processor time since the start of each process, summed by kind of process, and the time of the reading."""

    at_ns: int
    agents_ns: int
    agents: int
    switches_ns: int
    """The time of switches and of other processes that forward frames, such as wires that add delays."""
    runner_ns: int

    def since(self, before: ProcessorTime) -> ProcessorTime:
        """Return the processor time between two readings; `at_ns` becomes the wall time between them."""
        return ProcessorTime(
            self.at_ns - before.at_ns,
            self.agents_ns - before.agents_ns,
            self.agents,
            self.switches_ns - before.switches_ns,
            self.runner_ns - before.runner_ns,
        )


class Watch(Silent):
    """Progress that reads the processor time when all hosts are up and when all flows are done."""

    def __init__(self) -> None:
        self.before: ProcessorTime | None = None
        self.after: ProcessorTime | None = None

    def hosts_up(self, count: int, total: int) -> None:
        if count == total:
            self.before = processor_time()

    def flows_done(self, count: int, total: int) -> None:
        if count == total and self.after is None:
            self.after = processor_time()


def processor_time() -> ProcessorTime:
    """Return the processor time of this process and its children so far."""
    agents, switches = [], []
    for child in psutil.Process().children(recursive=True):
        try:
            words = child.cmdline()
            if _AGENT in words:
                agents.append(_of(child))
            elif any(mark in word for word in words for mark in _SWITCH):
                switches.append(_of(child))
        except psutil.NoSuchProcess:
            continue
    return ProcessorTime(time.monotonic_ns(), sum(agents), len(agents), sum(switches), _of(psutil.Process()))


def _of(process: psutil.Process) -> int:
    """Return a process's time in ns, from the scheduler's statistics, or else from ticks of 10 ms."""
    try:
        tasks = list(Path(f"/proc/{process.pid}/task").iterdir())
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)
    except (OSError, IndexError, ValueError):
        times = process.cpu_times()
        ticks_ns: int = round((times.user + times.system) * 1e9)
        return ticks_ns


def busy_cores(seconds: float) -> float:
    """Return how many cores the machine keeps busy while this process sleeps for some seconds."""
    share: float = psutil.cpu_percent(interval=seconds)
    return share / 100 * (os.cpu_count() or 1)
