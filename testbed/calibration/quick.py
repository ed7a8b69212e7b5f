# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The calibration that the first live run on a machine makes by itself: two short runs of the target that it uses.

The first run has frames that come alone, and is slow enough for a machine that is fifty times slower than a laptop of
2024. Its cost decides how fast the second run may be; its lateness is the least that a live run has here. What messages
and telemetry cost is not measured, but taken in the proportion to a frame that the built-in costs have.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timezone

from testbed.calibration.processor_time import busy_cores
from testbed.calibration.runs import (
    PACKET_NS,
    PROCESSES,
    Load,
    Measurement,
    Pace,
    measured_capacity,
    measured_run,
    process_finding,
)
from testbed.interrupt import Interrupt
from testbed.load.costs import built_in
from testbed.load.machine import this_machine
from testbed.load.stored import Calibration, MessageFinding, costly_code

_WATCH_SECONDS = 0.5
_SCHEME = "irn"
_LONE = Pace(100_000, 120)
_MANY_SECONDS = 0.8
_FASTEST = {"soft": 1_500, "bmv2": 20_000}
_LONE_OVER_MANY = 4
"""The usual cost of a frame that comes alone over that of a frame among many; chooses the second dilation only."""
_LOAD = 0.6
"""The share of the machine that the second run may use."""


def quick_calibration(switch: str, interrupt: Interrupt, earlier: Calibration | None = None) -> Calibration:
    """Measure a target, in a few seconds. RunError if a run broke; KeyboardInterrupt when it is interrupted.

    `earlier` is a calibration of this machine without this target; the result has its other figures.
    """
    if earlier is not None:
        lone, many = _two_runs(switch, earlier.capacity_cores, interrupt)
        finding = process_finding([lone.switch], [many.switch])
        return earlier.model_copy(update={"switches": {**earlier.switches, switch: finding}})
    load_before = busy_cores(_WATCH_SECONDS)
    capacity_cores = measured_capacity()
    lone, many = _two_runs(switch, capacity_cores, interrupt)
    agent = process_finding([lone.agent], [many.agent])
    usual = built_in(this_machine().cores)
    return Calibration(
        **asdict(this_machine()),
        measured=datetime.now(tz=timezone.utc).replace(microsecond=0),
        is_quick=True,
        code=costly_code(),
        load_before=round(load_before, 3),
        capacity_cores=capacity_cores,
        agent=agent,
        message=MessageFinding(
            agent_ns=agent.frame_ns * usual.message.agent_ns / usual.agent.frame_ns,
            runner_ns=agent.frame_ns * usual.message.runner_ns / usual.agent.frame_ns,
        ),
        switches={switch: process_finding([lone.switch], [many.switch])},
        telemetry_agent=usual.telemetry_agent,
        telemetry_switch=usual.telemetry_switch,
        runner_share=lone.runner_share,
        wakeups=lone.lateness,
    )


def _two_runs(switch: str, capacity_cores: float, interrupt: Interrupt) -> tuple[Measurement, Measurement]:
    """Return the run whose frames come alone, and the run whose frames come together."""
    lone = measured_run(switch, _SCHEME, _LONE, interrupt)
    dilation = _dilation_of_many(lone.agent, lone.switch, capacity_cores, _FASTEST[switch])
    packets = round(_MANY_SECONDS * 1e9 / (PACKET_NS * dilation))
    return lone, measured_run(switch, _SCHEME, Pace(dilation, max(_LONE.packets, packets)), interrupt)


def _dilation_of_many(agent: Load, switch: Load, capacity_cores: float, fastest: int) -> int:
    """Return the dilation at which frames that come together keep the machine, and each process, busy for `_LOAD`."""
    machine_share = (2 * agent.share + (PROCESSES - 2) * switch.share) / capacity_cores
    share = max(agent.share, switch.share, machine_share) / _LONE_OVER_MANY
    return min(_LONE.dilation // 2, max(fastest, round(_LONE.dilation * share / _LOAD)))
