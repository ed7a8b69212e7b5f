# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A switch of a session: commanded, stopped and started again, with what was changed at the prompt in it."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.errors import UsageError
from testbed.targets.common.counters import SwitchCounts
from testbed.targets.common.statistics import PartStatistics
from testbed.targets.common.target import RunningSwitch

_READING = ("show_", "table_dump", "table_info", "table_num_entries", "help", "get_", "statistics")
_READING_ENDS = ("_read", "_get", "_dump", "_get_rates")


class ControlledSwitch:
    """One switch, whether it runs or not. UsageError for what a stopped one cannot do."""

    def __init__(self, running: RunningSwitch) -> None:
        self.name = running.name
        self.is_up = True
        self._running = running
        self._changes: list[str] = []

    def command(self, line: str) -> str:
        """Executes a control command; one that changes something is done again when the switch is started again."""
        self._check_up()
        answer = self._running.command(line)
        name = line.partition(" ")[0]
        if not name.startswith(_READING) and not name.endswith(_READING_ENDS):
            self._changes.append(line)
        return answer

    def change(self, line: str) -> None:
        """Executes a command that a stopped switch is to know of as well when it starts again."""
        if self.is_up:
            self._running.command(line)
        self._changes.append(line)

    def counts(self) -> SwitchCounts:
        self._check_up()
        return self._running.counts()

    def queued_bytes(self) -> int:
        self._check_up()
        return self._running.queued_bytes()

    def statistics(self) -> PartStatistics:
        self._check_up()
        return self._running.statistics()

    @property
    def clock_lag_ns(self) -> int:
        return self._running.clock_lag_ns

    @property
    def changes(self) -> Sequence[str]:
        """Commands that changed it since the network came up."""
        return tuple(self._changes)

    def stop(self) -> None:
        """Ends it when a run is over; its queue samples are in their file by then."""
        self._check_up()
        self.is_up = False
        self._running.stop()

    def halt(self) -> None:
        """Ends its process with all it holds; its links stay."""
        self._check_up()
        self.is_up = False
        self._running.halt()

    def start_again(self) -> None:
        """A new process: empty, set up as at the beginning, then changed as it had been."""
        if self.is_up:
            raise UsageError(f"{self.name} runs already")
        self._running.start_again()
        self.is_up = True
        for line in self._changes:
            self._running.command(line)

    def _check_up(self) -> None:
        if not self.is_up:
            raise UsageError(f"{self.name} is stopped; `switch {self.name} start` starts it again")
