# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The interface that a live run requires of a switch target (`testbed.targets.table`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from sfc_testbed.testbed.control_plane.entries import Command
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.targets.common.counters import SwitchCounts
from sfc_testbed.testbed.targets.common.statistics import PartStatistics
from sfc_testbed.testbed.targets.common.wires import Wire


class LiveNodes(Protocol):
    """The operations on the nodes of a live network that targets use."""

    def shell(self, node: str, script: str) -> str:
        """Run a shell script in the namespace of a node and return its output."""

    def checkpoint(self) -> None:
        """Raise KeyboardInterrupt if the user interrupted the start."""


class RunningSwitch(Protocol):
    """A running switch."""

    name: str

    @property
    def clock_lag_ns(self) -> int:
        """The offset from the P4 program's time stamps to ns since the run's epoch."""

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended, for any reason."""

    def obituary(self) -> str:
        """Return how the process ended and its last line of output, as one line."""

    def command(self, line: Command | str) -> str:
        """Execute a control command and return its answer.

        CommandError when refused, RunError when the switch is gone.
        """

    def counts(self) -> SwitchCounts:
        """Return the counts of the P4 program."""

    def queued_bytes(self) -> int:
        """Return the number of bytes in the queues."""

    def statistics(self) -> PartStatistics:
        """Return the statistics that the target itself keeps."""

    def stop(self) -> object:
        """End the switch.

        Its file of queue samples (`samples_file`) is complete afterwards, in wall ns since the epoch.
        """

    def halt(self) -> None:
        """End the switch and discard its queued frames. `start_again` starts a new process."""

    def start_again(self, changes: Sequence[Command | str]) -> None:
        """Start a new process for the switch, configured as at the beginning, and repeat changes that were made since.

        Call this only after `stop` or `halt`.
        """


class Target(Protocol):
    """All switches of one run. Created before the network, started in it and stopped before it is removed."""

    wires: Sequence[Wire]
    """Links that the network must cut in two, because a process of the target forwards between their ends."""

    def __init__(self, plan: RunPlan, state: Path, logs: Path) -> None:
        """Prepare everything that needs no network. Raise RunError if this machine cannot run the target."""

    def start(self, network: LiveNodes, epoch_ns: int) -> Sequence[RunningSwitch]:
        """Start all switches of the topology and return once all of them forward."""

    def plan(self, switch: str, at_ns: int, line: str) -> None:
        """Schedule a command of `testbed.control_plane.faults` for a switch, at wall ns after the run's epoch."""

    def other_parts(self) -> Sequence[PartStatistics]:
        """Return the statistics of the other processes that packets pass."""

    def troubles(self) -> Sequence[str]:
        """Return one line for each part that has ended by itself or no longer works.

        Called several times per second.
        """

    def notes(self) -> Sequence[str]:
        """Return the limitations of this target that a reader of the result must know, one sentence each."""

    def stop(self) -> None:
        """End all processes that still run."""
