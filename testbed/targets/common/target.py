# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a live run wants of whatever forwards its packets: the interface of switch targets (`testbed.targets.table`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from testbed.plan.plan import RunPlan
from testbed.targets.common.counters import SwitchCounts
from testbed.targets.common.statistics import PartStatistics
from testbed.targets.common.wires import Wire


class LiveNodes(Protocol):
    """The nodes of a live network, as far as a target asks something of them."""

    def shell(self, node: str, script: str) -> str:
        """What a script prints in the namespace of a node."""

    def checkpoint(self) -> None:
        """KeyboardInterrupt if somebody would not wait until all is up."""


class RunningSwitch(Protocol):
    """One switch that forwards."""

    name: str

    @property
    def clock_lag_ns(self) -> int:
        """What to add to the program's time stamps to get ns since the run's epoch."""

    @property
    def has_ended(self) -> bool:
        """Whether its process has ended, for any reason."""

    def obituary(self) -> str:
        """Return how its process ended and what the process said last, as one line."""

    def command(self, line: str) -> str:
        """Executes a control command. CommandError when refused, RunError when the switch is gone."""

    def counts(self) -> SwitchCounts:
        """What the P4 program counted."""

    def queued_bytes(self) -> int:
        """Bytes that wait in its queues."""

    def statistics(self) -> PartStatistics:
        """What the target counts and measures."""

    def stop(self) -> None:
        """Ends it. Its queue samples, in wall ns since the run's epoch, are in their file (`samples_file`) by then."""

    def halt(self) -> None:
        """Ends it with all that it holds; `start_again` takes it from there."""

    def start_again(self) -> None:
        """Start a new process in its place, set up as at the beginning; only after `stop` or `halt`."""


class Target(Protocol):
    """All switches of one run. Made before the network is, started in it, stopped before it goes."""

    wires: Sequence[Wire]
    """Links that must be cut, since something of the target's stands between their ends."""

    def __init__(self, plan: RunPlan, state: Path, logs: Path) -> None:
        """Prepares what can be without a network. RunError if this machine cannot."""

    def start(self, network: LiveNodes, epoch_ns: int) -> Sequence[RunningSwitch]:
        """Starts a switch for each of the topology's; returns once all forward."""

    def plan(self, switch: str, at_ns: int, line: str) -> None:
        """Has a command done to a switch so many wall ns after the run's epoch: one of `testbed.faults.timeline`."""

    def other_parts(self) -> Sequence[PartStatistics]:
        """What else stands on the packets' way."""

    def troubles(self) -> Sequence[str]:
        """What of it has ended by itself or does not do its work any more, a line each. Asked often."""

    def notes(self) -> Sequence[str]:
        """What a reader of the result must know about this target, a sentence each."""

    def stop(self) -> None:
        """Ends everything that still runs."""
