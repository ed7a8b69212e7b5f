# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The calibration that the first live run on a machine makes by itself: two short runs of the target that it uses.

The first run has frames that come alone; where these keep the machine busy, the run is made again, slower. Its cost
decides how fast the second run may be; its lateness is the least that a live run has here. What messages and telemetry
cost is not measured, but taken in the proportion to a frame that the built-in costs have.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timezone

from testbed.calibration.processor_time import busy_cores
from testbed.calibration.runs import (
    PACKET_NS,
    PROCESSES,
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
"""The load that the second run may make."""
_MOST_LONE_LOAD = 0.3
"""The load of the first run above which it is made again, slower."""
_SLOWEST = 1_000_000
_FEWEST_PACKETS = 40


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
    pace = _LONE
    lone = measured_run(switch, _SCHEME, pace, interrupt)
    load = _load(lone, capacity_cores)
    if load > _MOST_LONE_LOAD:  # frames wait for each other, which is not the lateness that is to be measured
        slower = min(_SLOWEST, round(pace.dilation * load / _MOST_LONE_LOAD * 2))
        pace = Pace(slower, max(_FEWEST_PACKETS, pace.packets * pace.dilation // slower))
        lone = measured_run(switch, _SCHEME, pace, interrupt)
        load = _load(lone, capacity_cores)
    dilation = round(pace.dilation * load / _LONE_OVER_MANY / _LOAD)
    dilation = min(pace.dilation // 2, max(_FASTEST[switch], dilation))
    packets = round(_MANY_SECONDS * 1e9 / (PACKET_NS * dilation))
    return lone, measured_run(switch, _SCHEME, Pace(dilation, max(_FEWEST_PACKETS, packets)), interrupt)


def _load(run: Measurement, capacity_cores: float) -> float:
    """Return the load of the machine or of the busiest process, whichever is greater; 1 is all that it can do."""
    machine_share = (2 * run.agent.share + (PROCESSES - 2) * run.switch.share) / capacity_cores
    return max(run.agent.share, run.switch.share, machine_share)
