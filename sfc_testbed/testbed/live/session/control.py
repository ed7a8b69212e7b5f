# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A switch of a session: executes commands, stops, and starts again with the changes that were made at the prompt."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from sfc_testbed.testbed.control_plane.entries import Command
from sfc_testbed.testbed.errors import RunError, UsageError
from sfc_testbed.testbed.targets.common.counters import SwitchCounts
from sfc_testbed.testbed.targets.common.statistics import PartStatistics
from sfc_testbed.testbed.targets.common.target import RunningSwitch

_READ_PREFIXES = ("show_", "table_dump", "table_info", "table_num_entries", "help", "get_", "statistics")
_READ_SUFFIXES = ("_read", "_get", "_dump", "_get_rates")

_Answer = TypeVar("_Answer")


class SwitchEnded(RunError):
    """A switch's process has ended by itself, for instance because it was killed or crashed."""

    def __init__(self, switch: str, reason: str) -> None:
        super().__init__(reason)
        self.switch = switch


class ControlledSwitch:
    """A switch that may be running or stopped.

    Its methods raise UsageError if the switch is stopped, and SwitchEnded if its process has ended by itself.
    """

    def __init__(self, running: RunningSwitch) -> None:
        self.name = running.name
        self.started_ns = 0
        """The time of the latest start at the prompt (CLOCK_MONOTONIC), where its counters begin; 0 if none."""
        self._running = running
        self._is_halted = False
        self._changes: list[Command | str] = []
        """The commands that changed the switch since the network came up."""

    @property
    def is_up(self) -> bool:
        """Whether the switch's process runs."""
        return not self._is_halted and not self._running.has_ended

    @property
    def state(self) -> str:
        """Whether the switch runs and if not, why, as one line."""
        if self._is_halted:
            return f"{self.name} is stopped"
        return self._running.obituary() if self._running.has_ended else f"{self.name} runs"

    def command(self, line: Command | str) -> str:
        """Execute a control command; a command that changes something is repeated when the switch is started again."""
        answer = self._ask(lambda: self._running.command(line))
        name = str(line).partition(" ")[0]
        if not name.startswith(_READ_PREFIXES) and not name.endswith(_READ_SUFFIXES):
            self._changes.append(line)
        return answer

    def change(self, line: Command | str) -> None:
        """Execute a command now, or when the switch starts again if the switch is down."""
        if self.is_up:
            self._running.command(line)
        self._changes.append(line)

    def counts(self) -> SwitchCounts:
        return self._ask(self._running.counts)

    def queued_bytes(self) -> int:
        return self._ask(self._running.queued_bytes)

    def statistics(self) -> PartStatistics:
        return self._ask(self._running.statistics)

    @property
    def clock_lag_ns(self) -> int:
        return self._running.clock_lag_ns

    @property
    def has_ended(self) -> bool:
        return self._running.has_ended

    def obituary(self) -> str:
        return self._running.obituary()

    def stop(self) -> None:
        """End the switch's process at the end of a run; its queue samples are then complete in their file."""
        self._check_started()
        self._is_halted = True
        self._running.stop()

    def halt(self) -> None:
        """Kill the switch's process and lose its packets; its links stay."""
        self._check_started()
        self._is_halted = True
        self._running.halt()

    def start_again(self, changes: Sequence[Command | str] = ()) -> None:
        """Start a new process with empty queues and the initial settings; repeat the changes made at the prompt."""
        if self.is_up:
            raise UsageError(f"{self.name} runs already; `switch {self.name} reboot` stops it and starts it again")
        if not self._is_halted:
            self._is_halted = True
            self._running.halt()  # the process has ended, but its connection and files are still open
        try:
            self._running.start_again([*self._changes, *changes])
        except BaseException:
            self._running.halt()
            raise
        self._is_halted = False
        self.started_ns = time.monotonic_ns()

    def _ask(self, question: Callable[[], _Answer]) -> _Answer:
        self._check_started()
        try:
            return question()
        except (RunError, OSError) as error:
            if not self._running.has_ended:
                raise
            raise SwitchEnded(self.name, self._running.obituary()) from error

    def _check_started(self) -> None:
        if self._is_halted:
            raise UsageError(f"{self.name} is stopped; `switch {self.name} start` starts it again")
