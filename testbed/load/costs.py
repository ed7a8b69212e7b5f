# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a live run costs this machine: processor time by rate of frames, and how late sleepers wake.

A process that serves r frames a second takes `fixed_share + frame_ns * r` of a core, at most `lone_frame_ns * r`. The
fixed part is that of waking: a frame that comes alone wakes a process several times for itself, while of many that come
together each wakes it less (softswitch lets them gather, agents find more than one per turn).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProcessCost:
    """Of one process, in wall ns and shares of a core."""

    frame_ns: float
    """Of one frame among many."""
    lone_frame_ns: float
    """Of one that comes alone."""
    fixed_share: float
    """What it takes of a core, besides, while frames come one after the other."""

    def times(self, factor: float) -> ProcessCost:
        """The same where each frame takes so many times as long."""
        return ProcessCost(self.frame_ns * factor, self.lone_frame_ns * factor, self.fixed_share)


@dataclass(frozen=True, slots=True)
class Wakeups:
    """By how much sleepers wake too late, in wall ns."""

    p50_ns: float
    p99_ns: float
    max_ns: float


@dataclass(frozen=True, slots=True)
class MessageCost:
    """Of one message besides its frames, in wall ns."""

    agent_ns: float
    """Of an agent for each end of it: its queue pair, its timers, its records."""
    runner_ns: float
    """Of the runner, which takes its records."""


@dataclass(frozen=True)
class Costs:
    """The figures of a machine that a prediction uses."""

    capacity_cores: float
    """Processor time that processes get together, in cores: less than the number of cores under a quota."""
    agent: ProcessCost
    """A frame is an end of a data packet here: one sent or one received, with its acknowledgment."""
    message: MessageCost
    switches: Mapping[str, ProcessCost]
    """By target that was measured; of a switch's process, for each frame that it forwards."""
    telemetry_agent: float
    """How many times as long a data packet takes in an agent where switches write telemetry into it."""
    telemetry_switch: float
    runner_share: float
    """What the runner takes of a core while it watches."""
    wakeups: Mapping[str, Wakeups]
    """Of agents and switches, which the kernel schedules in different ways."""
    measured: str | None = None
    """The day on which this machine was measured, and how; None: the figures are built in, meant to be too large."""

    @property
    def latest_wakeup_ns(self) -> float:
        """P99 of the later of those who sleep."""
        return max((each.p99_ns for each in self.wakeups.values()), default=0.0)


def built_in(cores: int) -> Costs:
    """For a machine that nobody has measured: of one whose cores were busy (docs/sources.md#dilation)."""
    late = Wakeups(p50_ns=100_000, p99_ns=1_000_000, max_ns=5_000_000)
    return Costs(
        capacity_cores=cores,
        agent=ProcessCost(frame_ns=30_000, lone_frame_ns=90_000, fixed_share=0.10),
        message=MessageCost(agent_ns=150_000, runner_ns=100_000),
        switches={},
        telemetry_agent=1.4,
        telemetry_switch=1.2,
        runner_share=0.06,
        wakeups={"agent": late, "switch": late},
    )
