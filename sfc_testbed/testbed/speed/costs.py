# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The costs of a live run on this machine: processor time as a function of the frame rate, and late wake-ups.

A process that serves r frames per second uses `fixed_share + frame_ns * r` of a core, at most `lone_frame_ns * r`. The
fixed part is the cost of waking up. An isolated frame wakes a process several times. Frames that come together wake it
less often per frame: softswitch lets them gather, and agents find more than one per turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from sfc_testbed.request.checks import StrictModel

_WallNs = Annotated[float, Field(ge=0, le=1e9)]
_Factor = Annotated[float, Field(gt=0, le=100)]
_CoreShare = Annotated[float, Field(ge=0, le=100)]


LEAST_WAKEUP_NS = 400_000
"""The least lateness of wake-ups to expect, since the few wake-ups of a calibration miss rare pauses of the machine."""


class ProcessCost(StrictModel):
    """The cost of one process, in wall ns and shares of a core."""

    frame_ns: Annotated[float, Field(gt=0, le=1e9)]
    """The cost of a frame among many."""
    lone_frame_ns: Annotated[float, Field(gt=0, le=1e9)]
    """The cost of an isolated frame."""
    fixed_share: _CoreShare
    """The additional share of a core while frames come continuously."""
    spread: Annotated[float, Field(ge=0)] = 0.0
    """The range of the repetitions of the measurement, as a share of the median."""

    def times(self, factor: float) -> ProcessCost:
        """Return the cost where each frame takes `factor` times as long."""
        return self.model_copy(
            update={"frame_ns": self.frame_ns * factor, "lone_frame_ns": self.lone_frame_ns * factor}
        )


SWITCH_COSTS: Mapping[str, ProcessCost] = {
    "soft": ProcessCost(frame_ns=12_000, lone_frame_ns=60_000, fixed_share=0.12),
    "bmv2": ProcessCost(frame_ns=160_000, lone_frame_ns=400_000, fixed_share=0.05),
}
"""Costs by target on a machine without a calibration, rather high (docs/sources.md#dilation). A target that is not here
counts as BMv2, the slowest one."""


class Wakeups(StrictModel):
    """The lateness of wake-ups, in wall ns."""

    p50_ns: _WallNs
    p99_ns: _WallNs
    max_ns: Annotated[float, Field(ge=0, le=1e12)]


class MessageCost(StrictModel):
    """The cost of a message besides its frames, in wall ns."""

    agent_ns: _WallNs
    """The cost for an agent per end of the message: its queue pair, its timers, its records."""
    runner_ns: _WallNs
    """The cost for the runner, which takes the message's records."""


class Costs(StrictModel):
    """The figures of a machine that a prediction needs."""

    capacity_cores: Annotated[float, Field(gt=0, le=100_000)]
    """The processor time that processes get in total, in cores; it is less than the number of cores under a quota."""
    agent: ProcessCost
    """The cost of an agent. A frame here is an end of a data packet, sent or received, with its acknowledgment."""
    message: MessageCost
    switches: Mapping[str, ProcessCost]
    """The cost of a switch process per forwarded frame, by target; only measured targets."""
    telemetry_agent: _Factor
    """The factor on the cost of a data packet for an agent if switches write telemetry into the packet."""
    telemetry_switch: _Factor
    runner_share: _CoreShare
    """The share of a core that the runner uses."""
    wakeups: Mapping[str, Wakeups]
    """The wake-ups of agents and switches, which the kernel schedules differently."""

    @property
    def origin(self) -> str | None:
        """The day and kind of the measurement; None for the built-in figures, which are deliberately high."""
        return None

    def switch(self, target: str) -> ProcessCost:
        """Return the measured cost of a target's switch process, or else the built-in one."""
        return self.switches.get(target) or SWITCH_COSTS.get(target, SWITCH_COSTS["bmv2"])

    @property
    def latest_wakeup_ns(self) -> float:
        """The P99 lateness of wake-ups of agents or switches, whichever is later, and at least LEAST_WAKEUP_NS."""
        return max([LEAST_WAKEUP_NS, *(wakeups.p99_ns for wakeups in self.wakeups.values())])


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
