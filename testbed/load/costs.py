# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The costs of a live run on this machine: processor time as a function of the frame rate, and late wake-ups.

A process that serves r frames per second uses `fixed_share + frame_ns * r` of a core, at most `lone_frame_ns * r`. The
fixed part is the cost of waking up. An isolated frame wakes a process several times. Frames that come together wake it
less often per frame: softswitch lets them gather, and agents find more than one per turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProcessCost:
    """The cost of one process, in wall ns and shares of a core."""

    frame_ns: float
    """The cost of a frame among many."""
    lone_frame_ns: float
    """The cost of an isolated frame."""
    fixed_share: float
    """The additional share of a core while frames come continuously."""

    def times(self, factor: float) -> ProcessCost:
        """Return the cost where each frame takes `factor` times as long."""
        return ProcessCost(self.frame_ns * factor, self.lone_frame_ns * factor, self.fixed_share)


@dataclass(frozen=True, slots=True)
class Wakeups:
    """The lateness of wake-ups, in wall ns."""

    p50_ns: float
    p99_ns: float
    max_ns: float


@dataclass(frozen=True, slots=True)
class MessageCost:
    """The cost of a message besides its frames, in wall ns."""

    agent_ns: float
    """The cost for an agent per end of the message: its queue pair, its timers, its records."""
    runner_ns: float
    """The cost for the runner, which takes the message's records."""


@dataclass(frozen=True)
class Costs:
    """The figures of a machine that a prediction needs."""

    capacity_cores: float
    """The processor time that processes get in total, in cores; it is less than the number of cores under a quota."""
    agent: ProcessCost
    """The cost of an agent. A frame here is an end of a data packet, sent or received, with its acknowledgment."""
    message: MessageCost
    switches: Mapping[str, ProcessCost]
    """The cost of a switch process per forwarded frame, by target; only measured targets."""
    telemetry_agent: float
    """The factor on the cost of a data packet for an agent if switches write telemetry into the packet."""
    telemetry_switch: float
    runner_share: float
    """The share of a core that the runner uses."""
    wakeups: Mapping[str, Wakeups]
    """The wake-ups of agents and switches, which the kernel schedules differently."""
    measured: str | None = None
    """The day and kind of the measurement; None for the built-in figures, which are deliberately high."""

    @property
    def latest_wakeup_ns(self) -> float:
        """The P99 lateness of wake-ups of agents or switches, whichever is later."""
        return max((wakeups.p99_ns for wakeups in self.wakeups.values()), default=0.0)


def built_in(cores: int) -> Costs:
    """Return costs for a machine without a calibration, measured on one with busy cores (docs/sources.md#dilation)."""
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
